"""Key exchange: everybody ends with the same keys, or with the same error that names the culprit."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from random import Random
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forcemove import ForcemoveError, InvalidValue, Key, UnknownVersion
from forcemove.flow import keys
from forcemove.flow.actions import ActionCodec, MalformedAction
from forcemove.flow.transport import MemoryTransport, Transport
from forcemove.protocol.codec.json_text import hex_text
from forcemove.protocol.encoding import key_digest
from tests.flow.table import ADDRESSES, KEYS, MALLORY, NAMES, TABLE_ID, Delayed, Said, queue_of
from tests.flow.virtual_time import at_every_wait, cancelled_at, run_virtual

pytestmark = pytest.mark.virtual_time

HOUR = 3600.0
EXCHANGE = ActionCodec(keys.KeyExchange)


def posted(client_id: str, key: Key, *, by: Key | None = None, table: bytes = TABLE_ID) -> keys.KeyExchange:
    signature = (by or key).sign(key_digest(table, client_id, key.public_key))
    return keys.KeyExchange(client_id, hex_text(key.public_key), hex_text(signature.compact))


async def join(log: Transport, name: str, names: Sequence[str]) -> keys.Table:
    return await keys.exchange_keys(log, TABLE_ID, name, KEYS[name], [ADDRESSES[each] for each in names], within=HOUR)


async def together(*joining: Coroutine[Any, Any, keys.Table]) -> list[keys.Table | BaseException]:
    return list(await asyncio.gather(*joining, return_exceptions=True))


def meet(names: Sequence[str], log: MemoryTransport | None = None) -> list[keys.Table | BaseException]:
    """What each of these clients ends with, who expect each other."""
    shared = log or MemoryTransport()
    return run_virtual(together(*(join(shared, name, names) for name in names)))


def meet_after(
    *said: keys.KeyExchange | bytes, names: Sequence[str] = ("alice", "bob")
) -> list[keys.Table | BaseException]:
    """The same where this is on the log already."""

    async def scenario() -> list[keys.Table | BaseException]:
        log = MemoryTransport()
        for each in said:
            await log.post(each if isinstance(each, bytes) else EXCHANGE.encode(each))
        return await together(*(join(log, name, names) for name in names))

    return run_virtual(scenario())


@pytest.mark.parametrize("count", [2, 3, 8])
@settings(max_examples=25)
@given(data=st.data())
def test_all_end_with_the_same_keys_in_whatever_order_they_come(count: int, data: st.DataObject) -> None:
    names = data.draw(st.permutations(NAMES[:count]))
    random = Random(data.draw(st.integers(0, 2**32)))

    async def scenario() -> None:
        log = MemoryTransport()
        tables = await asyncio.gather(*(join(Delayed(log, random), name, names) for name in names))
        assert {tuple(table.keys.items()) for table in tables} == {tuple(tables[0].keys.items())}
        assert dict(tables[0].keys) == {name: ADDRESSES[name] for name in names}

    run_virtual(scenario())


@pytest.mark.parametrize("count", [2, 3, 8])
@settings(max_examples=10)
@given(random=st.randoms(use_true_random=False))
def test_no_message_of_a_faster_peer_is_lost(count: int, random: Random) -> None:
    """A client that is done speaks at once; everybody hears everything, signed, from the first word on."""
    names = NAMES[:count]

    async def play(log: Transport, name: str) -> list[object]:
        table = await join(log, name, names)
        queue = queue_of(table.transport)
        await queue.enqueue(Said(name, 1))
        await queue.enqueue(Said(name, 2))
        return [await queue.dequeue() for _ in range(2 * count)]

    async def scenario() -> None:
        log = MemoryTransport()
        received = await asyncio.gather(*(play(Delayed(log, random), name) for name in names))
        assert all(each == received[0] for each in received)
        assert {(said.client_id, said.number) for said in received[0]} == {(n, i) for n in names for i in (1, 2)}  # type: ignore[attr-defined]

    run_virtual(scenario())


async def test_what_follows_must_be_signed() -> None:
    log = MemoryTransport()
    alice, _ = await asyncio.gather(*(join(log, name, NAMES[:2]) for name in NAMES[:2]))
    await queue_of(log).enqueue(Said("bob", 1))
    with pytest.raises(ForcemoveError, match="UnsignedMessage"):
        await queue_of(alice.transport).dequeue()


@pytest.mark.parametrize(
    ("action", "error"),
    [
        (posted("mallory", MALLORY), keys.KeyNotExpected("mallory", MALLORY.address)),
        (posted("alice", MALLORY), keys.KeyNotExpected("alice", MALLORY.address)),
        (posted("mallory", KEYS["bob"], by=MALLORY), keys.KeyNotProven("mallory")),
        (posted("bob", KEYS["bob"], table=bytes(32)), keys.KeyNotProven("bob")),
        (posted("alice", KEYS["bob"]), keys.ClientTwice("alice", ADDRESSES["alice"])),
    ],
    ids=["a stranger", "under a guest's name", "somebody else's key", "from another table", "under another's name"],
)
def test_all_end_with_the_same_error(action: keys.KeyExchange, error: ForcemoveError) -> None:
    assert meet_after(action) == [error, error]


def test_nobody_comes_twice() -> None:
    alice = posted("alice", KEYS["alice"])
    assert meet_after(alice, alice) == [keys.ClientTwice("alice", ADDRESSES["alice"])] * 2


@pytest.mark.parametrize(
    "message",
    [
        b"",
        b'{"client_id":"mallory","number":1,"type":"Said"}',
        b'{"public_key":"0x00","signature":"0x00","type":"KeyExchange","version":1}',
        EXCHANGE.encode(keys.KeyExchange("mallory", "no hex", "0x" + "00" * 64)),
        EXCHANGE.encode(keys.KeyExchange("mallory", "0x02" + "ff" * 32, "0x" + "00" * 64)),
        EXCHANGE.encode(keys.KeyExchange("mallory", hex_text(KEYS["bob"].public_key), "0x00")),
        EXCHANGE.encode(keys.KeyExchange("bob", hex_text(KEYS["bob"].public_key).upper(), "0x" + "00" * 64)),
        EXCHANGE.encode(posted("bob", KEYS["bob"])).replace(b',"version":1', b""),
        EXCHANGE.encode(posted("bob", KEYS["bob"])).replace(b'"version":1', b'"version":"1"'),
    ],
    ids=["nothing", "wrong type", "no name", "no hex", "no point", "short signature", "upper case", "none", "text"],
)
def test_what_is_no_key_is_refused_by_all(message: bytes) -> None:
    first, second = meet_after(message)
    assert isinstance(first, MalformedAction)
    assert first == second


def test_a_key_of_another_version_says_which() -> None:
    """Also where it is written in another way."""
    newer = EXCHANGE.encode(posted("bob", KEYS["bob"])).replace(b'"version":1', b'"version":2')
    for message in (newer, newer.replace(b"public_key", b"public_keys")):
        assert meet_after(message) == [UnknownVersion("key of a table", 2, 1)] * 2


class Fault(NamedTuple):
    """Something that should not happen, and what it may end with if it happens before all have come."""

    message: bytes | None
    errors: tuple[ForcemoveError, ...]


def faults(names: Sequence[str]) -> list[Fault]:
    first, last = names[0], names[-1]
    return [
        Fault(None, ()),
        Fault(EXCHANGE.encode(posted(first, KEYS[first])), (keys.ClientTwice(first, ADDRESSES[first]),)),
        Fault(EXCHANGE.encode(posted("mallory", KEYS[first], by=MALLORY)), (keys.KeyNotProven("mallory"),)),
        Fault(EXCHANGE.encode(posted("mallory", MALLORY)), (keys.KeyNotExpected("mallory", MALLORY.address),)),
        Fault(
            EXCHANGE.encode(posted(first, KEYS[last])),
            (
                keys.KeyTwice(first, ADDRESSES[last]),
                keys.ClientTwice(first, ADDRESSES[last]),
                keys.ClientTwice(first, ADDRESSES[first]),
                keys.KeyTwice(last, ADDRESSES[last]),
            ),
        ),
    ]


@pytest.mark.parametrize("count", [2, 3, 8])
@settings(max_examples=40)
@given(data=st.data())
def test_whatever_happens_and_when_all_end_alike(count: int, data: st.DataObject) -> None:
    """A duplicate, an impostor, a stranger, and somebody who falls silent, alone or together."""
    names = data.draw(st.permutations(NAMES[:count]))
    silent = data.draw(st.sampled_from([None, *names[1:]]))
    fault = data.draw(st.sampled_from(faults(names)))
    pause = data.draw(st.integers(0, 30))
    random = Random(data.draw(st.integers(0, 2**32)))

    async def disturb(log: Transport) -> None:
        for _ in range(pause):
            await asyncio.sleep(0)
        if fault.message is not None:
            await log.post(fault.message)

    async def scenario() -> list[keys.Table | BaseException]:
        log = MemoryTransport()
        disturbing = asyncio.create_task(disturb(log))
        ends = await together(*(join(Delayed(log, random), name, names) for name in names if name != silent))
        await disturbing
        return ends

    ends = run_virtual(scenario())
    if all(isinstance(each, keys.Table) for each in ends):
        assert silent is None
        assert len({tuple(each.keys.items()) for each in ends if isinstance(each, keys.Table)}) == 1
    else:
        allowed = (*fault.errors, *([keys.KeysMissing((ADDRESSES[silent],), HOUR)] if silent else []))
        assert ends[0] in allowed
        assert all(each == ends[0] for each in ends)


def test_one_key_has_one_name() -> None:
    robert = posted("robert", KEYS["bob"])
    assert meet_after(robert, names=NAMES[:3]) == [keys.KeyTwice("bob", ADDRESSES["bob"])] * 3


def test_who_has_come_under_another_name_does_not_go_on_under_this_one() -> None:
    """The key's owner has said so itself; for everybody else that is its name."""
    alice, bob = meet_after(posted("robert", KEYS["bob"]))
    assert isinstance(alice, keys.Table)
    assert dict(alice.keys) == {"robert": ADDRESSES["bob"], "alice": ADDRESSES["alice"]}
    assert bob == keys.KeyTwice("bob", ADDRESSES["bob"])


