"""The head as a client knows it."""

from __future__ import annotations

from collections import Counter

import pytest

from forcemove.chain import asking, errors, local
from forcemove.chain.chain import Call
from forcemove.follower.head import Head, HeadReader
from tests.follower.paper import PaperNode
from tests.simulation.chain import MemoryChain

EVERY = 5.0


@pytest.fixture(scope="module")
def chain() -> local.EmbeddedChain:
    return local.EmbeddedChain()


def mine(chain: local.EmbeddedChain) -> None:
    chain.send(Call(local.local_keys()[1].address, b"", 0), local.local_keys()[0])


def read(chain: local.EmbeddedChain) -> Head:
    return asking.ask_now(chain.rpc, HeadReader(chain, lambda: 0.0).read())


def test_the_head_is_the_newest_block_and_the_time_of_the_next(chain: local.EmbeddedChain) -> None:
    mine(chain)
    head = read(chain)
    assert (head.number, head.hash) == (chain.block_number(), chain.block_hash(chain.block_number()))
    assert head.next_time == chain.next_time() > chain.now()


def test_a_node_without_pending_blocks_gives_the_time_of_the_newest(
    chain: local.EmbeddedChain, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask = chain.rpc.ask

    def without_pending(method: str, *params: object) -> object:
        if "pending" in params:
            raise errors.EndpointFailed(method, "there is no block pending")
        return ask(method, *params)

    monkeypatch.setattr(chain.rpc, "ask", without_pending)
    assert read(chain).next_time == chain.now()


class Reading:
    """A head that is read once a second; `pending`: what the endpoint shows as the pending block."""

    def __init__(self, pending: str = "pending") -> None:
        self.node, self.pending = PaperNode(100), pending
        self.reader = HeadReader(MemoryChain(self.node), lambda: self.node.time, EVERY)
        self.tags: list[str] = []
        block = self.node._block

        def seen(tag: str, full: bool) -> object:
            self.tags.append(tag)
            return block(self.pending if tag == "pending" else tag, full)

        self.node._block = seen  # type: ignore[assignment,method-assign]

    def read(self, seconds: int = 1) -> list[Head]:
        found = []
        for _ in range(seconds):
            self.node.time += 1
            found.append(asking.ask_now(self.node, self.reader.read()))
        return found


def test_one_question_a_second_finds_each_block_at_once() -> None:
    reading = Reading()
    reading.read()
    reading.tags.clear()
    reading.read(60)
    assert Counter(reading.tags) == {"latest": 48, "pending": 12}
    for seconds in range(1, 15):
        reading.node.mine()
        reading.tags.clear()
        assert [each.number for each in reading.read(seconds)] == [reading.node.height] * seconds
        assert len(reading.tags) - seconds in (0, 1)  # one more where the block came when the pending one was due


def test_the_time_goes_on_between_a_new_block_and_the_pending_one() -> None:
    reading = Reading()
    (first,) = reading.read()
    reading.node.mine()
    times = [each.next_time - first.next_time for each in reading.read(6)]
    assert times == [0, 1, 2, 3, 4, 12]
    reading.node.height += 2  # a new block's own time is newer than that
    assert reading.read()[0].next_time == first.next_time + 24


def test_a_slow_endpoint_is_asked_for_the_pending_block_more_seldom() -> None:
    reading = Reading()
    reading.read()
    reading.node.seconds = 1.0
    times = [each.next_time for each in reading.read(30)]
    assert Counter(reading.tags[2:])["pending"] == 3
    assert times == sorted(times)


def test_a_time_is_as_old_as_its_answer() -> None:
    """What passes while an endpoint is asked is not added to the time that it shows."""
    reading = Reading()
    reading.read()
    reading.node.mine()
    reading.node.seconds = 2.0
    (new,) = reading.read()
    reading.node.seconds = 0.0
    assert [each.next_time - new.next_time for each in reading.read(3)] == [1, 2, 3]


def test_a_pending_block_that_is_older_takes_no_time_back() -> None:
    reading = Reading("latest")
    first, *times = [each.next_time for each in reading.read(20)]
    assert times == sorted(times)
    assert times[-1] == first + EVERY - 1


@pytest.mark.parametrize("pending", ["latest", "0x10", "0xffff"], ids=["the newest", "an old one", "none"])
def test_an_endpoint_whose_pending_block_is_another_one_shows_each_block_within_a_second(pending: str) -> None:
    reading = Reading(pending)
    reading.read()
    for _ in range(20):
        reading.node.mine()
        shown = [each.number for each in reading.read(7)]
        assert shown[1:] == [reading.node.height] * 6
