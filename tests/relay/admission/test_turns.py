"""Turns of addresses, in a real event loop: who floods waits, and nobody waits for it."""

from __future__ import annotations

import asyncio
from typing import get_args

import pytest

from forcemove.relay.admission import meter
from forcemove.relay.admission.accounts import AddressAccount
from forcemove.relay.admission.turns import Gate, Turns
from forcemove.relay.limits import Limits
from forcemove.transport.wire import Leave, PostEntry, ToRelay

MALLORY, ALICE = (AddressAccount(host, Limits(), 0.0) for host in ("192.0.2.1", "192.0.2.2"))


async def turns_of_the_loop(number: int) -> None:
    for _ in range(number):
        await asyncio.sleep(0)


async def test_threat_59_a_thousand_proofs_of_one_address_delay_the_first_of_another_by_a_few_turns() -> None:
    turns, done = Turns(at_once=16), 0

    async def prove() -> None:
        nonlocal done
        await turns.wait(MALLORY, 8)
        done += 1

    waiting = [asyncio.create_task(prove()) for _ in range(1_000)]
    await turns_of_the_loop(5)
    before = done
    await turns.wait(ALICE, 8)
    assert done - before <= 4
    await asyncio.gather(*waiting)


async def test_threat_59_little_is_done_in_one_turn_of_the_loop() -> None:
    turns, done, most = Turns(at_once=16), 0, 0

    async def work() -> None:
        nonlocal done
        await turns.wait(MALLORY, 4)
        done += 1

    waiting = [asyncio.create_task(work()) for _ in range(200)]
    while not all(task.done() for task in waiting):
        before = done
        await asyncio.sleep(0)
        most = max(most, done - before)
    assert most <= 2 * 16 // 4


async def test_what_is_little_is_done_at_once() -> None:
    turns, next_turns = Turns(at_once=16), list[None]()
    asyncio.get_running_loop().call_soon(next_turns.append, None)
    for _ in range(16):
        await turns.wait(ALICE, 1)
    assert not next_turns
    await turns.wait(ALICE, 1)
    assert next_turns


async def test_who_has_gone_takes_no_turn() -> None:
    turns = Turns(at_once=1)
    waiting = [asyncio.create_task(turns.wait(MALLORY, 1)) for _ in range(50)]
    await asyncio.sleep(0)
    for task in waiting:
        task.cancel()
    await turns.wait(ALICE, 1)
    await asyncio.wait(waiting)


async def test_players_count_where_work_waits() -> None:
    office = AddressAccount("192.0.2.3", Limits(), 0.0)
    office.players = 10
    turns, order = Turns(at_once=1), list[str]()

    async def work(account: AddressAccount) -> None:
        await turns.wait(account, 1)
        order.append(account.address)

    tasks = [asyncio.create_task(work(each)) for each in (MALLORY, office) for _ in range(100)]
    await asyncio.gather(*tasks)
    assert order[:100].count(office.address) > 75


@pytest.mark.parametrize("width", [1, 2])
async def test_threat_59_a_gate_lets_addresses_in_by_turns(width: int) -> None:
    gate, inside, most, order = Gate(width), 0, 0, list[str]()

    async def enter(account: AddressAccount) -> None:
        nonlocal inside, most
        async with gate.entered(account):
            inside += 1
            most = max(most, inside)
            order.append(account.address)
            await asyncio.sleep(0)
            inside -= 1

    crowd = [asyncio.create_task(enter(MALLORY)) for _ in range(100)]
    await asyncio.sleep(0)
    await asyncio.create_task(enter(ALICE))
    assert order.index(ALICE.address) <= 2 * width + 2
    await asyncio.gather(*crowd)
    assert (inside, most) == (0, width)


async def test_who_leaves_a_gates_queue_holds_up_nobody() -> None:
    gate = Gate(1)

    async def enter(account: AddressAccount) -> None:
        async with gate.entered(account):
            await asyncio.sleep(0)

    async with gate.entered(ALICE):
        waiting = [asyncio.create_task(enter(MALLORY)) for _ in range(3)]
        await asyncio.sleep(0)
        waiting[0].cancel()
    waiting[1].cancel()  # it was let in, and has not gone in yet
    await asyncio.wait(waiting)
    assert waiting[2].done()
    assert not waiting[2].cancelled()
    await enter(ALICE)


def test_every_message_but_a_post_and_a_leave_says_what_it_costs() -> None:
    assert set(meter._COSTS) == set(get_args(ToRelay)) - {PostEntry, Leave}
