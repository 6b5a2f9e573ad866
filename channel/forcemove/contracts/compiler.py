"""Compiles Solidity through py-solc-x. Knows no contract in particular.

A source is named by its path in a compiler's input. `find` says which file that is: `project_files` for a game's own
folder, in which `forcemove/contracts/...` are the interfaces that come with this package.

The compiler is npm's `solc`, where the project or one of the folders above it has installed it, behind the wrapper
`solc.mjs`; elsewhere py-solc-x's own installation of the same version serves.
"""

from __future__ import annotations

import hashlib
import json
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from forcemove.contracts.place import CONTRACTS
from forcemove.errors import LocalError
from forcemove.protocol.hashing import keccak256

SOLC_VERSION = "0.8.37"

SETTINGS: dict[str, Any] = {
    "evmVersion": "cancun",
    "optimizer": {"enabled": True, "runs": 200},
    "viaIR": True,
    "metadata": {"bytecodeHash": "none"},
}
"""No hash of the metadata, which a comment would change: the code, and with it the address, follows from what the
contract does."""

_OUTPUTS = ["abi", "evm.bytecode.object", "evm.deployedBytecode.object", "evm.deployedBytecode.immutableReferences"]
_IMPORT = re.compile(r'^import\s+(?:[^"]*\s+from\s+)?"([^"]+)";', re.MULTILINE)
_SHIPPED = "forcemove/contracts/"
_PLACE = "FORCEMOVE_SOLC_PLACE"


class CompilerMissing(LocalError):
    """There is no Solidity compiler of this version, and none could be installed."""

    version: str
    reason: str


class SourceMissing(LocalError):
    """There is no source of this name; `importer` imports it, empty where it was asked for by itself."""

    name: str
    importer: str


class SourceRefused(LocalError):
    """The compiler refuses the sources, with its own messages."""

    messages: str


Find = Callable[[str], Path]
"""The file of a source. That it may be missing is found out when it is read."""

# -------------------------------------------------------------------------------------------------------------- input


def project_files(folder: Path) -> Find:
    """The sources of a project: its own are named by their path from `folder`, those of this package begin with
    `forcemove/contracts/`, and all others are looked for in `node_modules` there and above."""
    above = (folder.resolve(), *folder.resolve().parents)

    def find(name: str) -> Path:
        if name.startswith(_SHIPPED):
            return CONTRACTS / name.removeprefix(_SHIPPED)
        own = folder / name
        packaged = (place / "node_modules" / name for place in above)
        return own if own.is_file() else next((path for path in packaged if path.is_file()), own)

    return find


def standard_json(names: Iterable[str], find: Find, *, wanted: Iterable[str] = ("*",)) -> dict[str, Any]:
    """The compiler's standard JSON input for sources and everything that they import. `wanted`: the sources whose code
    is asked for, all unless given: what is asked for costs time. Raises `SourceMissing`."""
    found: dict[str, str] = {}
    waiting = [(name, "") for name in names]
    while waiting:
        name, importer = waiting.pop()
        if name not in found:
            found[name] = _read(name, importer, find)
            waiting += [(_resolve(name, target), name) for target in _IMPORT.findall(found[name])]
    return {
        "language": "Solidity",
        "sources": {name: {"content": found[name]} for name in sorted(found)},
        "settings": SETTINGS | {"outputSelection": {name: {"*": _OUTPUTS} for name in wanted}},
    }


def _read(name: str, importer: str, find: Find) -> str:
    try:
        return find(name).read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        raise SourceMissing(name, importer) from None


def _resolve(importer: str, target: str) -> str:
    """The name that an import means. Raises `SourceMissing` where it leads out of the project."""
    if not target.startswith("."):
        return target
    parts = importer.split("/")[:-1]
    for part in target.split("/"):
        if part == ".." and not parts:
            raise SourceMissing(target, importer)
        if part == "..":
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


