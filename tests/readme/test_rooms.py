"""The picture and the table of the rooms in channel/README.md are what the imports say: every room is there, with the
right arrows in the picture, and with what it imports in the table."""

from __future__ import annotations

import re

from tests.readme.text import CHANNEL, ROOT, sections
from tests.structure.imports import read_imports, source_files

Arrow = tuple[str, str]

_INSIDE = ROOT / "channel" / "forcemove"
_CORE = {"protocol"}
NO_ROOM = {"__pycache__", "__main__"}
NOT_DRAWN = {"testing"}
"""The kit for tests is not drawn: games' authors use it, and nothing here does."""


def room_of(module: str) -> str | None:
    """The room that a module is in."""
    first, _, rest = module.partition(".")
    if first == "forcemove_games":
        return "games"
    second = rest.partition(".")[0]
    if first != "forcemove" or not second or second in NO_ROOM:
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


def rooms() -> set[str]:
    return {folder.name for folder in _INSIDE.iterdir() if folder.is_dir()} - NO_ROOM - _CORE | {"games", "core"}


def tabled() -> dict[str, set[str]]:
    """What each room imports, as the table says."""
    (text,) = (each.text for each in sections(CHANNEL) if each.heading == "Rooms")
    rows = re.findall(r"^\| (\w+) \|.*\| ([\w, ]+) \|$", text, re.MULTILINE)
    named = {room: there for room, there in rows if room != "room"}
    return {room: set() if there == "nothing of ours" else set(there.split(", ")) for room, there in named.items()}


def test_the_arrows_are_those_of_the_import_statements() -> None:
    assert drawn() == needed({arrow for arrow in imported() if NOT_DRAWN.isdisjoint(arrow)})


def test_every_room_is_drawn() -> None:
    assert {room for arrow in drawn() for room in arrow} == rooms() - NOT_DRAWN


def test_the_table_says_what_each_room_imports() -> None:
    arrows = imported()
    assert tabled() == {room: {there for here, there in arrows if here == room} for room in rooms()}
