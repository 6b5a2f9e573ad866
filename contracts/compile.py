"""Compiles the Solidity sources to the committed artifacts, through py-solc-x.

Each contract that is deployed is compiled by itself, from its own source and what that imports. The compiler's output
can depend on everything that it is given at once, and a contract's address follows from its creation code: a new game
could move the adjudicator. Its standard JSON input is kept for block explorers. The contracts of demonstrations and
tests are compiled together. The compiler is npm's `solc`, pinned in `contracts/package.json`, behind the wrapper
`contracts/solc.mjs`; where it is not installed, py-solc-x's own installation of the same version serves.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from forcemove.channel.chain.addresses import show_address
from forcemove.channel.chain.create2 import CUSTOMARY_FACTORY, SALT, create2_address
from forcemove.channel.protocol.hashing import keccak256

CONTRACTS = Path(__file__).resolve().parent
ARTIFACTS = CONTRACTS / "artifacts"
SOLC_VERSION = "0.8.37"
_OPTIMIZER_STEPS = (
    "dhfoDgvulfnTUtnIfi[xa[r]EscLMcCTUtTOntnfDIulLculVcul[j]Tpeulxa[rul]xa[r]cLgvifCTUca[r]LSsTFOtfDnca[r]Iulc]"
    "jmul[jul]VcTOculjmul:fDnTOcmu"
)
"""The compiler's own sequence with one step more: functions are inlined (`i`) before the loop, too, while they are
still small. That takes 20 to 700 gas off every operation."""

SETTINGS: dict[str, Any] = {
    "evmVersion": "cancun",
    "optimizer": {
        "enabled": True,
        "runs": 1_000_000,
        "details": {"yul": True, "yulDetails": {"stackAllocation": True, "optimizerSteps": _OPTIMIZER_STEPS}},
    },
    "viaIR": True,
    "metadata": {"bytecodeHash": "none"},
}
"""No hash of the metadata, which a comment would change: the code, and with it the address, follows from what the
contract does."""
STANDARD_JSON = ARTIFACTS / "standard-json"
PINNED = CONTRACTS.parent / "tests" / "contracts" / "creation_codes.json"

_PRODUCT = ("games", ".")
_EXTRA = ("demo", "test", "testing")
_IMPORT = re.compile(r'^import\s+(?:[^"]*\s+from\s+)?"([^"]+)";', re.MULTILINE)


def product_sources() -> list[Path]:
    """The sources of what is deployed, one contract each."""
    return sorted(path for folder in _PRODUCT for path in (CONTRACTS / folder).glob("*.sol"))


def extra_sources() -> list[Path]:
    """The sources of the contracts that only demonstrations and tests use."""
    return sorted(path for folder in _EXTRA for path in (CONTRACTS / folder).glob("*.sol"))


def standard_json(sources: Iterable[Path]) -> dict[str, Any]:
    """The compiler's standard JSON input for sources and everything that they import."""
    found: dict[str, str] = {}
    waiting = [f"contracts/{path.relative_to(CONTRACTS)}" for path in sources]
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found[name] = _path_of(name).read_text("utf-8")
        waiting += [_resolve(name, target) for target in _IMPORT.findall(found[name])]
    return {
        "language": "Solidity",
        "sources": {name: {"content": found[name]} for name in sorted(found)},
        "settings": SETTINGS | {"outputSelection": {"*": {"*": _OUTPUTS}}},
    }


_OUTPUTS = ["abi", "evm.bytecode.object", "evm.deployedBytecode.object", "evm.deployedBytecode.immutableReferences"]


def _path_of(name: str) -> Path:
    if name.startswith("contracts/"):
        return CONTRACTS / name.removeprefix("contracts/")
    return CONTRACTS / "node_modules" / name


def _resolve(importer: str, target: str) -> str:
    if not target.startswith("."):
        return target
    parts = importer.split("/")[:-1]
    for part in target.split("/"):
        if part == "..":
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