def source_hash(standard_input: Mapping[str, Any]) -> str:
    """SHA-256 over sources and settings, as hex: what an artifact was made of."""
    text = json.dumps(standard_input, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


# ------------------------------------------------------------------------------------------------------------ compiler


@dataclass(frozen=True, slots=True)
class Compiled:
    """`contracts`: the compiler's output of each, by source and name. `warnings`: its messages, by source."""

    contracts: Mapping[str, Mapping[str, Any]]
    warnings: tuple[tuple[str, str], ...]


def compile_standard_json(standard_input: Mapping[str, Any], folder: Path) -> Compiled:
    """Compile an input. `folder`: where a compiler is looked for, and above. Raises `CompilerMissing`,
    `SourceRefused`."""
    import solcx
    from solcx.exceptions import SolcError

    try:
        with _compiler(folder) as choice:
            output: dict[str, Any] = solcx.compile_standard(dict(standard_input), **choice)
    except SolcError as error:
        raise SourceRefused(_said(error)) from None
    warnings = (
        (each.get("sourceLocation", {}).get("file", ""), each["formattedMessage"].strip())
        for each in output.get("errors", ())
    )
    return Compiled(output["contracts"], tuple(warnings))


def _said(error: Any) -> str:
    """The compiler's JSON: py-solc-x puts it into a text of its own."""
    try:
        said = json.loads(error.stdout_data)["errors"]
        return "\n".join(each["formattedMessage"].strip() for each in said)
    except (AttributeError, TypeError, ValueError, KeyError):
        return str(getattr(error, "message", error)).strip()


@contextmanager
def _compiler(folder: Path) -> Iterator[dict[str, Any]]:
    """The arguments that tell py-solc-x which compiler to run."""
    package = _npm_compiler(folder)
    if package is None:
        yield {"solc_version": _installed()}
        return
    with TemporaryDirectory() as place:
        program = Path(place, "solc")
        program.write_text(_program(package), "utf-8")
        program.chmod(0o700)  # what an installer makes of a script's permissions is not to be relied on
        yield {"solc_binary": program}


def _npm_compiler(folder: Path) -> Path | None:
    """The folder from which npm's `solc` of the right version is found: above ours, or this package's own."""
    if shutil.which("node") is None:
        return None
    return next((place for place in (folder.resolve(), *folder.resolve().parents, CONTRACTS) if _has_solc(place)), None)


def _has_solc(place: Path) -> bool:
    try:
        described = json.loads((place / "node_modules" / "solc" / "package.json").read_text("utf-8"))
    except (OSError, ValueError):
        return False
    return bool(described.get("version") == SOLC_VERSION)


def _program(package: Path) -> str:
    """A command of its own for py-solc-x, which wants one file to run."""
    place, wrapper = shlex.quote(str(package)), shlex.quote(str(CONTRACTS / "solc.mjs"))
    return f'#!/bin/sh\n{_PLACE}={place} exec node {wrapper} "$@"\n'


def _installed() -> str:
    import requests
    import solcx
    from solcx.exceptions import SolcInstallationError

    advice = f"npm's serves as well: npm install solc@{SOLC_VERSION}"
    try:
        solcx.install_solc(SOLC_VERSION)
    except (requests.RequestException, SolcInstallationError, OSError, subprocess.SubprocessError) as error:
        raise CompilerMissing(SOLC_VERSION, f"it could not be fetched ({type(error).__name__}); {advice}") from None
    return SOLC_VERSION


# ----------------------------------------------------------------------------------------------------------- artifacts


def artifact_json(
    name: str, source: str, standard_input: Mapping[str, Any], output: Mapping[str, Any]
) -> dict[str, Any]:
    """The content of a contract's artifact file: see `forcemove.artifact`. `output`: the compiler's, of this
    contract."""
    creation, runtime = output["evm"]["bytecode"]["object"], output["evm"]["deployedBytecode"]
    return {
        "contractName": name,
        "sourceName": source,
        "compiler": {"version": SOLC_VERSION, "settings": SETTINGS},
        "sourceHash": source_hash(standard_input),
        "abi": output["abi"],
        "bytecode": "0x" + creation,
        "creationCodeHash": "0x" + keccak256(bytes.fromhex(creation)).hex(),
        "runtimeBytecode": "0x" + runtime["object"],
        "immutableReferences": sorted(
            [reference["start"], reference["length"]]
            for references in runtime.get("immutableReferences", {}).values()
            for reference in references
        ),
        "standardJson": standard_input,
    }
