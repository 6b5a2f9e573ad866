"""What a game says that its dearest dispute costs: no challenge and no answer in its rounds uses more gas."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import pytest

from forcemove import EmbeddedChain, Game
from scripts.measuring.bench import chain_of_fork
from tests.installed import GAMES_FOR_TWO
from tests.scenarios.story import ALICE, BOB, Playground

LAST = 24
ROOM = 1.15
"""What a game says is no more than this many times what its disputes use."""


@pytest.fixture(scope="module", params=["today", "amsterdam"])
def playground(request: pytest.FixtureRequest) -> Iterator[Playground]:
    with EmbeddedChain() if request.param == "today" else chain_of_fork(request.param) as chain:
        yield Playground.on(chain)


@pytest.mark.parametrize("game", GAMES_FOR_TWO, ids=lambda game: game.name)
def test_no_dispute_uses_more_gas_than_its_game_says(playground: Playground, game: Game) -> None:
    """On a channel that the chain knows nothing of: that is the dearest place to challenge from."""
    channel = playground.story(game)
    states, bots = [channel.agreement.setup_state(turn) for turn in (2, 3)], (game.bot(0), game.bot(1))
    while states[-1].turn_num < LAST:
        move = bots[(states[-1].turn_num + 1) % 2].move(states[-1], another_round=True)
        if move is None:
            break
        states.append(move.after(states[-1]))
    used = []
    for before, after in pairwise(states):
        proof = channel.proof([channel.sign(before, before.turn_num % 2), channel.sign(after, after.turn_num % 2)])
        operation = channel.adjudicator.challenge(channel.agreement.fixed_part, proof)
        used.append(channel.adjudicator.gas_of(operation, (ALICE, BOB)[after.turn_num % 2].address))
    said = playground.chain.ask_prices().dispute(game.dispute_gas)
    assert max(used) <= said <= ROOM * max(used)
