"""A relay that repeats, reorders, drops, invents, or shows each client another log: time is lost, nothing else. Where
the order counts it is found out. The liar here is between real clients' transports, below the signatures."""

from __future__ import annotations

import asyncio
from random import Random

import pytest

from forcemove import UINT64_MAX, MalformedBytes, TableKind, TableTerms, UnknownVersion
from forcemove.flow import signed
from forcemove.flow.history import NOTHING_READ
from forcemove.transport import errors, limits, wire
from forcemove.transport.websocket.connection import RelayConnection
from forcemove.transport.websocket.transport import NewConnection, WebSocketTransport
from tests.flow.table import ADDRESSES, CODEC, Said
from tests.relay.strange import Flood
from tests.transport.people import ALICE, BOB, new_table, read


class Seat:
    """A client, and what the relay tells it: the test says."""

    def __init__(self, table: TableTerms, name: str) -> None:
        self.said: list[wire.Message] = []
        self.key = ALICE if name == "alice" else BOB
        self.table, self.name = table, name
        self.line = WebSocketTransport(table.id, table, self.key, self.said.append)
        list(self.line.on_connected(NewConnection("ws://relay", bytes(32), 0)))
        self.on_message(wire.Opened(table.id, table.kind, 0, 0, NOTHING_READ))
        self.log = signed.SignedTransport(self.line, table.id, self.key, ADDRESSES)

    def on_message(self, *messages: wire.FromRelay) -> None:
        for message in messages:
            self.line.on_message(message)

    async def say(self, number: int) -> bytes:
        """The bytes that it posts; the relay says that it has them."""
        posting = asyncio.create_task(self.log.post(CODEC.encode(Said(self.name, number))))
        while not any(isinstance(each, wire.PostEntry) for each in self.said):
            await asyncio.sleep(0)
        post = next(each for each in self.said if isinstance(each, wire.PostEntry))
        self.said.clear()
        self.on_message(wire.Posted(self.table.id, post.id, 0))
        await posting
        return post.entry


async def test_a_relay_that_tells_each_another_order_is_found_out() -> None:
    table = new_table()
    alice, bob = Seat(table, "alice"), Seat(table, "bob")
    first, second = await alice.say(1), await bob.say(2)
    alice.on_message(wire.Entries(table.id, 0, (first, second)))
    bob.on_message(wire.Entries(table.id, 0, (second, first)))
    readers = alice.log.reader(), bob.log.reader()
    for reader in readers:
        await read(reader, 2)
    third = await alice.say(3)
    bob.on_message(wire.Entries(table.id, 2, (third,)))
    with pytest.raises(signed.LogsDiffer):
        await readers[1].read()


@pytest.mark.parametrize("at", [1, 62, 63, 64, 128, 148])
async def test_a_lie_in_the_midst_of_a_long_frame_is_recognised(at: int) -> None:
    """A frame is heard in parts: two entries have changed their places, within one or between two."""

    table = new_table()
    alice, bob, connection = Seat(table, "alice"), Seat(table, "bob"), RelayConnection("ws://relay")
    entries = [await alice.say(number) for number in range(150)]
    entries[at], entries[at + 1] = entries[at + 1], entries[at]
    connection._tables[table.id] = bob.line
    frames = Flood([_frame(wire.Entries(table.id, 0, tuple(entries)))])
    await connection._listen(frames)
    assert bob.line.length() == 150
    reader = bob.log.reader()
    await read(reader, at)
    with pytest.raises(signed.MessagesMissing) as missing:
        await reader.read()
    assert (missing.value.expected, missing.value.sequence) == (at, at + 1)
    assert CODEC.decode(await reader.read()) == Said("alice", at)


async def test_threat_57_what_a_relay_shows_never_or_late_holds_up_no_post() -> None:
    """It has acknowledged it, at its place."""

    table = new_table()
    alice, entries = Seat(table, "alice"), list[bytes]()
    async with asyncio.timeout(10):
        for number in range(3):
            entries.append(await alice.say(number))
    alice.on_message(wire.Entries(table.id, 0, tuple(entries)))
    said = [CODEC.decode(each) for each in await read(alice.log.reader(), 3)]
    assert said == [Said("alice", number) for number in range(3)]


async def test_after_numbers_that_nobody_has_room_for_a_relay_that_is_right_is_understood() -> None:
    table, most = new_table(TableKind.CHANNEL), UINT64_MAX >> 1
    line = Seat(table, "alice").line
    line.on_message(wire.Entries(table.id, most, (b"x", b"y")))
    posting = asyncio.create_task(line.post(b"z"))
    await asyncio.sleep(0)
    for _ in range(2):
        line.lose()
        said = list(line.on_connected(NewConnection("ws://relay", bytes(32), 0)))
        assert [type(each) for each in said] == [wire.Prove, wire.Open, wire.PostEntry]
        assert [wire.decode_to_relay(_frame(each)) for each in said] == [[each] for each in said]
    line.on_message(wire.RequestRefused(table.id, b"", "other-log", "it has 1 entry"))
    line.on_message(wire.Opened(table.id, TableKind.CHANNEL, 0, 1, NOTHING_READ))
    line.on_message(wire.Entries(table.id, 0, (b"right",)))
    reader = line.reader(line._shift)
    assert await reader.read() == b"right"
    posting.cancel()


