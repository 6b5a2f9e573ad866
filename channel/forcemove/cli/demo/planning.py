"""Which scenarios a demonstration plays, of which games, between how many players, and for what."""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING

import click

from forcemove.cli.games import load_game, usable_games

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from forcemove.game import Game

_DISPUTES = ("stall", "stale-state", "cheat")
"""Scenarios for two players."""
_CHECKED = ("bad-share", "bad-shuffle")
"""Those of games with moves that only players can judge."""
ALL_SCENARIOS = ("honest", *_DISPUTES, *_CHECKED)
"""The scenarios by name."""
_TWO = 2


def planned_scenarios(game_name: str | None, scenario: str | None, seats: int | None) -> list[tuple[str, Game, int]]:
    """Name, game and number of players of each scenario. The disputes are for two. If no game was named the games take
    turns in them; those that are soon understood come first. Each argument is None where nothing was said. Raises
    `click.UsageError` where nothing can be played."""
    from forcemove.game import PlayerChecked

    games = [load_game(game_name)] if game_name else _soon_understood_first(reversed(usable_games()))
    able = [game for game in games if seats is None or seats in game.seats]
    for_two = [game for game in able if _TWO in game.seats and seats in (None, _TWO)]
    honest = [("honest", game, seats or min(game.seats)) for game in able]
    checked = [game for game in for_two if isinstance(game, PlayerChecked)]
    if scenario in (*_DISPUTES, *_CHECKED):
        scenarios = [(scenario, game, _TWO) for game in (checked if scenario in _CHECKED else for_two)]
    elif scenario:
        scenarios = honest
    else:
        in_turn = zip(_DISPUTES, cycle(for_two), strict=False)
        scenarios = honest + [(name, game, _TWO) for name, game in in_turn]
        scenarios += [(name, game, _TWO) for game in checked for name in _CHECKED]
    if not scenarios:
        raise click.UsageError(_why_nothing_is_played(games, scenario, seats))
    return scenarios


def _why_nothing_is_played(games: Sequence[Game], scenario: str | None, seats: int | None) -> str:
    if not games:
        return "No game for channels is installed."
    can = "; ".join(f"{game.name} is for {', '.join(map(str, game.seats))}" for game in games)
    if scenario in _CHECKED:
        return f"No game that can be played here has moves that only its players judge, which {scenario} is about."
    if scenario in _DISPUTES:
        return f"{scenario} is for two players: {can if seats in (None, _TWO) else 'leave --seats out'}."
    return f"Nothing can be played with {seats} players: {can}."


def games_for_two(game_name: str | None) -> list[Game]:
    """What a playground can play: the named game first, else one that is soon understood. Raises `click.UsageError`
    where there is none."""
    games = [game for game in _soon_understood_first(usable_games()) if _TWO in game.seats]
    if game_name:
        first = load_game(game_name)
        games = [first, *(game for game in games if game.name != first.name)]
    if not games or _TWO not in games[0].seats:
        raise click.UsageError(_why_nothing_is_played(games[:1], None, _TWO))
    return games


def _soon_understood_first(games: Iterable[Game]) -> list[Game]:
    from forcemove.game import PlayerChecked

    return sorted(games, key=lambda game: isinstance(game, PlayerChecked))


def require_playable(stake: int, seats: Sequence[int]) -> None:
    """Refuse a stake of zero, and one that is too high for a channel. `seats`: the number of players of each scenario.
    Raises `click.UsageError`."""
    from forcemove.protocol.agreement import DEPOSIT_IN_STAKES
    from forcemove.protocol.types import MAX_AMOUNT

    if stake == 0:
        raise click.UsageError("A stake of 0 plays for nothing: give --stake 1 or more.")
    most = MAX_AMOUNT // (DEPOSIT_IN_STAKES * sum(seats))
    if stake > most:
        raise click.UsageError(
            f"A stake of {_shown(stake)} is too high: each player deposits {DEPOSIT_IN_STAKES} stakes a scenario, and "
            f"a channel holds less than 2**253 of an asset; give --stake {_shown(most)} or less."
        )


def _shown(stake: int) -> str:
    return f"{stake:,} (the asset's smallest unit)"
