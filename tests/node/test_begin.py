"""Where a channel begins is written down as all endpoints have it: by the word of one, honest ones would be told later
to be of another chain. Row 54 of the list of attacks."""

from __future__ import annotations

from typing import Any

import pytest

from forcemove.chain.errors import Unreachable
from forcemove.node.assemble import Assembly, assemble
from forcemove_games.tic_tac_toe import GAME
from tests.scenarios.story import DEPOSIT, DURATION, KEYS, STAKE, Playground
from tests.simulation.chain import MemoryChain
from tests.simulation.faults import Endpoint


class Pair:
    """Two endpoints of one chain on which something has happened."""

    def __init__(self) -> None:
        self.playground = Playground.on(MemoryChain())
        assert isinstance(self.playground.chain, MemoryChain)
        self.node = self.playground.chain.node
        for _ in range(5):
            self.node.mine()
        self.endpoints = [Endpoint(self.node, str(number)) for number in range(2)]
        self.chains = [MemoryChain(each) for each in self.endpoints]
        self.height = self.playground.chain.block_number()

    def begin(self) -> Assembly:
        chain, *others = self.chains
        participants = [key.address for key in KEYS]
        terms: dict[str, Any] = {"stake": STAKE, "deposit": DEPOSIT, "duration": DURATION}
        return assemble(chain, self.playground.book, GAME, participants, **terms, others=others)


@pytest.fixture
def pair() -> Pair:
    return Pair()


def test_a_channel_begins_at_a_block_that_all_have(pair: Pair) -> None:
    begun = pair.begin()
    assert begun.from_block == pair.height
    assert begun.origin_hash == pair.playground.chain.block_hash(pair.height)


@pytest.mark.parametrize("liar", [0, 1])
@pytest.mark.parametrize("ahead", [1, 2**62])
def test_threat_54_a_channel_begins_where_every_endpoint_is(pair: Pair, liar: int, ahead: int) -> None:
    pair.endpoints[liar].replace("eth_blockNumber", lambda _: hex(pair.height + ahead))
    begun = pair.begin()
    assert begun.from_block == pair.height
    assert begun.origin_hash == pair.playground.chain.block_hash(pair.height)


@pytest.mark.parametrize("liar", [0, 1])
def test_threat_54_a_block_of_which_two_differ_is_not_written_down(pair: Pair, liar: int) -> None:
    pair.endpoints[liar].replace("eth_getBlockByNumber", lambda found: {**found, "hash": bytes(31) + b"\x07"})
    begun = pair.begin()
    assert (begun.from_block, begun.origin_hash) == (pair.height, b"")


@pytest.mark.parametrize("away", [0, 1])
def test_threat_46_a_channel_begins_while_an_endpoint_is_away(pair: Pair, away: int) -> None:
    def down(*_: object) -> object:
        raise Unreachable("memory", "away")

    pair.endpoints[away].answer = down
    assert pair.begin().from_block == pair.height