def test_a_signature_that_nobody_can_have_made_proves_nothing() -> None:
    forged = keys.KeyExchange("bob", hex_text(KEYS["bob"].public_key), "0x" + "ff" * 64)
    assert meet_after(forged) == [keys.KeyNotProven("bob")] * 2


def test_who_falls_silent_is_named() -> None:
    names = NAMES[:3]

    async def scenario() -> list[keys.Table | BaseException]:
        log = MemoryTransport()
        return await together(*(join(log, name, names) for name in names[:2]))

    assert run_virtual(scenario()) == [keys.KeysMissing((ADDRESSES["carol"],), HOUR)] * 2


async def test_our_own_key_must_be_among_the_expected() -> None:
    log = MemoryTransport()
    with pytest.raises(InvalidValue):
        await keys.exchange_keys(log, TABLE_ID, "mallory", MALLORY, list(ADDRESSES.values()))
    assert log.length() == 0


async def test_an_exchange_can_begin_later_in_a_log() -> None:
    log = MemoryTransport()
    await log.post(b"what was before")
    expected = [ADDRESSES[name] for name in NAMES[:2]]
    tables = await asyncio.gather(
        *(keys.exchange_keys(log, TABLE_ID, name, KEYS[name], expected, start=1) for name in NAMES[:2])
    )
    await queue_of(tables[0].transport).enqueue(Said("alice", 1))
    assert await queue_of(tables[1].transport).dequeue() == Said("alice", 1)


