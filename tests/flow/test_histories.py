"""A log that is shown differently to two clients is found out, and one that is shown alike never is."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forcemove.errors import ForcemoveError, InvalidValue
from forcemove.flow.history import NOTHING_READ, History
from forcemove.flow.keys import Table, exchange_keys
from forcemove.flow.queue import FAULTS
from forcemove.flow.signed import LogChanged, LogsDiffer, SignedTransport, UnsignedMessage
from forcemove.flow.transport import MemoryTransport, Reader, TransportFault
from tests.flow.table import ADDRESSES, CODEC, KEYS, NAMES, TABLE_ID, Said, signed
from tests.flow.test_signed import envelope, packed, shown
from tests.flow.virtual_time import run_virtual

pytestmark = pytest.mark.virtual_time

THREE = NAMES[:3]
HOUR = 3600.0


def said(name: str, sequence: int, number: int = 0) -> bytes:
    """An entry of a client that has been told nothing."""
    return packed(envelope(CODEC.encode(Said(name, number)), sequence, KEYS[name]))


TALE = (said("alice", 0), said("bob", 0), said("carol", 0), b"rubbish", said("carol", 1))
"""What Alice reads. Everybody takes each of its entries for genuine, but for the rubbish."""


async def log_of(entries: Sequence[bytes]) -> MemoryTransport:
    log = MemoryTransport()
    for each in entries:
        await log.post(each)
    return log


async def read_all(reader: Reader, count: int) -> list[bytes | ForcemoveError]:
    received: list[bytes | ForcemoveError] = []
    for _ in range(count):
        try:
            received.append(await reader.read())
        except FAULTS as fault:
            received.append(fault)
    return received


async def next_action(name: str, log: MemoryTransport) -> bytes:
    """The entry that a client posts that has read all of a log."""
    await signed(log, name).post(CODEC.encode(Said(name, 99)))
    return await log.reader(log.length() - 1).read()


def found_by_bob(tale: Sequence[bytes]) -> list[bytes | ForcemoveError]:
    """What Bob reads, who was shown this, when Alice, who was shown `TALE`, has said something after it."""

    async def scenario() -> list[bytes | ForcemoveError]:
        action = await next_action("alice", await log_of(TALE))
        bobs = await log_of((*tale, action))
        return await read_all(signed(bobs, "bob").reader(), bobs.length())

    return run_virtual(scenario())


# ------------------------------------------------------------------------------------------------------ two histories

LIES = {
    "reordered": (TALE[0], TALE[2], TALE[1], *TALE[3:]),
    "the last one left out": TALE[:-1],
    "the last two left out": TALE[:-2],
    "one replaced that its client has signed twice": (*TALE[:-1], said("carol", 1, 7)),
    "rubbish replaced": (*TALE[:3], b"garbage", *TALE[4:]),
    "rubbish left out": (*TALE[:3], *TALE[4:]),
    "rubbish put in": (b"rubbish", *TALE),
    "nothing told at all": (TALE[0],),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_log_that_was_told_differently_is_found_out_at_the_next_action(lie: str) -> None:
    """And not before: all that is in it is genuine."""
    tale = LIES[lie]
    *before, last = found_by_bob(tale)
    assert last == LogsDiffer("alice", len(tale), len(TALE))
    assert all(isinstance(each, bytes | UnsignedMessage) for each in before)


def test_a_log_that_was_told_alike_is_none() -> None:
    *_, last = found_by_bob(TALE)
    assert last == CODEC.encode(Said("alice", 99))


async def test_what_was_told_after_an_action_is_found_out_at_the_one_after_it() -> None:
    """Bob is shown an entry before Alice's that Alice is not shown: it may have crossed hers, as far as Bob can see."""

    alices, bobs = await log_of(TALE), await log_of((*TALE, said("carol", 2)))
    alice, bob = signed(alices, "alice"), signed(bobs, "bob").reader()
    await alice.post(CODEC.encode(Said("alice", 1)))
    await bobs.post(await alices.reader(len(TALE)).read())
    received = await read_all(bob, bobs.length())
    assert received[-1] == CODEC.encode(Said("alice", 1))
    await read_all(alice.reader(), alices.length())
    await alice.post(CODEC.encode(Said("alice", 2)))
    await bobs.post(await alices.reader(len(TALE) + 1).read())
    assert await read_all(bob, 1) == [LogsDiffer("alice", len(TALE) + 2, len(TALE) + 1)]


