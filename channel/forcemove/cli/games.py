"""The installed games as the command line needs them, games without money included: their errors are explained."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import click

from forcemove.cli.errors import Explained
from forcemove.cli.terminal import wants_colours
from forcemove.errors import LocalError
from forcemove.registry import (
    GROUP,
    ContractInstalledTwice,
    GameInstalledTwice,
    GameUnusable,
    UnknownGame,
    find_entry_point,
    find_game,
    game_names,
    installed_games,
    load_value,
    names_in,
)
from forcemove.sessions.ports import TableGame

if TYPE_CHECKING:
    from collections.abc import Sequence

    from forcemove.game import Game

__all__ = [
    "GROUP",
    "TABLE_GROUP",
    "find_table_game",
    "game_names",
    "installed_names",
    "load_game",
    "table_game_names",
    "usable_games",
]

TABLE_GROUP = "forcemove.table_games"
"""The entry points' group of games without money, over a signed log; each names a `TableGame`."""


@cache
def table_game_names() -> Sequence[str]:
    """The names of the games without money, in order."""
    return names_in(TABLE_GROUP)


def installed_names() -> Sequence[str]:
    """The names of all games: those for channels, and then those without money."""
    return (*game_names(), *table_game_names())


def load_game(name: str) -> Game:
    """The channel game of this name; raises `Explained` where there is none, or where it cannot be used."""
    try:
        return find_game(name).game
    except LocalError as error:
        raise _explained(error) from error.__cause__


def usable_games() -> tuple[Game, ...]:
    """All channel games that can be used, by name. The errors of the others are printed on standard error."""
    installed = installed_games()
    for error in installed.errors:
        _warn(_explained(error).message)
    return installed.games


def find_table_game(name: str) -> TableGame | None:
    """The game without money of this name, or None. A channel game of the same name takes precedence. Raises
    `Explained` where the game cannot be used."""
    if name in game_names():
        return None
    try:
        point = find_entry_point(TABLE_GROUP, name)
        game: TableGame | None = None if point is None else load_value(point, TableGame)
    except LocalError as error:
        raise _explained(error) from error.__cause__
    return game


def _warn(message: str) -> None:
    what, *then = message.splitlines()
    for line in (click.style("Warning: ", fg="yellow", bold=True) + what, *then):
        click.echo(line, err=True, color=None if wants_colours() else False)


def _explained(error: LocalError) -> Explained:
    """What is wrong with a game, and what to do."""
    match error:
        case UnknownGame(name):
            installed = ", ".join(installed_names())
            return Explained(
                f"There is no game {name!r:.80}; installed are: {installed or 'none'}.",
                f"A game announces itself with an entry point in the group {GROUP}, or {TABLE_GROUP} if it has no "
                "money.",
            )
        case GameUnusable(name, distribution, reason):
            return Explained(
                f"The game {name} of the distribution {distribution} cannot be used: {reason}.",
                "Update that distribution, uninstall it, or tell its author; all other games can be used.",
            )
        case GameInstalledTwice(name, distributions):
            return Explained(
                f"Several distributions have a game {name}: {', '.join(distributions)}.",
                "Uninstall all but one of them; all other games can be used.",
            )
        case ContractInstalledTwice(name, contract, distributions):
            return Explained(
                f"The game {name} cannot be used: several distributions have a contract {contract}, and not the same: "
                f"{', '.join(distributions)}.",
                "Uninstall all but one of them; all other games can be used.",
            )
    raise error
