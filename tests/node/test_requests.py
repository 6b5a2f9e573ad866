"""What the page on nodes says of requests, where no other test does: very many channels, and an endpoint that wants a
long wait."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest

from forcemove import ChannelSetup, MemoryMessenger, Node
from forcemove.chain.errors import NodeBusy
from forcemove.chain.local import AnvilChain, connect
from forcemove_games.tic_tac_toe import GAME
from tests.follower.paper import PaperNode, PaperReader
from tests.liars.misbehaviour import whole
from tests.liars.proxy import Misbehaves, lying
from tests.process import memory_journal
from tests.scenarios.story import ALICE, Playground


@pytest.mark.parametrize(("channels", "requests"), [(5_000, 4), (5_001, 5), (10_000, 5)])
def test_each_five_thousand_channels_more_cost_a_block_one_request_more(channels: int, requests: int) -> None:
    node = PaperNode(1_000)
    reader = PaperReader(node)
    reader.follow(range(channels), 990)
    for _ in range(3):
        reader.look()
    node.mine()
    node.asked.clear()
    reader.look()
    assert node.asked.total() == requests


def test_the_owner_is_told_of_an_endpoint_that_wants_a_long_wait_and_it_is_not_asked_meanwhile(
    anvil: AnvilChain,
) -> None:
    asked, told = count(), list[Exception]()
    is_busy = False

    def tell(ask: Any, method: str, *params: Any) -> Any:
        if is_busy:
            next(asked)
            raise Misbehaves(whole(lambda: b"slow down", 429, Retry_After="20"))
        return ask(method, *params)

    playground = Playground.on(anvil)
    with lying(anvil.endpoint, tell) as url, connect(url) as chain:
        assembly = Playground(chain, playground.book).story(GAME).assembly
        node = Node(memory_journal(), policy=None, on_error=told.append)
        node.add(ChannelSetup(assembly, ALICE, MemoryMessenger(), lambda _: None))
        node.poll()
        assert told == []
        is_busy = True
        for _ in range(5):
            node.poll()
    assert {type(each) for each in told} == {NodeBusy}
    assert {each.seconds for each in told if isinstance(each, NodeBusy)} == {20}
    assert next(asked) == 1
