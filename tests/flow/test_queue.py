"""The queue of actions."""

from __future__ import annotations

import asyncio
import tracemalloc

import pytest

from forcemove import ForcemoveError, MemoryTransport
from forcemove.flow.actions import MalformedAction
from forcemove.flow.queue import ActionQueue, SaidOtherwise, said_before
from forcemove.flow.signed import UnsignedMessage
from tests.expected import raising
from tests.flow.table import CODEC, Left, Said, queue_of, signed

pytestmark = pytest.mark.virtual_time

MANY = 100_000


async def test_what_is_enqueued_is_dequeued_by_everybody_in_one_order() -> None:
    log = MemoryTransport()
    alice, bob = queue_of(log), queue_of(log)
    await alice.enqueue(Said("alice", 1))
    await bob.enqueue(Said("bob", 2))
    for queue in (alice, bob):
        assert [await queue.dequeue() for _ in range(2)] == [Said("alice", 1), Said("bob", 2)]


async def test_several_waiters_are_served_in_the_order_in_which_they_came() -> None:
    queue = queue_of(MemoryTransport())
    async with asyncio.TaskGroup() as group:
        waiters = []
        for _ in range(5):
            waiters.append(group.create_task(queue.dequeue()))
            await asyncio.sleep(0)
        for number in range(5):
            await queue.enqueue(Said("alice", number))
    assert [each.result() for each in waiters] == [Said("alice", number) for number in range(5)]


async def test_a_waiter_that_gives_up_takes_nothing_with_it() -> None:
    queue = queue_of(MemoryTransport())
    first = asyncio.create_task(queue.dequeue())
    second = asyncio.create_task(queue.dequeue())
    await asyncio.sleep(1)
    await queue.enqueue(Said("alice", 1))
    first.cancel()
    assert await second == Said("alice", 1)
    await queue.enqueue(Said("alice", 2))
    assert await queue.dequeue() == Said("alice", 2)


async def test_a_history_that_is_known_comes_first() -> None:
    log = MemoryTransport()
    await queue_of(log).enqueue(Said("alice", 3))
    queue = queue_of(log, preseed=[Said("alice", 1), Left("bob")])
    assert [await queue.dequeue() for _ in range(3)] == [Said("alice", 1), Left("bob"), Said("alice", 3)]


async def test_a_queue_can_begin_later_in_the_log() -> None:
    log = MemoryTransport()
    for number in range(3):
        await queue_of(log).enqueue(Said("alice", number))
    assert await queue_of(log, start=2).dequeue() == Said("alice", 2)


async def test_a_glance_leaves_the_action_in_its_place() -> None:
    queue = queue_of(MemoryTransport())
    await queue.enqueue(Said("alice", 1))
    assert await queue.peek() == await queue.peek() == await queue.dequeue() == Said("alice", 1)


async def test_a_bad_message_is_an_error_in_its_place_and_nothing_is_swallowed() -> None:
    log = MemoryTransport()
    queue = queue_of(log)
    await queue.enqueue(Said("alice", 1))
    await log.post(b'{"client_id":"mallory","type":"Shouted"}')
    await queue.enqueue(Said("alice", 2))
    assert await queue.dequeue() == Said("alice", 1)
    with pytest.raises(MalformedAction) as refused:
        await queue.dequeue()
    assert refused.value.client_id == "mallory"
    assert await queue.dequeue() == Said("alice", 2)


async def test_what_the_transport_finds_wrong_is_raised() -> None:
    log = MemoryTransport()
    await log.post(CODEC.encode(Said("alice", 1)))
    with pytest.raises(UnsignedMessage):
        await queue_of(signed(log, "bob")).dequeue()


async def test_faults_can_be_reported_and_passed_over() -> None:
    """Then nobody can stop a game by shouting into it."""

    log = MemoryTransport()
    faults: list[ForcemoveError] = []
    bob = ActionQueue(signed(log, "bob"), CODEC, skip=faults.append)
    await log.post(b"rubbish")
    await signed(log, "alice").post(b'{"client_id":"alice","type":"Shouted"}')
    await queue_of(signed(log, "alice")).enqueue(Said("alice", 1))
    assert await bob.dequeue() == Said("alice", 1)
    assert [type(each) for each in faults] == [UnsignedMessage, MalformedAction]


async def test_what_was_said_before_is_not_said_again() -> None:
    log = MemoryTransport()
    await queue_of(log).enqueue(Said("alice", 0))
    for number in (1, 2):
        await queue_of(log).enqueue(Said("alice", number))
        await queue_of(log).enqueue(Said("bob", number))
    await log.post(b"rubbish")
    said = await said_before(log, CODEC, "alice", start=1)
    assert said == (Said("alice", 1), Said("alice", 2))
    again = ActionQueue(log, CODEC, start=1, said=said, skip=lambda _: None)
    for number in (1, 2, 3):
        await again.enqueue(Said("alice", number))
    received = [await again.dequeue() for _ in range(5)]
    assert [each for each in received if each.client_id == "alice"] == [*said, Said("alice", 3)]
    assert log.length() == 7


async def test_what_was_still_on_its_way_when_we_were_killed_is_not_said_again() -> None:
    """It comes into the log after we have come back, and have looked what we have said."""

    log = MemoryTransport()
    await queue_of(signed(log, "alice")).enqueue(Said("alice", 1))
    transport = signed(log, "alice")
    length, said = transport.length(), await said_before(transport, CODEC, "alice")
    await signed(log, "alice").post(CODEC.encode(Said("alice", 2)))
    again = ActionQueue(transport, CODEC, said=said, read_to=length)
    for number in (1, 2, 3):
        await again.enqueue(Said("alice", number))
    assert log.length() == 3
    assert [await again.dequeue() for _ in range(3)] == [Said("alice", number) for number in (1, 2, 3)]


async def test_nothing_else_is_said_in_the_place_of_what_was_said_before() -> None:
    log = MemoryTransport()
    await queue_of(log).enqueue(Said("alice", 1))
    again = ActionQueue(log, CODEC, said=await said_before(log, CODEC, "alice"))
    for action in (Said("alice", 2), Left("alice")):
        with raising(SaidOtherwise("alice", "Said", type(action).__name__)):
            await again.enqueue(action)
    assert log.length() == 1
    await again.enqueue(Said("alice", 1))
    await again.enqueue(Said("alice", 2))
    assert log.length() == 2


class Forgetful(MemoryTransport):
    """A log that keeps nothing that has been read: what grows then is the queue's."""

    async def message(self, index: int) -> bytes:
        found = await super().message(index)
        self._messages[index] = b""
        return found


async def test_a_hundred_thousand_actions_keep_their_order_and_leave_no_memory_behind() -> None:
    queue = queue_of(Forgetful())
    for number in range(MANY // 2):
        await queue.enqueue(Said("alice", number))
    for number in range(MANY // 2):
        assert (await queue.dequeue()).number == number  # type: ignore[union-attr]
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        for number in range(MANY // 2):
            await queue.enqueue(Said("alice", number))
            assert (await queue.dequeue()).number == number  # type: ignore[union-attr]
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    pointers = 8 * MANY
    assert after - before < pointers + 50_000