def test_an_exchange_can_be_cancelled_wherever_it_waits() -> None:
    async def scenario(number: int) -> bool:
        log, random = MemoryTransport(), Random(0)
        bob = asyncio.create_task(join(Delayed(log, random), "bob", NAMES[:2]))
        cancelled = await cancelled_at(number, join(Delayed(log, random), "alice", NAMES[:2]))
        bob.cancel()
        await asyncio.gather(bob, return_exceptions=True)
        return cancelled

    assert at_every_wait(scenario) > 3


def test_who_crashes_in_an_exchange_comes_back_to_it() -> None:
    """It does not post its key twice, and ends with the same keys as everybody else."""

    async def scenario(number: int) -> bool:
        log, random, names = MemoryTransport(), Random(0), NAMES[:3]
        others = [asyncio.create_task(join(Delayed(log, random), name, names)) for name in names[1:]]
        crashed = await cancelled_at(number, join(Delayed(log, random), names[0], names))
        back = await join(log, names[0], names)
        assert [(await other).keys for other in others] == [back.keys] * 2
        assert log.length() == 3
        return crashed

    assert at_every_wait(scenario) > 3


def test_turns_follow_the_order_of_arrival() -> None:
    tables = meet(("bob", "alice", "carol"))
    table = tables[0]
    assert isinstance(table, keys.Table)
    order = list(table.keys)
    assert sorted(order) == ["alice", "bob", "carol"]
    assert [keys.next_in_turn(table.keys, each) for each in order] == [*order[1:], order[0]]
    with pytest.raises(InvalidValue):
        keys.next_in_turn(table.keys, "mallory")
