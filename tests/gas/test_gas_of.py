"""What a game says that its dearest dispute costs: no challenge and no answer in its rounds uses more gas."""

from __future__ import annotations

from pathlib import Path

import pytest

from forcemove import AddressBook, Agreement, Chain, EmbeddedChain, Game, Key, assemble, deploy, local_keys
from forcemove.protocol.encoding import digest, hash_state
from forcemove.protocol.rules import build_support_proof
from forcemove.protocol.types import SignedState, VariablePart
from tests.installed import GAMES, each_game

STAKE = 10**17
MOVES = 20
"""How many moves are looked at, if no bot leaves before."""
ROOM = 1.15
"""What a game says is no more than this many times what its disputes use."""

MINER, *KEYS = local_keys()


@pytest.fixture(scope="module")
def chain() -> Chain:
    return EmbeddedChain()


@pytest.fixture(scope="module")
def book(chain: Chain, tmp_path_factory: pytest.TempPathFactory) -> AddressBook:
    return deploy(chain, MINER, tmp_path_factory.mktemp("chain") / Path("book.json"), GAMES)


def states_of(game: Game, agreement: Agreement, seats: int) -> list[VariablePart]:
    """The last round of the setup, and the moves of bots after it."""
    states = [agreement.setup_state(turn) for turn in range(seats, 2 * seats)]
    bots = [game.bot(seat) for seat in range(seats)]
    for turn in range(2 * seats, 2 * seats + MOVES):
        move = bots[turn % seats].move(states[-1], another_round=True, between=states[-seats:-1])
        if move is None:
            break
        states.append(move.after(states[-1]))
    return states


def signed(agreement: Agreement, state: VariablePart, key: Key) -> SignedState:
    seat = state.turn_num % len(state.outcome)
    return SignedState(state, {seat: key.sign(digest(agreement.domain, hash_state(agreement.channel_id, state).state))})


@each_game
def test_no_dispute_uses_more_gas_than_its_game_says(chain: Chain, book: AddressBook, game: Game) -> None:
    """Between as many as can play it, on a channel that the chain knows nothing of: that is the dearest place to
    challenge from."""
    seats = max(game.seats)
    keys = KEYS[:seats]
    table = assemble(
        chain, book, game, [key.address for key in keys], stake=STAKE, deposit=5 * STAKE, duration=3_600, nonce=1
    )
    states, used = states_of(game, table.agreement, seats), []
    for last in range(seats - 1, len(states)):
        proof = build_support_proof(
            table.agreement.fixed_part,
            [signed(table.agreement, at, keys[at.turn_num % seats]) for at in states[last - seats + 1 : last + 1]],
        )
        assert proof is not None
        operation = table.adjudicator.challenge(table.agreement.fixed_part, proof)
        used.append(table.adjudicator.gas_of(operation, keys[states[last].turn_num % seats].address))
    assert max(used) <= game.dispute_gas <= ROOM * max(used)
