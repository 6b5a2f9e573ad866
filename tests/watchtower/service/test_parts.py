"""The parts of a watchtower's service that a process shows too slowly: who is let in, for how long, and whose turn it
is."""

from __future__ import annotations

import asyncio
import contextlib
import time

import pytest

from forcemove import ETHER, ForcemoveError, InvalidValue, MalformedBytes, TowerClient
from forcemove.chain.errors import TransactionReverted
from forcemove.protocol.machine.effects import SubmitPayCredit
from forcemove.protocol.rule_errors import ChannelClosed
from forcemove.sender.errors import Overtaken, RevertsAgain
from forcemove.serving.rate import Allowances
from forcemove.watchtower.appointment import MAX_APPOINTMENT, sign_appointment
from forcemove.watchtower.budgeted_sender import AnswerResult
from forcemove.watchtower.errors import BudgetExhausted
from forcemove.watchtower.service.connection_limit import ConnectionLimit
from forcemove.watchtower.service.limits import ServiceLimits
from forcemove.watchtower.service.server import outcome_of
from forcemove.watchtower.service.worker import ServiceWorker, TooManyWaiting
from tests.scenarios.story import ALICE, Story
from tests.watchtower.keeper import TOWER, Keeper, newest, stale

_RUBBISH = b"\x91" * MAX_APPOINTMENT
_PATIENCE = 20.0


def attendant(keeper: Keeper, most: int = 10) -> ServiceWorker:
    mistakes: list[Exception] = []
    return ServiceWorker(keeper.tower, (ALICE.address,), look_every=0.05, max_waiting=most, on_error=mistakes.append)


def test_polls_go_before_what_waits(keeper: Keeper, story: Story) -> None:
    """Somebody sends rubbish without end: there is never a moment at which nothing waits."""

    async def send(door: ServiceWorker) -> None:
        while True:
            with contextlib.suppress(MalformedBytes):
                await door.accept(_RUBBISH)

    async def tell() -> None:
        door = attendant(keeper)
        running = asyncio.create_task(door.run())
        await door.accept(sign_appointment(newest(story), TOWER.address, ALICE))
        flood = [asyncio.create_task(send(door)) for _ in range(5)]
        await asyncio.to_thread(story.challenge, 1, *stale(story))
        end = time.monotonic() + _PATIENCE
        while story.record != (6, False) and time.monotonic() < end:
            await asyncio.sleep(0.05)
        for each in flood:
            each.cancel()
        door.stop()
        await running
        assert story.record == (6, False)

    asyncio.run(tell())


def test_more_than_so_many_do_not_wait(keeper: Keeper, story: Story) -> None:
    async def tell() -> None:
        door = attendant(keeper, most=2)
        body = sign_appointment(newest(story), TOWER.address, ALICE)
        waiting = [asyncio.create_task(door.accept(body)) for _ in range(2)]
        await asyncio.sleep(0)
        with pytest.raises(TooManyWaiting):
            await asyncio.wait_for(door.accept(body), 5)
        door.stop()
        await door.run()
        assert [(await each).turn_num for each in waiting] == [6, 6]

    asyncio.run(tell())


def test_a_group_ends_when_a_poll_is_due(keeper: Keeper, story: Story) -> None:
    """After one appointment at least; those that are left are accepted after the poll."""

    async def tell() -> None:
        door = attendant(keeper)
        waiting = [
            asyncio.create_task(door.accept(sign_appointment(newest(story), TOWER.address, ALICE))) for _ in range(3)
        ]
        await asyncio.sleep(0)
        door.polled_at = time.monotonic() + _PATIENCE
        assert len(list(door._in_time(door._waiting))) == 3
        door.polled_at = 0
        assert len(list(door._in_time(door._waiting))) == 1
        await door._process()
        assert len(door._waiting) == 2
        door.stop()
        await door.run()
        assert [(await each).turn_num for each in waiting] == [6, 6, 6]

    asyncio.run(tell())


# ------------------------------------------------------------------------------------------------------------- the door


