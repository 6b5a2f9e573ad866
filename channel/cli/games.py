"""The games that are installed, found by entry point: the command line imports none by name."""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any, Protocol

from forcemove.channel.cli.errors import Explained

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

__all__ = ["GROUP", "TABLE_GROUP", "Ask", "TableGame", "find_table_game", "game_names", "load_game", "table_game_names"]

GROUP = "forcemove.games"
"""The entry points' group of games for channels; each names a value as `forcemove.channel.game.Game` describes it."""
TABLE_GROUP = "forcemove.table_games"
"""The group of games without money, over a signed log; each names a `TableGame`."""


class Ask(Protocol):
    """Lets a person choose."""

    def __call__(self, prompt: str, options: Sequence[str]) -> Awaitable[int]:
        """The index of the option that was chosen. Raises `EOFError` where nobody answers any more."""
        ...


class TableGame(Protocol):
    """A game without money: two clients around a signed log, in this process."""

    name: str
    """As `--game` knows it."""
    title: str
    """For people."""

    async def demonstrate(self, tell: Callable[[str], None], names: tuple[str, str]) -> Mapping[str, object]:
        """Play one game between two bots, telling it line by line; the result, as values for JSON."""
        ...

    async def play(self, tell: Callable[[str], None], ask: Ask, names: tuple[str, str]) -> Mapping[str, object]:
        """The same with a person in seat 0, who is asked for each decision."""
        ...


@cache
def game_names() -> Sequence[str]:
    """The names of the games for channels, in order."""
    return sorted(point.name for point in entry_points(group=GROUP))


@cache
def table_game_names() -> Sequence[str]:
    """The names of the games without money, in order."""
    return sorted(point.name for point in entry_points(group=TABLE_GROUP))


def load_game(name: str) -> Any:
    """The channel game of this name; raises `Explained` where there is none."""
    for point in entry_points(group=GROUP, name=name):
        return point.load()
    installed = ", ".join([*game_names(), *table_game_names()])
    raise Explained(
        f"There is no game {name!r:.80}; installed are: {installed or 'none'}.",
        f"A game announces itself with an entry point in the group {GROUP}, or {TABLE_GROUP} if it has no money.",
    )


def find_table_game(name: str) -> TableGame | None:
    """The game without money of this name, or None. Where a channel game has the name, that is meant."""
    if name in game_names():
        return None
    for point in entry_points(group=TABLE_GROUP, name=name):
        game: TableGame = point.load()
        return game
    return None