@given(st.permutations(TALE), st.integers(0, len(TALE)))
@settings(max_examples=100)
def test_whatever_else_is_told_is_found_out(tale: list[bytes], length: int) -> None:
    """At Alice's action, or at what is missing before it."""
    last = found_by_bob(tale[:length])[-1]
    assert isinstance(last, bytes) == (tuple(tale[:length]) == TALE)


async def test_after_a_lie_every_action_of_that_client_tells() -> None:
    """Its messages are counted all the same, so that nothing else is found wrong with them."""

    alices, bobs = await log_of(TALE), await log_of(TALE[:-1])
    alice = signed(alices, "alice")
    for number in range(3):
        await alice.post(CODEC.encode(Said("alice", number)))
        await bobs.post(await alices.reader(len(TALE) + number).read())
    received = await read_all(signed(bobs, "bob").reader(), bobs.length())
    assert received[-3:] == [LogsDiffer("alice", len(TALE) - 1 + number, len(TALE)) for number in range(3)]


@pytest.mark.parametrize("count", [6, 7, 1_000, 2**64 - 1])
async def test_nobody_has_read_what_comes_later(count: int) -> None:
    """Not even what will come, which a client might know that reads everything first."""
    action = packed(envelope(CODEC.encode(Said("alice", 9)), 1, KEYS["alice"], read=(count, shown(*TALE, b"x")[1])))
    bobs = await log_of((*TALE, action, b"x"))
    received = await read_all(signed(bobs, "bob").reader(), bobs.length())
    assert received[len(TALE)] == LogsDiffer("alice", len(TALE), count)


@pytest.mark.parametrize("count", range(len(TALE) + 1))
def test_who_has_read_less_says_so(count: int) -> None:
    """Also nothing at all: no entry, and 32 bytes of zero. The hash must be that of as many entries."""

    def found(read: tuple[int, bytes]) -> bytes | ForcemoveError:
        action = packed(envelope(CODEC.encode(Said("alice", 9)), 1, KEYS["alice"], read=read))

        async def scenario() -> bytes | ForcemoveError:
            bobs = await log_of((*TALE, action))
            return (await read_all(signed(bobs, "bob").reader(), bobs.length()))[-1]

        return run_virtual(scenario())

    assert found(shown(*TALE[:count])) == CODEC.encode(Said("alice", 9))
    assert found((count, shown(*TALE, b"more")[1])) == LogsDiffer("alice", len(TALE), count)


# ----------------------------------------------------------------------------------------------------- one history


class Fickle(MemoryTransport):
    """A log that tells one reader after the other something else."""

    def __init__(self, *tales: Sequence[bytes]) -> None:
        super().__init__()
        self._tales = iter(tales)

    def reader(self, start: int = 0) -> Reader:
        return _Teller(list(next(self._tales))[start:])


class _Teller:
    def __init__(self, entries: list[bytes]) -> None:
        self._entries = iter(entries)

    async def read(self) -> bytes:
        for entry in self._entries:
            return entry
        await asyncio.Future[None]()
        raise AssertionError


