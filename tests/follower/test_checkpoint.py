"""After a restart only what is new is read of a channel; and everything, where what was read before may not be so any
more. Rows 22 and 43 of the list of attacks."""

from __future__ import annotations

import time
from typing import Any

import pytest

from forcemove import Adjudicator, Channel
from forcemove.chain.worker import wait_for
from forcemove.follower.endpoint_quorum import EndpointQuorum, QuorumUpdate
from forcemove.follower.follow_request import FollowRequest
from forcemove.follower.on_chain_view import Checkpoint
from forcemove.protocol.machine.machine import step
from forcemove.protocol.machine.record import EMPTY_RECORD
from forcemove_games.tic_tac_toe import GAME
from tests.scenarios.story import KEYS, Playground, Story
from tests.simulation.chain import MemoryChain
from tests.simulation.faults import Endpoint


class Reader:
    """A process that reads the chain for a channel, and what it leaves to the next one."""

    def __init__(self, playground: Playground, story: Story) -> None:
        assert isinstance(playground.chain, MemoryChain)
        self.endpoint, self.story = Endpoint(playground.chain.node), story
        self._address = playground.book.adjudicator
        self.channel = Channel(story.agreement, 0, genuine=True)
        self.asked: list[tuple[int, int]] = []
        self.endpoint.answer = self._note
        self.start(None)

    def _note(self, method: str, *params: Any) -> Any:
        if method == "eth_getLogs":
            self.asked.append((int(params[0]["fromBlock"], 16), int(params[0]["toBlock"], 16)))
        return self.endpoint.node.ask(method, *params)

    def start(self, known: Checkpoint | None) -> None:
        self.views = EndpointQuorum(
            [Adjudicator(MemoryChain(self.endpoint), self._address)], 1, time.monotonic, own_time=None
        )
        self.views.follow(
            FollowRequest(self.story.agreement, None, self.story.first_block, is_new=False, checkpoint=known)
        )
        self.asked.clear()

    def restart(self) -> Checkpoint:
        """With all that was told: what the journal has."""
        self.look()
        reached = self.views.cursor
        assert reached is not None
        known = Checkpoint(reached.number, reached.hash, self.channel.record)
        self.start(known)
        return known

    def look(self) -> QuorumUpdate:
        (viewer,) = self.views.viewers
        viewer._follower._done_at = b""  # each look is one at a new block
        wait_for(viewer.look())
        told = self.views.take_in()
        for read in told.updates.values():
            self.channel = step(self.channel, read, self.views.time, KEYS[0], GAME)[0]
        return told

    def tells(self, look: QuorumUpdate) -> bool:
        """Whether all was told anew."""
        return look.updates[self.story.agreement.channel_id].from_scratch


@pytest.fixture
def reader(playground: Playground, story: Story) -> Reader:
    return Reader(playground, story)


def dispute(story: Story) -> None:
    story.play_until(6)
    story.challenge(0, *story.opening()[2:4])


def test_only_what_is_new_is_read_and_told(reader: Reader, story: Story) -> None:
    dispute(story)
    known = reader.restart()
    for _ in range(2):
        story.bob.client.poll()
    look = reader.look()
    assert not reader.tells(look)
    assert reader.asked == [(known.block_number + 1, story.chain.block_number())]
    assert reader.channel.record == story.bob.client.channel.record
    assert reader.channel.holdings == story.bob.client.channel.holdings


def test_where_nothing_is_new_no_log_is_asked_for(reader: Reader, story: Story) -> None:
    dispute(story)
    reader.restart()
    assert not reader.tells(reader.look())
    assert reader.asked == []


def test_threat_22_all_is_read_where_the_block_is_not_there_any_more(reader: Reader, story: Story) -> None:
    """A reorganisation while nobody looked: the challenge is gone."""
    before = story.chain.block_number()
    dispute(story)
    height = story.chain.block_number()
    reader.restart()
    story.reorganise(height - 1, mined=3)
    look = reader.look()
    assert reader.tells(look)
    assert reader.asked[0][0] <= before
    assert reader.channel.record == EMPTY_RECORD


def test_threat_22_all_is_read_on_a_fork_before_it(reader: Reader, story: Story) -> None:
    """... and where that happens after the start."""
    dispute(story)
    height = story.chain.block_number()
    reader.restart()
    reader.look()
    story.reorganise(height - 1, mined=3)
    look = reader.look()
    assert reader.tells(look)
    assert reader.channel.record == EMPTY_RECORD


def test_an_endpoint_that_has_not_come_so_far_is_read_from_the_beginning(reader: Reader, story: Story) -> None:
    dispute(story)
    known = reader.restart()
    reader.start(Checkpoint(known.block_number + 5, known.block_hash, known.record))
    assert reader.tells(reader.look())
    assert reader.asked[0][0] == story.first_block


def test_threat_43_what_is_known_wrongly_is_found_out(reader: Reader, story: Story) -> None:
    """An old journal's record under a newer block: the adjudicator's own words disagree."""
    dispute(story)
    known = reader.restart()
    reader.start(Checkpoint(known.block_number, known.block_hash, EMPTY_RECORD))
    look = reader.look()
    assert look.channel_errors == {}
    assert reader.tells(look)
    assert reader.channel.record == known.record


def test_threat_43_a_log_that_is_left_out_after_it_is_found_out(reader: Reader, story: Story) -> None:
    story.play_until(6)
    reader.restart()
    story.challenge(0, *story.opening()[2:4])
    honest = reader.endpoint.answer
    reader.endpoint.replace("eth_getLogs", lambda _: [])
    assert reader.look().channel_errors.keys() == {story.agreement.channel_id}
    reader.endpoint.answer = honest
    assert reader.look().channel_errors == {}
    assert reader.channel.record.status.finalizes_at
