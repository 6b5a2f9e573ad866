"""The picture of the rooms in channel/README.md is what the imports say: it has every room, and the right arrows."""

from __future__ import annotations

import re

from tests.readme.text import CHANNEL, ROOT, sections
from tests.structure.imports import read_imports, source_files

Arrow = tuple[str, str]

_INSIDE = ROOT / "channel" / "forcemove"
_CORE = {"protocol"}
NOT_ROOMS = {"testing", "__pycache__"}
"""The kit for tests is not drawn: games' authors use it, and nothing here does."""


def room_of(module: str) -> str | None:
    """The box of the picture that a module is in."""
    first, _, rest = module.partition(".")
    if first == "forcemove_games":
        return "games"
    second = rest.partition(".")[0]
    if first != "forcemove" or not second or second in {*NOT_ROOMS, "__main__"}:
        return None
    return second if (_INSIDE / second).is_dir() and second not in _CORE else "core"


def imported() -> set[Arrow]:
    """Which room imports from which other."""
    imports = read_imports(source_files())
    pairs = {(room_of(module), room_of(name)) for module, names in imports.items() for name in names}
    return {(here, there) for here, there in pairs if here and there and here != there}


def reachable(arrows: set[Arrow], start: str) -> set[str]:
    found = {there for here, there in arrows if here == start}
    return found | {further for room in found for further in reachable(arrows, room)}


def needed(arrows: set[Arrow]) -> set[Arrow]:
    """Without those that say no more than a longer way does."""
    return {(here, there) for here, there in arrows if there not in further(arrows, here, there)}


def further(arrows: set[Arrow], here: str, there: str) -> set[str]:
    """What can be reached by the other arrows that begin in a room."""
    others = {room for start, room in arrows if start == here and room != there}
    return {each for room in others for each in reachable(arrows, room)}


def drawn() -> set[Arrow]:
    """The picture's arrows, but for the dotted one."""
    (picture,) = (block for each in sections(CHANNEL) if each.heading == "Rooms" for block in each.blocks("mermaid"))
    return set(re.findall(r"^ +(\w+)(?:\[.*?\])? --> (\w+)", picture, re.MULTILINE))


def test_the_arrows_are_those_of_the_import_statements() -> None:
    assert drawn() == needed(imported())


def test_every_room_is_drawn() -> None:
    rooms = {folder.name for folder in _INSIDE.iterdir() if folder.is_dir()} - NOT_ROOMS - _CORE
    assert {room for arrow in drawn() for room in arrow} == rooms | {"games", "core"}