async def test_a_log_that_tells_us_something_else_than_before_is_found_out() -> None:
    """By whichever of our readers hears it; and what it says from there on is not believed."""

    other = (*TALE[:3], b"garbage", TALE[4], said("alice", 1), said("bob", 1))
    transport = signed(Fickle(TALE, other, TALE), "bob")
    assert isinstance((await read_all(transport.reader(), len(TALE)))[-1], bytes)
    received = await read_all(transport.reader(), len(other))
    assert received[4:] == [LogChanged(4), LogChanged(5), LogChanged(6)]
    assert isinstance((await read_all(transport.reader(), len(TALE)))[-1], bytes)


async def test_who_comes_back_to_another_log_finds_it_out_at_its_own_action() -> None:
    """A client that has crashed knows nothing but its key. What it has said itself tells what was there before it."""

    action = await next_action("bob", await log_of(TALE))
    changed = await log_of((*TALE[:2], b"something else", *TALE[3:], action))
    received = await read_all(signed(changed, "bob").reader(), len(TALE) + 1)
    assert received[-1] == LogsDiffer("bob", len(TALE), len(TALE))


async def test_who_comes_back_to_another_log_signs_no_place_twice() -> None:
    action = await next_action("bob", await log_of(TALE))
    changed = await log_of((b"something else", *TALE[1:], action))
    await signed(changed, "bob").post(CODEC.encode(Said("bob", 5)))
    *_, last = await read_all(changed.reader(), changed.length())
    assert isinstance(last, bytes)
    assert last.startswith(b"[1,2,")


class _Gappy:
    def __init__(self, inner: Reader, gaps: frozenset[int]) -> None:
        self._inner, self._gaps, self._next = inner, gaps, 0

    async def read(self) -> bytes:
        entry, position = await self._inner.read(), self._next
        self._next += 1
        if position in self._gaps:
            raise TransportFault
        return entry


class Gappy(MemoryTransport):
    """A log that has lost some entries, and says so in their place."""

    def __init__(self, *gaps: int) -> None:
        super().__init__()
        self._gaps = frozenset(gaps)

    def reader(self, start: int = 0) -> Reader:
        return _Gappy(super().reader(start), self._gaps)


def test_beyond_a_gap_what_others_have_read_is_not_known() -> None:
    """The gap is the fault. Up to it, histories are compared; and what comes later nobody has read there either."""

    async def scenario(*reads: tuple[int, bytes]) -> list[bytes | ForcemoveError]:
        log = Gappy(2)
        for shown_ in TALE:
            await log.post(shown_)
        for sequence, read in enumerate(reads):
            await log.post(packed(envelope(CODEC.encode(Said("alice", 9)), sequence + 1, KEYS["alice"], read=read)))
        bob = signed(log, "bob")
        received = await read_all(bob.reader(), log.length())
        await bob.post(CODEC.encode(Said("bob", 5)))
        entry = (await read_all(MemoryTransport.reader(log), log.length()))[-1]
        assert isinstance(entry, bytes)
        assert entry.startswith(b'[1,1,2,"0x' + shown(*TALE[:2])[1].hex().encode())
        return received[len(TALE) :]

    action = CODEC.encode(Said("alice", 9))
    known, unknown = shown(*TALE[:2]), shown(*TALE)
    assert run_virtual(scenario(known, unknown)) == [action, action]
    received = run_virtual(scenario((2, bytes(32)), (99, bytes(32))))
    assert received == [LogsDiffer("alice", 5, 2), LogsDiffer("alice", 6, 99)]


@st.composite
def happenings(draw: st.DrawFn) -> list[tuple[str, str]]:
    kinds = st.sampled_from(("say", "say", "read", "read again", "come back", "rubbish"))
    return draw(st.lists(st.tuples(kinds, st.sampled_from(THREE)), max_size=25))