def source_hash(standard_input: dict[str, Any]) -> str:
    """SHA-256 over sources and settings, as hex: what an artifact was made of."""
    text = json.dumps(standard_input, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def compile_sources(standard_input: dict[str, Any]) -> dict[str, Any]:
    """Compile. Raises `solcx.exceptions.SolcError` with its messages; refuses warnings about our own sources."""
    import solcx

    wrapper = CONTRACTS / "solc.mjs"
    if (CONTRACTS / "node_modules" / "solc").is_dir():
        output = solcx.compile_standard(standard_input, solc_binary=wrapper)
    else:
        solcx.install_solc(SOLC_VERSION)
        output = solcx.compile_standard(standard_input, solc_version=SOLC_VERSION)
    warnings = [
        error["formattedMessage"]
        for error in output.get("errors", ())
        if error.get("sourceLocation", {}).get("file", "").startswith("contracts/")
    ]
    if warnings:
        raise SystemExit("\n".join(warnings))
    return dict(output)


def build_artifacts(sources: list[Path]) -> dict[str, dict[str, Any]]:
    """The artifact of each deployable contract in `sources`, by name."""
    standard_input = standard_json(sources)
    digest = source_hash(standard_input)
    contracts = compile_sources(standard_input)["contracts"]
    artifacts = {}
    for path in sources:
        source = f"contracts/{path.relative_to(CONTRACTS)}"
        for name, output in contracts.get(source, {}).items():
            bytecode = output["evm"]["bytecode"]["object"]
            if bytecode and not _is_internal_library(output):
                artifacts[name] = _artifact(name, source, digest, output)
    return artifacts


def _is_internal_library(output: dict[str, Any]) -> bool:
    """Internal libraries are inlined: what the compiler emits for them has no functions."""
    return not any(entry["type"] in ("function", "constructor", "fallback", "receive") for entry in output["abi"])


def _artifact(name: str, source: str, digest: str, output: dict[str, Any]) -> dict[str, Any]:
    creation, runtime = output["evm"]["bytecode"]["object"], output["evm"]["deployedBytecode"]
    return {
        "contractName": name,
        "sourceName": source,
        "compiler": {"version": SOLC_VERSION, "settings": SETTINGS},
        "sourceHash": digest,
        "abi": output["abi"],
        "bytecode": "0x" + creation,
        "creationCodeHash": "0x" + keccak256(bytes.fromhex(creation)).hex(),
        "runtimeBytecode": "0x" + runtime["object"],
        "immutableReferences": sorted(
            (reference["start"], reference["length"])
            for references in runtime.get("immutableReferences", {}).values()
            for reference in references
        ),
    }


def _text(value: Any) -> str:
    return json.dumps(value, indent=1, sort_keys=True) + "\n"


def build_files() -> dict[Path, str]:
    """Every generated file with its text."""
    files = {}
    for source in product_sources():
        for name, artifact in build_artifacts([source]).items():
            files[ARTIFACTS / f"{name}.json"] = _text(artifact)
            files[STANDARD_JSON / f"{name}.json"] = _text(standard_json([source]))
    for name, artifact in build_artifacts(extra_sources()).items():
        folder = artifact["sourceName"].split("/")[1]
        if folder in _EXTRA:
            files[ARTIFACTS / folder / f"{name}.json"] = _text(artifact)
    return files


def pins() -> dict[str, dict[str, str]]:
    """What the committed artifacts of the product come to on chains: by the contract's name, the Keccak-256 of its
    creation code, and its address on every chain that has the customary factory."""
    found = {}
    for path in sorted(ARTIFACTS.glob("*.json")):
        code_hash = json.loads(path.read_text("utf-8"))["creationCodeHash"]
        address = create2_address(CUSTOMARY_FACTORY, SALT, bytes.fromhex(code_hash.removeprefix("0x")))
        found[path.stem] = {"creationCodeHash": code_hash, "address": show_address(address)}
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the artifacts; with `--check`, only say which differ from the sources (exit status 1)."""
    options = _parse(arguments)
    files = build_files()
    existing = set(ARTIFACTS.rglob("*.json"))
    stale = [path for path, text in files.items() if not path.exists() or path.read_text("utf-8") != text]
    stale += sorted(existing - set(files))
    if options.check:
        for path in stale:
            print(f"{path.relative_to(CONTRACTS)} differs from the sources; run scripts/compile")
        return 1 if stale else 0
    for path in existing - set(files):
        path.unlink()
    for path in stale:
        if path in files:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(files[path], "utf-8")
            print(f"wrote {path.relative_to(CONTRACTS)}")
    if options.pin:
        PINNED.write_text(_text(pins()), "utf-8")
        print(f"wrote {PINNED.relative_to(CONTRACTS.parent)}")
    return 0


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/compile", description="Compile the contracts to their artifacts.")
    parser.add_argument("--check", action="store_true", help="write nothing; say what differs from the sources")
    parser.add_argument("--pin", action="store_true", help="also pin the creation codes anew: every address may move")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    raise SystemExit(main())
