"""The contracts of a project: each `.sol` file with its artifact in the same folder, `NAME.json` for the contract
`NAME` in `NAME.sol`.

The names of sources begin at the folder of the project. Knows no contract in particular.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from forcemove.artifact import json_file_text
from forcemove.contracts.compiler import (
    artifact_json,
    compile_standard_json,
    project_files,
    source_hash,
    standard_json,
)
from forcemove.errors import LocalError


class NothingToCompile(LocalError):
    """There is no Solidity source in the folder."""

    folder: str


class NoSuchContract(LocalError):
    """The source has no contract of this name that could be deployed: it may be abstract."""

    source: str
    contract: str


_NOT_OURS = frozenset({"node_modules", "site-packages", "build", "dist"})


def project_sources(folder: Path) -> list[Path]:
    """The sources of a project, in order: every `.sol` file that is not in a hidden folder or of somebody else's."""
    return sorted(path for path in folder.rglob("*.sol") if not _is_elsewhere(path.relative_to(folder)))


def _is_elsewhere(path: Path) -> bool:
    return any(part in _NOT_OURS or part.startswith(".") for part in path.parts[:-1])


def stale_artifacts(folder: Path) -> list[Path]:
    """The artifacts that are missing, or were not made of the sources as they are now with this version's settings.
    Needs no compiler. Raises `NothingToCompile`, `SourceMissing`."""
    return [path for path, _, _ in _stale(folder)]


@dataclass(frozen=True, slots=True)
class Built:
    """An artifact that was written, and what the compiler warns about in the project's own sources."""

    path: Path
    warnings: tuple[str, ...]


def build_project(folder: Path) -> Iterator[Built]:
    """Compile each contract whose artifact is stale, one after the other, and write its artifact; what is yielded is
    written. Raises `NothingToCompile`, `NoSuchContract`, `SourceMissing`, `SourceRefused`, `CompilerMissing`."""
    for path, source, standard_input in list(_stale(folder)):
        compiled = compile_standard_json(standard_input, folder)
        output = compiled.contracts[source].get(path.stem)
        if output is None or not output["evm"]["bytecode"]["object"]:
            raise NoSuchContract(source, path.stem)
        path.write_text(json_file_text(artifact_json(path.stem, source, standard_input, output)), "utf-8")
        yield Built(path, tuple(said for file, said in compiled.warnings if (folder / file).is_file()))


def _stale(folder: Path) -> Iterator[tuple[Path, str, dict[str, Any]]]:
    """The path of each stale artifact, the name of its source, and the compiler's input."""
    find = project_files(folder)
    for path, source in _contracts(folder):
        standard_input = standard_json([source], find)
        if _hash_in(path) != source_hash(standard_input):
            yield path, source, standard_input


def _contracts(folder: Path) -> list[tuple[Path, str]]:
    """The path of each contract's artifact, and the name of its source."""
    sources = project_sources(folder)
    if not sources:
        raise NothingToCompile(str(folder))
    found = [(path.with_suffix(".json"), path.relative_to(folder).as_posix()) for path in sources]
    return [each for each in found if _declares(folder / each[1])]


def _declares(path: Path) -> bool:
    """Whether the file has a contract of its own name: libraries and interfaces are not deployed."""
    return re.search(rf"^contract\s+{re.escape(path.stem)}\b", path.read_text("utf-8"), re.MULTILINE) is not None


def _hash_in(path: Path) -> object:
    try:
        return json.loads(path.read_text("utf-8"))["sourceHash"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
