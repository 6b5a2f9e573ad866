"""Writes the repository of a new game: the template, which is a whole game, with the new game's names in it.

The template's contract is compiled already. A contract's name is not part of its code, so the new game begins with the
same code, and the artifact is written again around it. `forcemove compile` gives the same file.
"""

from __future__ import annotations

import json
import keyword
import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from tempfile import TemporaryDirectory

from forcemove.artifact import json_file_text
from forcemove.contracts.compiler import project_files, source_hash, standard_json
from forcemove.errors import InvalidValue, LocalError
from forcemove.protocol.types import MAX_PARTICIPANTS, MIN_PARTICIPANTS

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_LONGEST = 40
_TAKEN = frozenset({"forcemove", "tests", "test", "site", "pip"}) | sys.stdlib_module_names
_HIDDEN = {"gitignore": ".gitignore"}
"""Files that in the template must not do what they do in a repository."""
_TWO_SEATS = "seats: Sequence[int] = (2,)"


class FolderInUse(LocalError):
    """There is something at the path already."""

    path: str


@dataclass(frozen=True, slots=True)
class GameNames:
    """What a game is called: `name` in commands (`take-five`), `package` in Python (`take_five`), `contract` in
    Solidity (`TakeFive`), `title` for people (`Take five`)."""

    name: str
    package: str
    contract: str
    title: str


_TEMPLATE = GameNames("heap-game", "heap_game", "HeapGame", "Heap game")


def names_of(name: str) -> GameNames:
    """All names of a game, from the one in commands. Raises `InvalidValue`."""
    if _NAME.fullmatch(name) is None or len(name) > _LONGEST:
        raise InvalidValue("the game's name", name, f"lower-case words and hyphens, at most {_LONGEST} characters")
    words = name.split("-")
    package = "_".join(words)
    if package in _TAKEN or keyword.iskeyword(package):
        raise InvalidValue("the game's name", name, "a name that no package of Python has")
    return GameNames(name, package, "".join(map(str.capitalize, words)), " ".join(words).capitalize())


def write_game(name: str, parent: Path, seats: int = 2) -> Path:
    """Write the repository of a game for this many participants (2 to 8) to the folder `parent / name`, wholly or not
    at all, and return that. Raises `InvalidValue`, `FolderInUse`, and what writing raises."""
    if not MIN_PARTICIPANTS <= seats <= MAX_PARTICIPANTS:
        raise InvalidValue("seats", seats, f"{MIN_PARTICIPANTS} to {MAX_PARTICIPANTS}")
    names, target = names_of(name), parent / name
    if target.exists():
        raise FolderInUse(str(target))
    with TemporaryDirectory(dir=parent, prefix=f".{name}-") as place:
        built = Path(place, name)
        for path, text in _files(names, seats):
            (built / path).parent.mkdir(parents=True, exist_ok=True)
            (built / path).write_text(text, "utf-8")
        _write_artifact(built, names)
        shutil.move(built, target)
    return target


def _files(names: GameNames, seats: int) -> Iterator[tuple[str, str]]:
    with as_file(files(__package__) / "template") as template:
        for path in sorted(template.rglob("*")):
            if path.is_file() and path.suffix != ".pyc":
                place = path.relative_to(template)
                renamed = _renamed(str(place.with_name(_HIDDEN.get(place.name, place.name))), names)
                text = _renamed(path.read_text("utf-8"), names)
                yield renamed, text.replace(_TWO_SEATS, _TWO_SEATS.replace("2", str(seats)))


def _renamed(text: str, names: GameNames) -> str:
    for old, new in _renamings(names).items():
        text = text.replace(old, new)
    return text


def _renamings(names: GameNames) -> Mapping[str, str]:
    return {
        _TEMPLATE.name: names.name,
        _TEMPLATE.package: names.package,
        _TEMPLATE.contract: names.contract,
        _TEMPLATE.title: names.title,
    }


def _write_artifact(folder: Path, names: GameNames) -> None:
    path = folder / names.package / f"{names.contract}.json"
    source = f"{names.package}/{names.contract}.sol"
    standard_input = standard_json([source], project_files(folder))
    artifact = json.loads(path.read_text("utf-8"))
    artifact |= {"sourceName": source, "sourceHash": source_hash(standard_input), "standardJson": standard_input}
    path.write_text(json_file_text(artifact), "utf-8")