async def test_what_is_repeated_is_read_once() -> None:
    table = new_table()
    alice = Seat(table, "alice")
    entries = tuple([await alice.say(number) for number in range(4)])
    for first, last in ((0, 2), (0, 2), (1, 3), (0, 4), (2, 4)):
        alice.on_message(wire.Entries(table.id, first, entries[first:last]))
    assert alice.line.length() == 4
    assert await read(alice.line.reader(), 4) == list(entries)


async def test_what_is_repeated_as_something_new_is_recognised() -> None:
    table = new_table()
    alice, bob = Seat(table, "alice"), Seat(table, "bob")
    entry = await alice.say(1)
    bob.on_message(wire.Entries(table.id, 0, (entry, entry)))
    reader = bob.log.reader()
    await reader.read()
    with pytest.raises(signed.MessageReplayed):
        await reader.read()


async def test_what_is_invented_or_of_another_table_is_recognised() -> None:
    table, other = new_table(), new_table()
    bob = Seat(table, "bob")
    foreign = await Seat(other, "alice").say(1)
    bob.on_message(wire.Entries(table.id, 0, (b"", b"rubbish", foreign)))
    reader = bob.log.reader()
    for fault in (signed.UnsignedMessage, signed.UnsignedMessage, signed.BadSignature):
        with pytest.raises(fault):
            await reader.read()


async def test_a_gap_ends_a_game_and_not_a_channel() -> None:
    for kind, error in ((TableKind.GAME, errors.LogReplaced), (TableKind.CHANNEL, errors.LogBegins)):
        table = new_table(kind)
        line = Seat(table, "alice").line
        line.on_message(wire.Entries(table.id, 0, (b"0",)))
        line.on_message(wire.Entries(table.id, 5, (b"5",)))
        reader = line.reader()
        if kind is TableKind.GAME:
            assert await reader.read() == b"0"
        with pytest.raises(error):
            await reader.read()
        if kind is TableKind.CHANNEL:
            assert await reader.read() == b"5"


async def test_a_relay_without_end_does_not_fill_the_memory_of_a_client() -> None:
    table = new_table(TableKind.CHANNEL)
    line = Seat(table, "alice").line
    for number in range(40):
        line.on_message(wire.Entries(table.id, 1_000 * number, (b"x",) * 1_000))
    assert line.length() == 40_000
    reader, kept = line.reader(), 0
    with pytest.raises(errors.LogBegins) as begins:
        await reader.read()
    kept = 40_000 - begins.value.first
    assert limits.CHANNEL_ENTRIES // 2 < kept <= limits.CHANNEL_ENTRIES
    assert await read(reader, kept) == [b"x"] * kept


async def test_threat_40_a_relay_that_welcomes_again_and_again_is_answered_once() -> None:
    table, connection = new_table(), RelayConnection("ws://relay")
    line = WebSocketTransport(table.id, table, ALICE, connection._send)
    connection._tables[table.id] = line
    connection._on_message(wire.Welcome(bytes(32)))
    answered = connection._outbox.size
    assert answered > 0
    for _ in range(100):
        with pytest.raises(MalformedBytes):
            connection._on_message(wire.Welcome(bytes(32)))
    assert connection._outbox.size == answered


@pytest.mark.parametrize("count", [5_000, pytest.param(100_000, marks=pytest.mark.long)])
async def test_threat_25_fuzzed_frames_change_nothing_at_a_client(count: int) -> None:
    random, table = Random(count), new_table()
    seat, connection = Seat(table, "alice"), RelayConnection("ws://relay")
    connection._tables[table.id] = seat.line
    seat.on_message(wire.Entries(table.id, 0, (b"good",)))
    frames = [_frame(each) for each in _every_message(table.id)]
    heard = 0
    for _ in range(count):
        try:
            for message in wire.decode_from_relay(_mutated(random, random.choice(frames))):
                heard += 1
                connection._on_message(message)
        except (MalformedBytes, UnknownVersion, ConnectionError):
            continue  # the connection would be closed
    assert heard > count // 20
    assert await seat.line.reader().read() == b"good"


def _every_message(table: bytes) -> list[wire.FromRelay]:
    return [
        wire.Welcome(bytes(32)),
        wire.Opened(table, TableKind.GAME, 1, 1, bytes(32)),
        wire.Entries(table, 0, (b"good", b"new")),
        wire.Posted(table, bytes(16), 3),
        wire.RequestRefused(table, bytes(16), "busy", "words"),
        wire.RequestRefused(bytes(32), bytes(8), "expired", "words"),
        wire.Proved(table),
        wire.OfferShown(bytes(8), bytes(32), b"offer", bytes(64), False, ((b"join", bytes(64)),), 7),
        wire.OffersListed(bytes(8), ((b"offer", bytes(64), ((b"join", bytes(64)),)),), True),
    ]


def _frame(message: wire.Message) -> bytes:
    outbox = wire.SendBuffer()
    outbox.add(wire.encode(message))
    return outbox.take()


def _mutated(random: Random, frame: bytes) -> bytes:
    changed = bytearray(frame)
    for _ in range(random.randrange(1, 4)):
        at = random.randrange(5, len(changed) + 1)
        if at < len(changed) and random.randrange(2):
            changed[at] = random.randrange(256)
        else:
            changed[at:at] = random.randbytes(random.randrange(3))
    return bytes(changed[: limits.MAX_FRAME])
