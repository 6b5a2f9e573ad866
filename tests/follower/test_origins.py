"""A chain with the same id, and the same contracts at the same addresses, that is another one: a test chain that was
started anew, or put back to an earlier state. Rows 22 and 43 of the list of attacks."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress

import pytest

from forcemove.chain.adjudicator import Adjudicator
from forcemove.chain.worker import wait_for
from forcemove.follower.endpoint_quorum import EndpointQuorum, QuorumUpdate
from forcemove.follower.errors import AnotherChain, BehindItself, EndpointContradicted
from forcemove.follower.follow_request import FollowRequest
from forcemove.protocol.machine.inputs import ViewsDiffer
from tests.scenarios.story import Playground, Story
from tests.simulation.chain import MemoryChain
from tests.simulation.faults import Endpoint
from tests.simulation.node import MemoryNode


@pytest.fixture
def playground() -> Playground:
    return Playground.on(MemoryChain())


def begun_anew(blocks: int = 0) -> MemoryNode:
    """A chain with its own blocks, and the same contracts at the same addresses."""
    chain = MemoryChain()
    chain.node.next_time += 1_000
    Playground.on(chain)
    for _ in range(blocks):
        chain.node.mine()
    return chain.node


def without_contracts(blocks: int) -> MemoryNode:
    """A chain on which nobody has deployed anything."""
    node = MemoryNode()
    for _ in range(blocks):
        node.next_time += 5
        node.mine()
    return node


class Resumed:
    """A follower that is given a channel from before, through an endpoint of each of these nodes."""

    def __init__(self, playground: Playground, story: Story, *nodes: MemoryNode, is_doubted: bool = True) -> None:
        self.story, self.began = story, story.assembly.origin_hash
        self.endpoints = [Endpoint(node, f"memory {number}") for number, node in enumerate(nodes)]
        address = playground.book.adjudicator
        adjudicators = [Adjudicator(MemoryChain(each), address) for each in self.endpoints]
        self.views = EndpointQuorum(adjudicators, 1, time.monotonic, own_time=None)
        from_block, agreement = story.assembly.from_block, story.agreement
        self.views.follow(FollowRequest(agreement, None, from_block, False, self.began, is_doubted))

    @property
    def id(self) -> bytes:
        return self.story.agreement.channel_id

    def look(self) -> QuorumUpdate:
        for viewer in self.views.viewers:
            wait_for(viewer.look())
        return self.views.take_in()

    def error(self, node: MemoryNode, number: int = 0) -> AnotherChain:
        block = self.story.assembly.from_block
        found = node.blocks[block].hash if block < len(node.blocks) else None
        return AnotherChain(f"memory {number}", self.id, block, self.began, found)


def test_threat_43_a_channel_of_another_chain_is_told_as_wrong_and_has_no_news(
    playground: Playground, story: Story
) -> None:
    story.play_until(6)
    node = begun_anew(blocks=10)
    resumed = Resumed(playground, story, node)
    for _ in range(2):
        look = resumed.look()
        assert look.channel_errors == {resumed.id: resumed.error(node)}
        assert look.updates == {}


def test_a_chain_that_ends_before_the_channel_began(playground: Playground, story: Story) -> None:
    """It began anew a moment ago, or its endpoint has not caught up: nothing can be known of the channel yet."""
    node = begun_anew()
    node.blocks = node.blocks[: story.assembly.from_block]
    resumed = Resumed(playground, story, node)
    (error,) = resumed.look().channel_errors.values()
    assert isinstance(error, AnotherChain)
    assert error.found is None


def test_a_chain_without_the_contracts(playground: Playground, story: Story) -> None:
    """Nobody has deployed anything yet."""
    node = without_contracts(story.assembly.from_block + 1)
    resumed = Resumed(playground, story, node)
    assert resumed.look().channel_errors == {resumed.id: resumed.error(node)}


def test_the_chain_on_which_it_began_is_believed(playground: Playground, story: Story) -> None:
    resumed = Resumed(playground, story, _node(playground))
    look = resumed.look()
    assert look.channel_errors == {}
    assert look.updates.keys() == {resumed.id}


def test_what_the_adjudicator_knows_is_followed_whatever_became_of_the_block(
    playground: Playground, story: Story
) -> None:
    """A reorganisation has replaced the block at which it began; the deposits are in others now."""
    story.play_until(6)
    resumed = Resumed(playground, story, _node(playground))
    resumed.began = bytes(32)
    resumed.views.follow(FollowRequest(story.agreement, None, story.assembly.from_block, False, bytes(32), True))
    look = resumed.look()
    assert look.channel_errors == {}
    assert look.updates.keys() == {resumed.id}


def test_threat_43_what_the_endpoint_of_another_chain_says_is_told_and_does_not_count(
    playground: Playground, story: Story
) -> None:
    story.play_until(6)
    node = begun_anew(blocks=10)
    resumed = Resumed(playground, story, node, _node(playground))
    look = resumed.look()
    assert look.errors == [EndpointContradicted("memory 0", resumed.id, resumed.error(node))]
    assert look.channel_errors == {}
    assert look.updates.keys() == {resumed.id}
    assert look.differences == {resumed.id: ViewsDiffer()}


def test_threat_22_a_chain_that_begins_anew_without_the_contracts(playground: Playground, story: Story) -> None:
    """As a test chain does whose owner starts it again. It was told as no Ethereum node at all."""
    story.play_until(6)
    resumed = Resumed(playground, story, _node(playground), is_doubted=False)
    assert resumed.look().channel_errors == {}
    resumed.endpoints[0].answer = without_contracts(story.chain.block_number() + 1).ask
    assert [type(each) for each in _wrong_at_last(resumed.look)] == [AnotherChain]
    resumed.endpoints[0].answer = _node(playground).ask
    assert _wrong_at_last(resumed.look) == []
    story.mine()
    look = resumed.look()
    assert look.channel_errors == {}
    assert look.errors == []


@pytest.mark.parametrize("later", [0, 60])
def test_threat_22_a_chain_that_begins_anew_while_it_is_read(playground: Playground, story: Story, later: int) -> None:
    """Its old blocks are all gone, the first ones, too. Its time is not the channel's; and when the old chain is back,
    so is the channel."""
    story.play_until(6)
    resumed = Resumed(playground, story, _node(playground), is_doubted=False)
    assert resumed.look().channel_errors == {}
    before = resumed.views.time
    resumed.endpoints[0].answer = begun_anew(blocks=later).ask
    errors = _wrong_at_last(resumed.look)
    assert [type(each) for each in errors] == [AnotherChain]
    assert resumed.views.time == before
    resumed.endpoints[0].answer = _node(playground).ask
    assert _wrong_at_last(resumed.look) == []
    story.mine()
    assert resumed.look().channel_errors == {}
    assert resumed.views.time > before


def test_threat_22_a_reorganisation_is_none(playground: Playground, story: Story) -> None:
    """The block at which the channel began is gone, and the deposits with it; early blocks are there."""
    before = story.chain.block_number()
    story.play_until(6)
    resumed = Resumed(playground, story, _node(playground), is_doubted=False)
    resumed.look()
    story.reorganise(before - 1, mined=30)
    look = resumed.look()
    assert look.channel_errors == {}
    assert look.updates.keys() == {resumed.id}


def _wrong_at_last(look: Callable[[], QuorumUpdate]) -> list[Exception]:
    """After the looks at which a shorter chain is not believed yet."""
    for _ in range(2):
        with suppress(BehindItself):
            look()
    return list(look().channel_errors.values())


def _node(playground: Playground) -> MemoryNode:
    assert isinstance(playground.chain, MemoryChain)
    return playground.chain.node
