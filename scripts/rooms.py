"""The picture and the table of the rooms: what each does, as the first sentence of its `__init__.py` says, and which
others it imports.

`scripts/diagrams.py` puts them into `channel/README.md`. `core` is `forcemove.protocol` with the modules that are in no
folder, and `games` is `forcemove_games`. The order is that of `tests/structure/order.py`.
"""

from __future__ import annotations

import ast
from collections.abc import Set
from functools import cache

from scripts.reference import first_sentence
from tests.structure.imports import ROOTS, Imports, read_imports, source_files
from tests.structure.order import ROOMS

Arrow = tuple[str, str]

NOT_DRAWN = "testing"
"""The kit for tests is not drawn: games' authors use it, and nothing here does."""
DOTTED = 'cli -. "finds by entry point" .-> games'
NO_ROOMS = frozenset({"forcemove", "forcemove.__main__"})
"""The package itself, which loads nothing, and what begins its command."""


def rooms() -> list[str]:
    """The rooms as they are, lowest first."""
    return [*filter(None, dict.fromkeys(map(room_shown, ROOMS)))]


@cache
def _arrows_here() -> frozenset[Arrow]:
    """Those of this tree: all its sources are read once for picture and table."""
    return frozenset(arrows(read_imports(source_files())))


def rooms_picture() -> str:
    """The rooms as they are, with arrows to what each uses."""
    return picture(rooms(), _arrows_here())


def rooms_table() -> str:
    """The rooms as they are, with what each does and imports."""
    return table({room: sentence(room) for room in rooms()}, _arrows_here())


def picture(order: list[str], found: Set[Arrow]) -> str:
    """A diagram of the rooms, the highest first, without the arrows that say no more than a longer way does."""
    drawn = needed({arrow for arrow in found if NOT_DRAWN not in arrow})
    lines = [f"{here} --> {there}" for here in reversed(order) for there in order if (here, there) in drawn]
    return "\n".join(["```mermaid", "flowchart TD", *(f"    {line}" for line in (*lines, DOTTED)), "```"])


def table(sentences: dict[str, str], found: Set[Arrow]) -> str:
    """A row for each room, the lowest first."""
    lines = ["| room | what it does | imports |", "|---|---|---|"]
    for room, text in sentences.items():
        imported = ", ".join(there for there in sentences if (room, there) in found)
        lines.append(f"| {room} | {text} | {imported or 'nothing'} |")
    return "\n".join(lines)


def arrows(imports: Imports) -> set[Arrow]:
    """Which room imports from which other."""
    pairs = {(room_shown(module), room_shown(name)) for module, names in imports.items() for name in names}
    return {(here, there) for here, there in pairs if here and there and here != there}


def needed(found: Set[Arrow]) -> set[Arrow]:
    """The arrows without those whose end a longer way leads to."""
    return {(here, there) for here, there in found if there not in _beneath(found - {(here, there)}, here)}


def _beneath(found: Set[Arrow], start: str) -> set[str]:
    """All rooms to which arrows lead from a room, directly or through others."""
    beneath: set[str] = set()
    further = {start}
    while further:
        further = {there for here, there in found if here in further} - beneath
        beneath |= further
    return beneath


def room_shown(module: str) -> str:
    """The room that shows a module. Empty for what is in none, and for modules of others."""
    root, *names = module.split(".")
    if root == "forcemove_games":
        return "games"
    if root != "forcemove" or module in NO_ROOMS:
        return ""
    return names[0] if names[0] != "protocol" and (ROOTS[root] / root / names[0]).is_dir() else "core"


def sentence(room: str) -> str:
    """What a room does, as its `__init__.py` says in its first sentence."""
    folder = {"core": "forcemove/protocol", "games": "forcemove_games"}.get(room, f"forcemove/{room}")
    path = ROOTS[folder.partition("/")[0]] / folder / "__init__.py"
    return first_sentence(ast.get_docstring(ast.parse(path.read_text("utf-8"))) or "")
