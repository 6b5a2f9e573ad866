"""The games that this repository itself installs, and what a deployment deploys for them: tests list none by name.

What a test needs to know of each game beside its port, the game's own files say: `games/NAME/flow.py` has `one_round`,
and `tests/parity/NAME_space.py` has `reachable` and `first_move`.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

from forcemove import Game, installed_games
from forcemove.chain.deployment import contracts_to_deploy

__all__ = ["CONTRACTS", "GAMES", "GAMES_FOR_TWO", "each_game", "part_of", "space_of"]

GAMES: tuple[Game, ...] = tuple(
    each.game for each in installed_games().usable if each.distribution.partition(" ")[0] == "forcemove"
)
GAMES_FOR_TWO: tuple[Game, ...] = tuple(game for game in GAMES if 2 in game.seats)
CONTRACTS: tuple[str, ...] = tuple(contract.name for contract in contracts_to_deploy(GAMES))
"""The names, in the order in which they are deployed."""

each_game = pytest.mark.parametrize("game", GAMES, ids=[game.name for game in GAMES])


def part_of(game: Game, name: str) -> Any:
    """A module of the game's folder."""
    return import_module(f"{type(game).__module__.rpartition('.')[0]}.{name}")


def space_of(game: Game) -> Any:
    """The positions of the game, as its parity tests enumerate them."""
    return import_module(f"tests.parity.{type(game).__module__.split('.')[-2]}_space")