async def open_door(limits: ServiceLimits) -> tuple[ConnectionLimit, int]:
    door = ConnectionLimit(asyncio.Protocol, limits)
    url = await door.open("127.0.0.1", 0)
    return door, int(url.rpartition(":")[2])


def test_a_connection_lasts_so_long() -> None:
    async def tell() -> None:
        door, port = await open_door(ServiceLimits(seconds=0.2))
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        async with asyncio.timeout(_PATIENCE):
            with contextlib.suppress(ConnectionError):
                assert await reader.read() == b""
        writer.close()
        assert (door.connections, door.turned_away) == (0, 0)
        door.close()

    asyncio.run(tell())


@pytest.mark.parametrize("limits", [ServiceLimits(connections=2), ServiceLimits(per_address=2)])
def test_so_many_are_let_in(limits: ServiceLimits) -> None:
    async def tell() -> None:
        door, port = await open_door(limits)
        inside = [await asyncio.open_connection("127.0.0.1", port) for _ in range(2)]
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        async with asyncio.timeout(_PATIENCE):
            with contextlib.suppress(ConnectionError):
                assert await reader.read() == b""
        assert (door.connections, door.turned_away) == (2, 1)
        for _, each in [*inside, (reader, writer)]:
            each.close()
        async with asyncio.timeout(_PATIENCE):
            while door.connections:
                await asyncio.sleep(0.01)
        door.close()

    asyncio.run(tell())


# ------------------------------------------------------------------------------------------------------- the allowances


@pytest.mark.parametrize(
    ("address", "place"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        ("fe80::1%eth0", "fe80::"),
        ("", ""),
    ],
)
def test_what_counts_as_one_address(address: str, place: str) -> None:
    allowances = Allowances(1_000)
    assert allowances.take(address, 10_000, 0.0) == 0
    assert allowances.take(place, 1, 0.0) == 8


def test_who_has_sent_too_much_waits_and_nobody_else() -> None:
    allowances = Allowances(1_000)
    assert allowances.take("192.0.2.1", 10_000, 0.0) == 0
    assert allowances.take("192.0.2.1", 1, 0.0) == 8
    assert allowances.take("192.0.2.1", 1, 7.0) == 1  # what was refused has not been charged
    assert allowances.take("192.0.2.2", 1, 0.0) == 0
    assert allowances.take("192.0.2.1", 1, 8.0) == 0


def test_the_smallest_requests_count_for_something() -> None:
    allowances = Allowances(1_024)
    assert [allowances.take("192.0.2.1", 1, 0.0) for _ in range(4)] == [0, 0, 0, 1]


@pytest.mark.parametrize("name", ["connections", "per_address", "bytes_per_second", "waiting", "seconds"])
def test_a_limit_is_above_0(name: str) -> None:
    with pytest.raises(InvalidValue):
        ServiceLimits(**{name: 0})


def test_a_client_wants_a_url_and_an_address() -> None:
    with pytest.raises(InvalidValue):
        TowerClient("ws://127.0.0.1:1", TOWER.address)
    with pytest.raises(InvalidValue):
        TowerClient("http://127.0.0.1:1", b"short")


@pytest.mark.parametrize(
    ("error", "what"),
    [
        (None, "answered"),
        (ChannelClosed(bytes(32)), "not needed any more"),
        (Overtaken(bytes(32), 7, 21_000, None, 5), "not needed any more"),
        (TransactionReverted(bytes(32), 7, 21_000, None), "not needed any more"),
        (RevertsAgain(bytes(32), 7, 21_000, None, 3, 7), "not answered"),
        (BudgetExhausted(bytes(20), bytes(32), 5, 7), "not answered"),
    ],
    ids=str,
)
def test_a_normal_end_is_not_told_as_an_error(error: ForcemoveError | None, what: str) -> None:
    said, facts = outcome_of(AnswerResult(bytes(20), bytes(32), SubmitPayCredit(bytes(20), ETHER, 1), error, None, 0))
    assert said == what
    assert ("error" in facts) == (what == "not answered")