@given(happenings())
@settings(max_examples=100)
def test_a_log_that_all_are_told_alike_is_never_accused(scenario_: list[tuple[str, str]]) -> None:
    """However much of it each reader reads and when, with several readers, with rubbish in it, and after crashes."""

    async def scenario() -> None:
        log = MemoryTransport()
        transports = {name: signed(log, name) for name in THREE}
        for number, (kind, name) in enumerate(scenario_):
            if kind == "say":
                await transports[name].post(CODEC.encode(Said(name, number)))
            elif kind == "rubbish":
                await log.post(b"rubbish %d" % number)
            elif kind == "come back":
                transports[name] = signed(log, name)
            else:
                await read_all(transports[name].reader(), log.length() // (2 if kind == "read" else 1))
        for transport in transports.values():
            received = await read_all(transport.reader(), log.length())
            assert len([each for each in received if isinstance(each, UnsignedMessage)]) == sum(
                kind == "rubbish" for kind, _ in scenario_
            )
            assert all(isinstance(each, bytes | UnsignedMessage) for each in received)

    run_virtual(scenario())


# ------------------------------------------------------------------------------------------------------- key exchange


async def meet(names: Sequence[str], log: MemoryTransport) -> dict[str, Table]:
    expected = [ADDRESSES[name] for name in names]
    joining = (exchange_keys(log, TABLE_ID, name, KEYS[name], expected, within=HOUR) for name in names)
    return dict(zip(names, await asyncio.gather(*joining), strict=True))


async def test_keys_that_came_in_another_order_for_somebody_else_are_found_out() -> None:
    """The order is the order of turns. What was said in the exchange is part of what has been read."""

    first = MemoryTransport()
    await meet(NAMES[:2], first)
    keys = [await first.reader(index).read() for index in range(2)]
    alices, bobs = await log_of(keys), await log_of(keys[::-1])
    alice, bob = await meet(NAMES[:2], alices), await meet(NAMES[:2], bobs)
    assert list(alice["alice"].keys) == list(bob["bob"].keys)[::-1]
    await alice["alice"].transport.post(CODEC.encode(Said("alice", 1)))
    await bobs.post(await alices.reader(2).read())
    assert await read_all(bob["bob"].transport.reader(), 1) == [LogsDiffer("alice", 2, 2)]


async def test_after_an_exchange_what_was_said_in_it_counts() -> None:
    log = await log_of([b"what was before"])
    expected = [ADDRESSES[name] for name in NAMES[:2]]
    tables = await asyncio.gather(
        *(exchange_keys(log, TABLE_ID, name, KEYS[name], expected, start=1) for name in NAMES[:2])
    )
    await tables[0].transport.post(CODEC.encode(Said("alice", 1)))
    keys = [await log.reader(index).read() for index in (1, 2)]
    entry = await log.reader(3).read()
    assert entry.startswith(b'[1,0,2,"0x' + shown(*keys)[1].hex().encode())
    assert await tables[1].transport.reader().read() == CODEC.encode(Said("alice", 1))


# ---------------------------------------------------------------------------------------------------------------- cost


def test_a_history_costs_32_bytes_an_entry() -> None:
    history = History()
    for entry in TALE:
        history.add(entry)
    assert history.hashes[:32] == NOTHING_READ
    assert len(history.hashes) == 32 * (len(TALE) + 1)
    assert (history.count, history.at(history.count)) == shown(*TALE)
    assert [history.at(count) for count in range(history.count)] == [shown(*TALE[:n])[1] for n in range(len(TALE))]


@pytest.mark.parametrize("hashes", [b"", bytes(31), bytes(33), b"\x01" * 32])
def test_a_history_begins_with_nothing(hashes: bytes) -> None:
    with pytest.raises(InvalidValue):
        SignedTransport(MemoryTransport(), TABLE_ID, KEYS["bob"], ADDRESSES, read=hashes)


async def test_readers_of_one_transport_share_its_history() -> None:
    transport = SignedTransport(await log_of(TALE), TABLE_ID, KEYS["bob"], ADDRESSES)
    for _ in range(3):
        await read_all(transport.reader(), len(TALE))
    assert transport._history.count == len(TALE)
