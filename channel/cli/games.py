"""The games that are installed, found by entry point: the command line imports none by name."""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

from channel.cli.errors import Explained

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["GROUP", "game_names", "load_game"]

GROUP = "forcemove.games"
"""The entry points' group; each names a value as `games.game.Game` describes it."""


@cache
def game_names() -> Sequence[str]:
    """The names of the games, in order."""
    return sorted(point.name for point in entry_points(group=GROUP))


def load_game(name: str) -> Any:
    """The game of this name; raises `Explained` where there is none."""
    for point in entry_points(group=GROUP, name=name):
        return point.load()
    raise Explained(
        f"There is no game {name!r}; installed are: {', '.join(game_names()) or 'none'}.",
        "A game announces itself with an entry point in the group forcemove.games.",
    )
