"""What strangers send to a relay: an error is returned or the connection closed, and nobody else notices."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from random import Random
from ssl import SSLContext

import aiohttp
import msgspec
import pytest
from msgspec.structs import replace

from forcemove.flow.history import NOTHING_READ, running_hash
from forcemove.transport.errors import Reason, RelayRefused
from forcemove.transport.limits import MAX_ENTRY, MAX_FRAME
from forcemove.transport.terms import TableKind, TableTerms
from forcemove.transport.websocket.connection import RelayConnection
from forcemove.transport.wire import VERSION, Entries, Leave, Open, Opened, Posted, Prove, Proved, RequestRefused
from tests.certificate import tls_options, trusting
from tests.relay.process import RelayProcess, running_relay
from tests.relay.raw import Raw, post, raw
from tests.transport.people import ALICE, BOB, MALLORY, new_table, read, run


@pytest.fixture(scope="module")
def relay(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RelayProcess]:
    with running_relay(tmp_path_factory.mktemp("relay"), "--tables", "1000", "--messages-per-second", "20000") as relay:
        yield relay


async def others_play(relay: RelayProcess, trusted: SSLContext | None = None) -> None:
    """A table that has nothing to do with the attack is served."""
    table = new_table()
    async with RelayConnection(relay.url, ssl=trusted) as connection:
        alice = await connection.join(table, ALICE)
        await alice.post(b"undisturbed")
        assert await alice.reader().read() == b"undisturbed"


# -------------------------------------------------------------------------------------------------------------- frames

_HEAD = VERSION.to_bytes(2)


def _frame(*messages: object) -> bytes:
    return _HEAD + msgspec.msgpack.encode(messages)


_ID = bytes(32)
_PROOF = (1, (1, (ALICE.address,), _ID), ALICE.address, "ws://relay", 1, bytes(64))
MALFORMED: dict[str, bytes] = {
    "nothing": b"",
    "half a version": b"\x00",
    "no messages": _HEAD,
    "version zero": b"\0\0" + _frame()[2:],
    "another version": (VERSION + 1).to_bytes(2) + _frame()[2:],
    "no array": _HEAD + b"\x01",
    "a map": _HEAD + b"\x80",
    "an array that ends too soon": _HEAD + b"\x92\x90",
    "an array of four thousand million": _HEAD + b"\xdd\xff\xff\xff\xff",
    "bytes after the end": _frame() + b"\0",
    "a reserved header": _HEAD + b"\xc1",
    "a message that is not an array": _frame(7),
    "a message without fields": _frame([]),
    "an unknown tag": _frame([99, _ID]),
    "a tag that is text": _frame(["3", _ID]),
    "a field too few": _frame([4]),
    "a field too many": _frame([4, _ID, 0]),
    "an id that is too short": _frame([4, bytes(31)]),
    "an id that is too long": _frame([4, bytes(33)]),
    "an id that is text": _frame([4, "x" * 32]),
    "a place below zero": _frame([2, _ID, -1, None]),
    "a place beyond all": _frame([2, _ID, 2**64 - 1, None]),
    "a place that is a fraction": _frame([2, _ID, 0.5, None]),
    "a hash that is too short": _frame([2, _ID, 1, bytes(31)]),
    "a post's id that is too long": _frame([3, _ID, bytes(17), b"", None]),
    "an entry that is too large": _frame([3, _ID, bytes(16), bytes(MAX_ENTRY + 1), None]),
    "an entry that is text": _frame([3, _ID, bytes(16), "text", None]),
    "a table of a kind that is not there": _frame([1, (3, (ALICE.address,), _ID), *_PROOF[2:]]),
    "a table for nobody": _frame([1, (1, (), _ID), *_PROOF[2:]]),
    "a table with somebody twice": _frame([1, (1, (ALICE.address,) * 2, _ID), *_PROOF[2:]]),
    "a table for nine": _frame([1, (1, tuple(bytes((n,)) * 20 for n in range(1, 10)), _ID), *_PROOF[2:]]),
    "a table for zero": _frame([1, (1, (bytes(20),), _ID), *_PROOF[2:]]),
    "a relay's address without end": _frame([*_PROOF[:3], "x" * 600, *_PROOF[4:]]),
    "text that is not text": _HEAD + b"\x91\x96\x01\x93\x01\x90\xc4\x00\xc4\x00\xa2\xff\xfe",
    "depth without end": _HEAD + b"\x91" * 60_000,
    "maps without end": _HEAD + b"\x91\x92\x04" + b"\x81\x00" * 30_000,
}


@pytest.mark.parametrize("name", MALFORMED)
async def test_threat_25_a_malformed_frame_closes_its_connection_and_no_other(relay: RelayProcess, name: str) -> None:
    async with raw(relay.url) as mallory, raw(relay.url) as other:
        await mallory.socket.send_bytes(MALFORMED[name])
        assert await mallory.closed() == 1007
        await other.say(Open(_ID, 0, None))
        assert (await other.hear(RequestRefused)).reason == Reason.UNKNOWN_TABLE.value


async def test_threat_25_text_is_refused(relay: RelayProcess) -> None:
    async with raw(relay.url) as mallory:
        await mallory.socket.send_str("hello")
        assert await mallory.closed() == 1007


async def test_threat_25_an_oversized_frame_is_refused_before_it_is_read(relay: RelayProcess) -> None:
    async with raw(relay.url) as mallory:
        before = relay.memory()
        await mallory.socket.send_bytes(bytes(MAX_FRAME + 1))
        assert await mallory.closed() == 1009
    async with raw(relay.url) as mallory:
        with pytest.raises((ConnectionError, aiohttp.ClientError)):
            await _send_for_ever(mallory, bytes(2**20))
        assert relay.memory() - before < 2**24
    await others_play(relay)


async def _send_for_ever(mallory: Raw, frame: bytes) -> None:
    while True:
        await mallory.socket.send_bytes(frame)


def _mutated(random: Random, seeds: list[bytes]) -> bytes:
    frame = bytearray(random.choice(seeds))
    for _ in range(random.randrange(1, 8)):
        at = random.randrange(2, len(frame) + 1)
        match random.randrange(4):
            case 0 if at < len(frame):
                frame[at] = random.randrange(256)
            case 1:
                frame[at:at] = random.randbytes(random.randrange(1, 9))
            case 2:
                del frame[at : at + random.randrange(1, 9)]
            case _:
                frame[at:at] = frame[2:at]
    return bytes(frame[:MAX_FRAME])


@pytest.mark.parametrize("count", [2_000, pytest.param(100_000, marks=pytest.mark.long)])
def test_threat_25_fuzzed_frames_disturb_nobody(relay: RelayProcess, count: int) -> None:
    async def story() -> None:
        random = Random(count)
        seeds = [_frame(_PROOF), _frame([2, _ID, 3, _ID], [4, _ID]), _frame([3, _ID, bytes(16), b"entry", None])]
        sent, before = 0, relay.memory()
        while sent < count:
            async with raw(relay.url) as mallory:
                reading = asyncio.create_task(mallory.closed())
                while sent < count and not reading.done():
                    try:
                        await mallory.socket.send_bytes(_mutated(random, seeds))
                    except (ConnectionError, aiohttp.ClientError):
                        break
                    sent += 1
                    await asyncio.sleep(0)
                reading.cancel()
                await asyncio.wait([reading])
        await others_play(relay)
        assert relay.memory() - before < 2**25

    asyncio.run(story())


# -------------------------------------------------------------------------------------------------------------- proofs


Said = Callable[[Raw, TableTerms], Prove]
LATE = 10**6
BAD_PROOFS: dict[str, tuple[Reason, Said]] = {
    "another relay": (Reason.WRONG_RELAY, lambda it, table: it.proof(table, ALICE, relay="ws://127.0.0.1:1")),
    "expired": (Reason.EXPIRED, lambda it, table: it.proof(table, ALICE, expiry=int(time.time()) - 1)),
    "good forever": (Reason.EXPIRED, lambda it, table: it.proof(table, ALICE, expiry=int(time.time()) + LATE)),
    "another table": (Reason.BAD_SIGNATURE, lambda it, table: replace(it.proof(new_table(), ALICE), table=table)),
    "another connection": (Reason.BAD_SIGNATURE, lambda it, table: it.proof(table, ALICE, nonce=bytes(32))),
    "another's key": (
        Reason.BAD_SIGNATURE,
        lambda it, table: replace(it.proof(table, MALLORY, participant=ALICE.address), participant=ALICE.address),
    ),
    "no participant": (Reason.NOT_A_PARTICIPANT, lambda it, table: it.proof(table, MALLORY)),
}


@pytest.mark.parametrize("name", BAD_PROOFS)
async def test_threat_25_a_bad_proof_lets_nobody_post(relay: RelayProcess, name: str) -> None:
    reason, said = BAD_PROOFS[name]
    table = new_table()
    async with raw(relay.url) as mallory:
        await mallory.say(said(mallory, table), post(table, 1, b"forged"), Open(table.id, 0, None))
        refused = await mallory.hear(RequestRefused)
        assert (refused.about, refused.reason) == (table.id, reason.value)
        assert (await mallory.hear(RequestRefused)).reason == Reason.NOT_PROVED.value
        assert (await mallory.hear(RequestRefused)).reason == Reason.UNKNOWN_TABLE.value


async def test_threat_25_a_proof_is_not_replayed_on_another_connection(relay: RelayProcess) -> None:
    table = new_table()
    async with raw(relay.url) as alice, raw(relay.url) as mallory:
        proof = alice.proof(table, ALICE)
        await alice.say(proof)
        await alice.hear(Proved)
        await mallory.say(proof, post(table, 1, b"forged"))
        assert (await mallory.hear(RequestRefused)).reason == Reason.BAD_SIGNATURE.value
        assert (await mallory.hear(RequestRefused)).reason == Reason.NOT_PROVED.value
        assert (await mallory.opened(table.id)).length == 0


async def test_threat_25_a_proof_for_one_table_is_none_for_another(relay: RelayProcess) -> None:
    mine, theirs = new_table(TableKind.GAME, MALLORY.address), new_table()
    async with raw(relay.url) as alice, raw(relay.url) as mallory:
        await alice.say(alice.proof(theirs, ALICE))
        await alice.hear(Proved)
        await mallory.say(mallory.proof(mine, MALLORY), post(theirs, 1, b"forged"), post(mine, 1, b"mine"))
        await mallory.hear(Proved)
        assert (await mallory.hear(RequestRefused)).reason == Reason.NOT_PROVED.value
        assert await mallory.hear(Posted) == Posted(mine.id, (1).to_bytes(16), 0)
        assert (await alice.opened(theirs.id)).length == 0


async def test_others_read_a_table_and_do_not_post(relay: RelayProcess) -> None:
    table = new_table()
    async with raw(relay.url) as alice, raw(relay.url) as carol:
        await alice.say(alice.proof(table, ALICE), post(table, 1, b"said"))
        await alice.hear(Proved)
        await alice.hear(Posted)
        assert (await carol.opened(table.id)).length == 1
        assert await carol.hear(Entries) == Entries(table.id, 0, (b"said",))
        await carol.say(post(table, 1, b"forged"))
        assert (await carol.hear(RequestRefused)).reason == Reason.NOT_PROVED.value


async def test_an_id_is_taken_once_however_often_it_is_posted(relay: RelayProcess) -> None:
    """At many tables: the disk may be quicker than who looks there for what was posted before."""

    async with raw(relay.url) as alice:
        for _ in range(20):
            table = new_table()
            once, again = post(table, 1, b"once"), post(table, 1, b"once", since=0)
            await alice.say(alice.proof(table, ALICE), once, again, again, post(table, 2, b"next"))
            await alice.hear(Proved)
            assert [(await alice.hear(Posted)).index for _ in range(4)] == [0, 0, 0, 1]


async def test_a_log_that_is_not_what_a_client_has_read_is_recognised(relay: RelayProcess) -> None:
    table = new_table()
    async with raw(relay.url) as alice:
        await alice.say(alice.proof(table, ALICE), post(table, 1, b"said"))
        await alice.hear(Proved)
        await alice.hear(Posted)
        told = running_hash(NOTHING_READ, b"said")
        for start, hash_, is_good in ((1, told, True), (1, bytes(32), False), (2, None, False), (0, told, False)):
            await alice.say(Open(table.id, start, hash_))
            answer = await alice.next()
            assert isinstance(answer, Opened if is_good else RequestRefused), (start, answer)


# -------------------------------------------------------------------------------------------------------- floods


async def test_threat_46_a_flood_is_read_no_faster_than_allowed_and_others_play(tmp_path: Path) -> None:
    with running_relay(tmp_path, "--messages-per-second", "100") as slow:
        async with raw(slow.url) as mallory:
            began, before = time.monotonic(), slow.memory()
            flooding = asyncio.create_task(_flood(mallory))
            answers = 0
            while answers < 40:
                await mallory.hear(RequestRefused)
                answers += 1
                if answers == 20:
                    await others_play(slow)
            # Each counts for 14: the first 200 come at once, the other 360 take more than three seconds.
            assert time.monotonic() - began > 3
            assert slow.memory() - before < 2**24
            flooding.cancel()
            mallory.hang_up()


async def _flood(mallory: Raw) -> None:
    while True:
        await mallory.say(Open(_ID, 0, None))
        await asyncio.sleep(0)


async def test_threat_46_a_slow_reader_is_sent_everything_and_holds_up_nobody(relay: RelayProcess) -> None:
    """24 MB wait for it; the relay keeps far less of them in memory."""

    table, count, large = new_table(), 400, bytes(60_000)
    async with raw(relay.url) as slow, RelayConnection(relay.url) as connection:
        alice = await connection.join(table, ALICE)
        await slow.say(slow.proof(table, BOB))  # who does not take part is read to from the disk anyway
        await slow.hear(Proved)
        await slow.opened(table.id)
        await alice.post(b"first")
        before = relay.memory()
        for number in range(count):
            await alice.post(number.to_bytes(2) + large)
        assert (await read(alice.reader(), count + 1))[-1] == (count - 1).to_bytes(2) + large
        assert relay.memory() - before < 12 * 2**20
        entries: list[bytes] = []
        while len(entries) < count + 1:
            message = await slow.hear(Entries)
            assert message.first == len(entries)
            entries += message.entries
        assert entries == [b"first", *(number.to_bytes(2) + large for number in range(count))]


async def test_threat_46_who_never_reads_is_cut_off(tmp_path: Path) -> None:
    with running_relay(tmp_path, "--stall", "0.5") as relay:
        table = new_table()
        async with raw(relay.url) as deaf, RelayConnection(relay.url) as connection:
            alice = await connection.join(table, ALICE)
            await deaf.opened(table.id)
            deaf.stop_reading()
            while "cut a connection off" not in relay.log():
                await alice.post(bytes(60_000))
            await alice.post(b"undisturbed")


async def test_a_full_game_takes_no_more_and_a_full_channel_drops_its_oldest(tmp_path: Path) -> None:
    with running_relay(tmp_path, "--game-entries", "8", "--channel-entries", "8") as relay:
        async with RelayConnection(relay.url) as connection, raw(relay.url) as late:
            game, channel = new_table(TableKind.GAME), new_table(TableKind.CHANNEL)
            for number in range(8):
                await (await connection.join(game, ALICE)).post(b"%d" % number)
            with pytest.raises(RelayRefused) as refused:
                await (await connection.join(game, ALICE)).post(b"8")
            assert refused.value.reason is Reason.TABLE_FULL
            assert (await late.opened(game.id)).length == 8
            await late.hear(Entries)
            for number in range(30):
                await (await connection.join(channel, ALICE)).post(b"%d" % number)
            opened = await late.opened(channel.id)
            assert opened.length == 30
            assert 22 <= opened.start <= 28
            kept = await late.hear(Entries)
            assert list(kept.entries) == [b"%d" % number for number in range(opened.start, 30)]


async def test_tables_and_connections_are_bounded(tmp_path: Path) -> None:
    options = ("--tables", "2", "--per-connection", "1", "--connections", "3", "--per-address", "2")
    with running_relay(tmp_path, *options) as relay:
        async with raw(relay.url) as one, raw(relay.url) as two:
            tables = [new_table() for _ in range(3)]
            await one.say(one.proof(tables[0], ALICE), one.proof(tables[1], ALICE))
            await one.hear(Proved)
            assert (await one.hear(RequestRefused)).reason == Reason.TOO_MANY_TABLES.value
            await two.say(two.proof(tables[1], ALICE), Leave(tables[1].id), two.proof(tables[2], ALICE))
            await two.hear(Proved)
            assert (await two.hear(RequestRefused)).reason == Reason.TOO_MANY_TABLES.value
            with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
                async with raw(relay.url):
                    raise AssertionError("there were two already")
            assert refused.value.status == 503


@pytest.mark.parametrize("count", [300, pytest.param(9_900, marks=pytest.mark.long)])
@pytest.mark.parametrize("is_tls", [False, True], ids=["plain", "tls"])
def test_idle_connections_cost_little(tmp_path: Path, is_tls: bool, count: int) -> None:
    """As many as the relay takes, but for those who play: 10,000 in all, and 100 KB for each. The others do not notice
    them."""

    async def story(relay: RelayProcess) -> None:
        async with AsyncExitStack() as stack:
            before = relay.memory()
            for _ in range(count):
                await stack.enter_async_context(raw(relay.url))
            each = (relay.memory() - before) / count
            print(f"{count} idle connections: {each:,.0f} bytes each")
            await others_play(relay, trusted)
            assert each < 100_000

    options = ["--connections", "20000", "--per-address", "10000", "--connects-per-second", "1000"]
    trusted: SSLContext | None = None
    if is_tls:
        options += tls_options(tmp_path)
        trusted = trusting(tmp_path)
    with running_relay(tmp_path, *options) as relay:
        run(story(relay), patience=300)
