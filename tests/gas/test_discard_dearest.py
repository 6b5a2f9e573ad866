"""The dearest dispute that Discard can come to: not that of one hand in ether, but of what a player may choose."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from msgspec import structs
from msgspec.structs import replace

from forcemove import UINT64_MAX, Allocation, EmbeddedChain, VariablePart
from forcemove.protocol.encoding import challenge_hash, channel_id, digest, hash_state
from forcemove.protocol.types import Signature
from forcemove.protocol.words import MAX_TURN_RECORD
from forcemove_games.discard import GAME, evidence, position
from scripts.measuring.bench import Bench, Channel, chain_of_fork

FULL = b"\xff" * 32
"""Each byte of calldata that is not zero costs four times as much as a zero."""
HALF = int.from_bytes(FULL) // 2
DECK, PROOF = b"\xff" * position.DECK_LENGTH, b"\xff" * evidence.PROOF_LENGTH


@pytest.fixture(scope="module", params=["today", "amsterdam"])
def channel(request: pytest.FixtureRequest) -> Iterator[Channel]:
    """With the largest nonce that a channel may have."""
    with EmbeddedChain() if request.param == "today" else chain_of_fork(request.param) as chain:
        bench = Bench(chain)
        bench.nonce = UINT64_MAX - 1
        fresh = bench.channel(app=bench.discard)
        fresh.fixed_part = structs.replace(fresh.fixed_part, asset=FULL[:20], total=0)
        fresh.id = channel_id(fresh.fixed_part, bench.adjudicator.domain)
        yield fresh


def second_shuffle(channel: Channel) -> tuple[VariablePart, VariablePart]:
    """Two shuffles without a zero byte in deck and proof: the contract looks into neither. In a late hand for all of
    a token, with payouts that are not accounts'."""
    key = (int.from_bytes(FULL), int.from_bytes(FULL))
    core = position.Core(position.PositionType.SHUFFLED_FIRST, HALF, channel.id, MAX_TURN_RECORD, (key, key))
    paid = tuple(Allocation(FULL[:20], FULL, HALF) for _ in range(2))
    first = VariablePart(paid, position.Position(core, DECK).encode(), MAX_TURN_RECORD - 1, evidence=PROOF)
    core = replace(core, position_type=position.PositionType.SHUFFLED)
    return first, VariablePart(paid, position.Position(core, DECK).encode(), MAX_TURN_RECORD, evidence=PROOF)


def signed_challenge(channel: Channel, state: VariablePart) -> Signature:
    """By which participant 1 lets anybody send the challenge."""
    struct = challenge_hash(channel.id, state.turn_num, hash_state(channel.id, state).state)
    return channel.keys[1].sign(digest(channel.adjudicator.domain, struct))


def test_no_bytes_make_a_dispute_dearer_than_the_game_says(channel: Channel) -> None:
    """A challenge with a signature more, because another account than a player's sends it; each answer is cheaper."""
    first, second = second_shuffle(channel)
    signature = signed_challenge(channel, second)
    challenge = channel.adjudicator.challenge(channel.fixed_part, channel.proof(first, second), signature)
    said = channel.bench.chain.ask_prices().dispute(GAME.dispute_gas)
    assert channel.bench.send(channel.bench.keys[0], challenge) <= said
