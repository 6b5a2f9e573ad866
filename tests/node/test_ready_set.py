"""A node with many channels looks at those to which something has happened, and at all of them now and then."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import cast

import pytest

from forcemove import ChannelMessenger, MemoryMessenger, MemoryTransport
from forcemove.history.entries import ConnectionLost, ConnectionRestored
from forcemove.node.effect_executor import EffectExecutor
from forcemove.node.managed_channel import ManagedChannel
from forcemove.node.ports import WakingMessenger
from forcemove.node.ready_set import ReadySet
from forcemove.store.errors import JournalUnwritable
from forcemove.store.records import Batch
from tests.node.test_node import House
from tests.scenarios.story import Playground
from tests.simulation.chain import MemoryChain


class Deaf:
    """A line that does not say when something has come."""

    def __init__(self, line: MemoryMessenger) -> None:
        self._line = line

    def send(self, message: bytes) -> None:
        self._line.send(message)

    def receive(self) -> Sequence[bytes]:
        return self._line.receive()


@pytest.fixture
def playground() -> Playground:
    return Playground.on(MemoryChain())


@pytest.fixture
def house(playground: Playground, tmp_path: Path) -> Iterator[House]:
    made = House(playground, tmp_path, 3)
    yield made
    made.close()


def test_lines_in_memory_and_on_logs_say_when_something_has_come() -> None:
    assert isinstance(MemoryMessenger(), WakingMessenger)
    assert isinstance(ChannelMessenger(MemoryTransport()), WakingMessenger)
    assert not isinstance(Deaf(MemoryMessenger()), WakingMessenger)


def test_a_line_is_asked_when_it_has_said_that_something_has_come(house: House) -> None:
    house.play(until=5)
    bob, asked = house.processes[1], Counter[int]()
    for number, each in enumerate(house.assemblies):
        _count(bob.node.channels[each.agreement.channel_id].executor, asked, number)
    bob.node.step()
    assert asked == {}
    house.lines[2][0].send(b"hello")
    bob.node.step()
    assert asked == {2: 1}


def test_a_line_that_cannot_say_so_is_asked_at_each_step(house: House) -> None:
    house.play(until=5)
    bob = house.processes[1]
    bob.node.release_channel(house.assemblies[1].agreement.channel_id)
    house.lines[1] = (house.lines[1][0], Deaf(house.lines[1][1]))  # type: ignore[assignment]  # a line of another kind
    asked, managed = Counter[int](), bob.drive(1)
    bob.node.poll()
    _count(managed.executor, asked, 1)
    for _ in range(4):
        bob.node.step()
    assert asked == {1: 4}


def test_no_channel_is_looked_at_without_a_reason(house: House) -> None:
    """Alice is to move: nobody is silent."""
    house.play(until=3)
    bob = house.processes[1]
    bob.node.release_channel(house.assemblies[0].agreement.channel_id)
    asked = Counter[int]()
    for number, managed in enumerate(bob.node.channels.values()):
        _count(managed.executor, asked, number)
    bob.now += 4.9
    bob.node.step()
    assert asked == {}
    bob.now += 0.2  # five seconds after Alice's last message
    bob.node.step()
    assert asked == {0: 1, 1: 1}


class Generous(MemoryMessenger):
    """A messenger that gives all that it has, and says of each message once that it has come."""

    def receive(self) -> Sequence[bytes]:
        messages = tuple(self._inbox)
        self._inbox.clear()
        return messages


def test_what_comes_while_others_wait_is_taken_in_without_another_word(house: House) -> None:
    """A node takes in 64 messages of a channel in a step; what comes before the next one says so only once."""
    house.play(until=3)
    bob = house.processes[1]
    bob.node.release_channel(house.assemblies[1].agreement.channel_id)
    line = Generous()
    house.lines[1] = (house.lines[1][0], line)
    managed, heard = bob.drive(1), Counter[bytes]()
    bob.node.poll()
    on_message = managed.client.on_message

    def counted(message: bytes, now: int) -> None:
        heard[message] += 1
        on_message(message, now)

    managed.client.on_message = counted  # type: ignore[method-assign]
    for _ in range(100):
        line.take(b"early")
    bob.node.step()
    line.take(b"late")
    for _ in range(3):
        bob.node.step()
    assert heard == {b"early": 100, b"late": 1}


def test_whether_a_line_is_connected_is_asked_once_a_second(house: House) -> None:
    house.play(until=3)
    bob = house.processes[1]
    bob.node.release_channel(house.assemblies[1].agreement.channel_id)
    line = Connected()
    house.lines[1] = (house.lines[1][0], line)
    managed = bob.drive(1)
    bob.node.poll()
    for is_connected in (True, False, True):
        line.is_connected = is_connected
        bob.now += 1.1
        bob.node.step()
    bob.now += 1.1
    bob.node.step()
    kinds = [type(each) for each in managed.history().entries if isinstance(each, ConnectionLost | ConnectionRestored)]
    assert kinds == [ConnectionLost, ConnectionRestored]


def test_of_many_lines_some_are_asked_each_second_and_all_where_one_has_changed() -> None:
    """None is left out, nor is it noticed later than once round."""
    asked, managed = Counter[bytes](), {number.to_bytes(32): Line() for number in range(500)}
    now = 0.0
    ready = ReadySet(lambda: None, lambda: now)
    for id_, each in managed.items():
        each.asked = asked
        ready.add(id_, each)
    channels = cast("dict[bytes, ManagedChannel]", managed)
    ready.take(channels)
    for _ in range(20):
        now += 1.0
        assert not ready.take(channels)
    assert (len(asked), asked.total()) == (500, 20 * 50)
    for each in managed.values():
        each.has_changed = True
    now += 1.0
    assert len(list(ready.take(channels))) == 500
    for each in managed.values():
        each.has_changed = False
    managed[bytes(32)].has_changed = True
    ready.forget((1).to_bytes(32))
    seconds = 0
    while True:
        now += 1.0
        seconds += 1
        if found := ready.take(channels):
            break
    assert list(found) == [channels[bytes(32)]]
    assert seconds <= 10


class Line(MemoryMessenger):
    """Of a channel, and the channel itself. `asked`: how often each was asked about its connection."""

    asked: Counter[bytes]
    has_changed = False

    @property
    def has_connection_changed(self) -> bool:
        self.asked[id(self).to_bytes(8)] += 1
        return self.has_changed


class Connected(MemoryMessenger):
    """A line that has a connection, or none."""

    url, is_connected = "ws://relay", False


def test_what_has_come_ends_a_nodes_pause(house: House) -> None:
    house.play(until=5)
    bob = house.processes[1]
    bob.node._awake.clear()
    house.lines[0][0].send(b"hello")
    assert bob.node._awake.is_set()


def test_what_a_line_on_a_log_has_heard_wakes() -> None:
    """Own messages do not."""
    woken = list[bool]()

    async def heard() -> None:
        log = MemoryTransport()
        ours, theirs = ChannelMessenger(log), ChannelMessenger(log)
        ours.listen(lambda: woken.append(True))
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(each.run()) for each in (ours, theirs)]
            ours.send(b"a")
            await asyncio.sleep(0.01)
            assert woken == []
            theirs.send(b"b")
            while not woken:
                await asyncio.sleep(0.001)
            assert ours.receive() == (b"b",)
            for task in tasks:
                task.cancel()

    asyncio.run(asyncio.wait_for(heard(), 60))


def test_what_could_not_be_committed_is_looked_at_again(house: House) -> None:
    """Nobody says that it is there still."""
    alice = house.processes[0]
    commit, fails = alice.journal.commit, [True]

    def failing(batch: Batch) -> frozenset[bytes]:
        if fails:
            fails.pop()
            raise JournalUnwritable(alice.journal.where, "disk full")
        return commit(batch)

    alice.journal.commit = failing  # type: ignore[method-assign]
    with pytest.raises(JournalUnwritable):
        alice.node.poll()
    assert alice.node.step()


def _count(performer: EffectExecutor, asked: Counter[int], number: int) -> None:
    receive = performer.receive

    def counted() -> None:
        asked[number] += 1
        receive()

    performer.receive = counted  # type: ignore[method-assign]
