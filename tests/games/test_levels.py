"""Anyone who thinks beats the bot that people play against unless they choose another."""

from __future__ import annotations

from itertools import repeat
from random import Random

import pytest

from forcemove import Game, Level, local_table, moves_of
from forcemove.node.histories import load_history
from forcemove.playground.playground import Playground
from forcemove.rounds import RoundCount
from tests.installed import GAMES_FOR_TWO

_MOST = 100
"""Games until one is won; of the games that come with Forcemove the best bot wins each third, or more."""
_ASKED = 6
"""How often both together go on to another round: enough for one."""


def winners(game: Game, seed: int) -> list[int | None]:
    """Who wins the rounds of a game: participant 0 plays as well as it can, and 1 as bots do unless asked otherwise."""
    chance, wanted = Random(seed), repeat(True, _ASKED)
    bots = [game.bot(seat, chance.randbytes, level=level) for seat, level in enumerate((Level.HARD, Level.MEDIUM))]
    table = local_table(
        game, *(moves_of(each, another_round=lambda _: next(wanted, False)) for each in bots), stake=10**15
    )
    table.play()
    count = RoundCount(game)
    for state in load_history(table.nodes[0]._journal, table.channels[0].id).states:
        count.add(state)
    return [each.winner for each in count.results]


@pytest.mark.parametrize("game", GAMES_FOR_TWO, ids=lambda game: game.name)
def test_the_bot_can_be_beaten(game: Game) -> None:
    assert Playground([game]).level is Level.MEDIUM
    assert any(0 in winners(game, seed) for seed in range(_MOST))
