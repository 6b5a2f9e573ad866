"""Compiles the Solidity sources to the committed artifacts, through py-solc-x.

Each contract that is deployed is compiled by itself, from its own source and what that imports. The compiler's output
can depend on everything that it is given at once, and a contract's address follows from its creation code: a new game
could move the adjudicator. Its artifact contains the standard JSON input, for block explorers. The contracts of
demonstrations and tests are compiled together. Warnings about our own sources are refused, and a compiler with a known
bug that may touch them.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from forcemove.artifact import json_file_text
from forcemove.chain.addresses import show_address
from forcemove.chain.create2 import CUSTOMARY_FACTORY, SALT, create2_address
from forcemove.contracts import compiler, place

CONTRACTS = place.CONTRACTS
ARTIFACTS = CONTRACTS / "artifacts"
PINNED = CONTRACTS.parent / "tests" / "contracts" / "creation_codes.json"

_PRODUCT = ("games", ".")
_EXTRA = ("demo", "test", "testing")

KNOWN_BUGS = CONTRACTS / "known-bugs.jsonl"
"""The compiler's known bugs, one on a line: `uid`, `name`, and the versions in which it was `introduced` (null: the
first one) and `fixed`. See CONTRIBUTING.md for how it is renewed."""

REASONS = {
    "SOL-2026-7": "Only an address that was counted from a Yul variable in two steps can mislead the optimizer, and "
    "only once the variable is assigned anew. The Yul of our four contracts was searched for such addresses, as it is "
    "at each step that drops loads or stores (E and L). Those that there are belong to loops: either the address has "
    "no constant distance from the variable, a counter, or the variable is assigned anew only after the last load and "
    "store of a turn, at whose end the optimizer forgets what is in memory, or not at all after the address is there. "
    "Also, tests and proofs ask the bytecode itself: what was lost would show.",
}
"""By the uid of each bug that the pinned compiler has: why it does not touch our sources with our settings."""


def known_bugs(version: str) -> list[dict[str, str]]:
    """The bugs that a version of the compiler (`0.8.37`) has, with any settings."""
    listed = map(json.loads, KNOWN_BUGS.read_text("utf-8").splitlines())
    return [bug for bug in listed if _parts(bug["introduced"] or "0") <= _parts(version) < _parts(bug["fixed"])]


def _parts(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def require_known_compiler(version: str = compiler.SOLC_VERSION) -> None:
    """Refuse a compiler with a bug that is not among our reasons. Raises `SystemExit`."""
    unknown = [bug["name"] for bug in known_bugs(version) if bug["uid"] not in REASONS]
    if unknown:
        raise SystemExit(f"solc {version} has bugs that nobody has looked at: {', '.join(unknown)}")


def product_sources() -> list[Path]:
    """The sources of what is deployed, one contract each."""
    return sorted(path for folder in _PRODUCT for path in (CONTRACTS / folder).glob("*.sol"))


def extra_sources() -> list[Path]:
    """The sources of the contracts that only demonstrations and tests use."""
    return sorted(path for folder in _EXTRA for path in (CONTRACTS / folder).glob("*.sol"))


def standard_json(sources: Iterable[Path]) -> dict[str, Any]:
    """The compiler's standard JSON input for sources and everything that they import. For one contract, the code of all
    its sources is asked for, as explorers do. For many it is theirs alone: some import the adjudicator, which takes the
    compiler ten seconds."""
    names = list(map(_name_of, sources))
    return compiler.standard_json(names, _path_of, wanted=names if len(names) > 1 else ("*",))


def _name_of(path: Path) -> str:
    return f"contracts/{path.relative_to(CONTRACTS)}"


def _path_of(name: str) -> Path:
    if name.startswith("contracts/"):
        return CONTRACTS / name.removeprefix("contracts/")
    return CONTRACTS / "node_modules" / name


def build_artifacts(sources: list[Path]) -> dict[str, dict[str, Any]]:
    """The artifact of each deployable contract in `sources`, by name. What was compiled from one source contains the
    standard JSON input; the extra contracts, which nobody verifies, would only repeat each other's."""
    standard_input = standard_json(sources)
    compiled = compiler.compile_standard_json(standard_input, CONTRACTS)
    warnings = [said for file, said in compiled.warnings if file.startswith("contracts/")]
    if warnings:
        raise SystemExit("\n".join(warnings))
    artifacts = {}
    for source in map(_name_of, sources):
        for name, output in compiled.contracts.get(source, {}).items():
            if output["evm"]["bytecode"]["object"] and not _is_internal_library(output):
                artifacts[name] = compiler.artifact_json(name, source, standard_input, output)
                if len(sources) > 1:
                    del artifacts[name]["standardJson"]
    return artifacts


def _is_internal_library(output: Mapping[str, Any]) -> bool:
    """Whether a library is internal: it is inlined, and the compiler's output for it has no functions."""
    return not any(entry["type"] in ("function", "constructor", "fallback", "receive") for entry in output["abi"])


def build_files() -> dict[Path, str]:
    """Every generated file with its text. Raises `SystemExit` where the compiler is not to be trusted, or warns."""
    require_known_compiler()
    files = {}
    for source in product_sources():
        for name, artifact in build_artifacts([source]).items():
            files[ARTIFACTS / f"{name}.json"] = json_file_text(artifact)
    for name, artifact in build_artifacts(extra_sources()).items():
        folder = artifact["sourceName"].split("/")[1]
        if folder in _EXTRA:
            files[ARTIFACTS / folder / f"{name}.json"] = json_file_text(artifact)
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
        PINNED.write_text(json_file_text(pins()), "utf-8")
        print(f"wrote {PINNED.relative_to(CONTRACTS.parent)}")
    return 0


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/compile", description="Compile the contracts to their artifacts.")
    parser.add_argument("--check", action="store_true", help="write nothing; say what differs from the sources")
    parser.add_argument("--pin", action="store_true", help="also pin the creation codes anew: every address may move")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    raise SystemExit(main())
