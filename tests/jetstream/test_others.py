"""What others do at the same server: other processes, operators, and strangers that may post."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from multiprocessing import get_context
from pathlib import Path

import nats
import pytest
from nats.aio.client import Client
from nats.js.api import DiscardPolicy, StorageType, StreamConfig

from forcemove import InvalidValue, TableKind, TableTerms
from forcemove.flow.signed import SignedTransport, UnsignedMessage
from forcemove.flow.transport import Transport
from forcemove.transport.errors import LogBegins, Reason, RelayRefused, RelayUnreachable, StreamUnsuitable
from forcemove.transport.jetstream import streams
from forcemove.transport.jetstream.connection import JetStreamConnection
from forcemove.transport.jetstream.streams import STREAMS, subject_of
from forcemove.transport.limits import CHANNEL_ENTRIES, GAME_ENTRIES, MAX_ENTRY
from tests.certificate import make_certificate
from tests.flow.table import ADDRESSES, CODEC, Said
from tests.jetstream.server import NatsServer, publish_raw, running_server
from tests.transport.people import ALICE, BOB, MALLORY, new_table, read, run

POSTS = 300


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NatsServer]:
    with running_server(tmp_path_factory.mktemp("nats")) as server:
        yield server


@asynccontextmanager
async def bare(server: NatsServer) -> AsyncIterator[Client]:
    """A client that is not ours."""
    client = await nats.connect(server.url)
    try:
        yield client
    finally:
        await client.close()


# ------------------------------------------------------------------------------------------------------ other processes


def _post_all(url: str, table: TableTerms, name: str) -> None:
    async def story() -> None:
        async with JetStreamConnection(url) as place:
            transport = await place.join(table, ALICE if name == "a" else BOB)
            for number in range(POSTS):
                await transport.post(b"%s%d" % (name.encode(), number))

    run(story())


async def test_two_processes_post_at_one_table(server: NatsServer) -> None:
    table, context = new_table(), get_context("spawn")
    async with JetStreamConnection(server.url) as here, JetStreamConnection(server.url) as late:
        log = (await here.join(table, ALICE)).reader()
        processes = [context.Process(target=_post_all, args=(server.url, table, name)) for name in "ab"]
        for process in processes:
            process.start()
        order = await read(log, 2 * POSTS)
        for process in processes:
            await asyncio.to_thread(process.join)
            assert process.exitcode == 0
        for name in (b"a", b"b"):
            assert [each for each in order if each[:1] == name] == [b"%s%d" % (name, n) for n in range(POSTS)]
        watched = await late.watch(table.id)
        assert watched.length() == 2 * POSTS
        assert await read(watched.reader(), 2 * POSTS) == order


async def test_a_hundred_tables_at_once(server: NatsServer) -> None:
    tables = [new_table(kind) for kind in (TableKind.GAME, TableKind.CHANNEL) for _ in range(150)]
    async with JetStreamConnection(server.url) as hers, JetStreamConnection(server.url) as his:
        alice = await asyncio.gather(*(hers.join(table, ALICE) for table in tables))
        bob = await asyncio.gather(*(his.join(table, BOB) for table in tables))
        async with asyncio.TaskGroup() as group:
            for name, seat in ((b"a", alice), (b"b", bob)):
                for number, transport in enumerate(seat):
                    group.create_task(_say(transport, b"%s%d " % (name, number), 4))
        for number, pair in enumerate(zip(alice, bob, strict=True)):
            logs = [await read(each.reader(), 8) for each in pair]
            assert logs[0] == logs[1]
            assert set(logs[0]) == {b"%s%d %d" % (name, number, each) for name in (b"a", b"b") for each in range(4)}


async def test_both_are_the_first(server: NatsServer) -> None:
    async with JetStreamConnection(server.url) as hers, JetStreamConnection(server.url) as his:
        for _ in range(20):
            table = new_table()
            seats = await hers.join(table, ALICE), await his.join(table, BOB)
            await asyncio.gather(*(each.post(b"%d" % number) for number in range(3) for each in seats))
            orders = [await read(each.reader(), 6) for each in seats]
            assert orders[0] == orders[1]
            assert sorted(orders[0]) == sorted([b"0", b"1", b"2"] * 2)


async def _say(transport: Transport, name: bytes, number: int) -> None:
    for each in range(number):
        await transport.post(name + b"%d" % each)


# ------------------------------------------------------------------------------------------------------------ operators


GAMES = STREAMS[TableKind.GAME]


@pytest.mark.parametrize(
    ("stream", "setting", "other"),
    [
        (GAMES, "discard", {"discard": DiscardPolicy.OLD, "discard_new_per_subject": False}),
        (GAMES, "discard_new_per_subject", {"discard_new_per_subject": False}),
        (GAMES, "max_msgs_per_subject", {"max_msgs_per_subject": 100}),
        (GAMES, "storage", {"storage": StorageType.MEMORY}),
        (GAMES, "subjects", {"subjects": ["orders.*"]}),
        (GAMES, "max_msg_size", {"max_msg_size": 1_000}),
        (GAMES, "duplicate_window", {"duplicate_window": 1.0}),
        (GAMES, "max_age", {"max_age": 60.0, "duplicate_window": 60.0}),
        (STREAMS[TableKind.CHANNEL], "discard", {"discard": DiscardPolicy.NEW}),
        (streams.BUCKET, "max_msgs_per_subject", {"max_msgs_per_subject": 5}),
    ],
)
async def test_a_stream_of_somebody_else_is_refused_and_not_changed(
    tmp_path: Path, stream: str, setting: str, other: dict[str, object]
) -> None:
    with running_server(tmp_path) as server:
        async with bare(server) as client:
            js = client.jetstream()
            ours = next(each for each in streams.CONFIGS if each.name == stream)
            made = (await js.add_stream(ours.evolve(**other))).config
            with pytest.raises(StreamUnsuitable) as refused:
                async with JetStreamConnection(server.url):
                    raise AssertionError("it would lose messages")
            assert (refused.value.stream, refused.value.setting) == (stream, setting)
            assert (await js.stream_info(stream)).config == made


async def test_an_operator_may_have_limits_and_replicas_of_its_own(tmp_path: Path) -> None:
    with running_server(tmp_path) as server:
        async with bare(server) as client:
            await client.jetstream().add_stream(_games(max_bytes=10**8, max_age=5 * 86_400.0, max_msg_size=-1))
        async with JetStreamConnection(server.url) as place:
            await (await place.join(new_table(), ALICE)).post(b"here")


def _games(**other: object) -> StreamConfig:
    return next(each for each in streams.CONFIGS if each.name == GAMES).evolve(**other)


async def test_a_full_game_takes_no_more_and_a_full_channel_drops_its_oldest(server: NatsServer) -> None:
    game, channel = new_table(), new_table(TableKind.CHANNEL)
    async with JetStreamConnection(server.url), bare(server) as client:
        await _fill(client, subject_of(TableKind.GAME, game.id), GAME_ENTRIES)
        await _fill(client, subject_of(TableKind.CHANNEL, channel.id), CHANNEL_ENTRIES + 10)
    async with JetStreamConnection(server.url) as place:
        full = await place.join(game, ALICE)
        with pytest.raises(RelayRefused) as refused:
            await full.post(b"one more")
        assert refused.value.reason is Reason.TABLE_FULL
        dropping = await place.join(channel, ALICE)
        reader = dropping.reader()
        with pytest.raises(LogBegins):
            await reader.read()
        assert await read(reader, CHANNEL_ENTRIES) == [b"%d" % (10 + number) for number in range(CHANNEL_ENTRIES)]
        await dropping.post(b"newest")
        assert await reader.read() == b"newest"


async def _fill(client: Client, subject: str, entries: int) -> None:
    """The first is marked as such, as ours are."""
    js = client.jetstream(publish_async_max_pending=10_000)
    await js.publish(subject, b"0", headers={"Nats-Expected-Last-Subject-Sequence": "0"})
    for number in range(1, entries):
        await js.publish_async(subject, b"%d" % number)
    await js.publish_async_completed()


async def test_a_server_without_jetstream_is_no_place_for_tables(tmp_path: Path) -> None:
    with running_server(tmp_path, has_jetstream=False) as server, pytest.raises(RelayUnreachable):
        async with JetStreamConnection(server.url, patience=1):
            raise AssertionError("nothing is kept there")


async def test_a_server_that_takes_small_messages_only_is_no_place_for_tables(tmp_path: Path) -> None:
    with running_server(tmp_path, "max_payload: 4096") as server:
        with pytest.raises(RelayUnreachable) as refused:
            async with JetStreamConnection(server.url, patience=1):
                raise AssertionError("our largest entries would be lost")
        assert "max_payload" in refused.value.reason


# ----------------------------------------------------------------------------------------------- who may do what there

USERS = """
authorization {
  users: [
    { user: "operator", password: "p@ss:w/rd" }
    { user: "spectator", password: "looks", permissions: { publish: { deny: ["forcemove.>", "$KV.>"] } } }
  ]
}
"""


async def test_users_have_passwords_which_are_not_shown(tmp_path: Path) -> None:
    with running_server(tmp_path, USERS) as server:
        place = server.url.removeprefix("nats://")
        async with JetStreamConnection(f"nats://operator:p%40ss%3Aw%2Frd@{place}") as known:
            assert known.url == server.url
            await (await known.join(new_table(), ALICE)).post(b"here")
        for stranger in ("", "operator:wrong@", "token@"):
            with pytest.raises(RelayUnreachable) as refused:
                async with JetStreamConnection(f"nats://{stranger}{place}", patience=1):
                    raise AssertionError("it has let a stranger in")
            assert "wrong" not in str(refused.value)
            assert "authorization" in refused.value.reason.lower()


async def test_who_may_not_post_is_told_so_and_may_read(tmp_path: Path) -> None:
    with running_server(tmp_path, USERS) as server:
        place, table = server.url.removeprefix("nats://"), new_table()
        async with (
            JetStreamConnection(f"nats://operator:p%40ss%3Aw%2Frd@{place}") as known,
            JetStreamConnection(f"nats://spectator:looks@{place}") as other,
        ):
            await (await known.join(table, ALICE)).post(b"hers")
            transport = await other.join(table, BOB)
            assert await transport.reader().read() == b"hers"
            with pytest.raises(RelayRefused) as refused:
                await transport.post(b"his")
            assert (refused.value.about, refused.value.reason) == (table.id, Reason.NOT_A_PARTICIPANT)


async def test_tls_is_spoken_where_it_is_asked_for(tmp_path: Path) -> None:
    certificate, key = make_certificate(tmp_path)
    config = f'tls {{ cert_file: "{certificate}", key_file: "{key}" }}'
    with running_server(tmp_path, config) as server:
        trusting = ssl.create_default_context(cafile=certificate)
        url = server.url.replace("nats://", "tls://")
        async with JetStreamConnection(url, ssl=trusting) as place:
            await (await place.join(new_table(), ALICE)).post(b"here")
        with pytest.raises(RelayUnreachable):
            async with JetStreamConnection(url, patience=1):
                raise AssertionError("nobody knows this certificate")


# ------------------------------------------------------------------------------------------------------------ strangers


async def test_what_strangers_post_is_skipped_by_the_signatures_above(server: NatsServer) -> None:
    table = new_table()
    subject = subject_of(TableKind.GAME, table.id)
    async with (
        JetStreamConnection(server.url) as hers,
        JetStreamConnection(server.url) as his,
        bare(server) as other,
    ):
        alice, bob = await hers.join(table, ALICE), await his.join(table, BOB)
        logs = [SignedTransport(each, table.id, key, ADDRESSES) for each, key in ((alice, ALICE), (bob, BOB))]
        strange: list[tuple[bytes, dict[str, str]]] = [
            (b"", {"Status": "100", "Description": "Idle Heartbeat", "Nats-Last-Consumer": "7"}),
            (b"", {"Status": "404"}),
            (b"hello", {"Nats-Msg-Id": "x" * 600}),
            (b"x" * MAX_ENTRY, {}),
        ]
        said = [CODEC.encode(Said("alice", number)) for number in range(2)]
        await logs[0].post(said[0])
        for message, headers in strange:
            await other.jetstream().publish(subject, message, headers=headers)
        await logs[0].post(said[1])
        assert alice.length() == len(strange) + 2
        for log in logs:
            reader = log.reader()
            assert await reader.read() == said[0]
            for _ in strange:
                with pytest.raises(UnsignedMessage):
                    await reader.read()
            assert await reader.read() == said[1]


STRANGE_HEADERS = (
    b"NATS/1.0",
    b"NATS/1.0 ",
    b"N",
    b"NATS/1.0\r\n\xff\xff:\xff\r\n\r\n",
    b"NATS/1.0 \xff\xfe\xff\r\n\r\n",
    b"NATS/1.0 100 Idle Heartbeat\r\nNats-Last-Consumer: 1\r\n\r\n",
    b"NATS/1.0\r\nNats-Msg-Id\r\n : \r\n\r\n",
)


async def test_threat_25_headers_that_are_none_make_nobody_deaf(server: NatsServer) -> None:
    table = new_table()
    async with JetStreamConnection(server.url) as hers, JetStreamConnection(server.url) as his:
        alice = await hers.join(table, ALICE)
        await alice.post(b"first")
        for headers in STRANGE_HEADERS:
            await asyncio.to_thread(publish_raw, server, alice.subject, headers, b"strange")
        await alice.post(b"last")
        bob = await his.join(table, BOB)
        for transport in (alice, bob):
            log = await read(transport.reader(), len(STRANGE_HEADERS) + 2)
            assert log == [b"first", *[b"strange"] * len(STRANGE_HEADERS), b"last"]


async def test_a_log_whose_beginning_is_gone_is_counted_alike_by_all(server: NatsServer) -> None:
    table = new_table()
    async with (
        JetStreamConnection(server.url) as hers,
        JetStreamConnection(server.url) as his,
        bare(server) as other,
    ):
        early = await hers.join(table, ALICE)
        await other.jetstream().publish(subject_of(TableKind.GAME, table.id), b"not marked as the first")
        late = await his.join(table, BOB)
        for transport in (early, late):
            reader = transport.reader()
            with pytest.raises(LogBegins) as begins:
                await reader.read()
            assert begins.value.first == 1
            assert await reader.read() == b"not marked as the first"
            assert transport.length() == 2


async def test_what_is_too_large_is_not_sent(server: NatsServer) -> None:
    async with JetStreamConnection(server.url) as place:
        transport = await place.join(new_table(), ALICE)
        with pytest.raises(InvalidValue):
            await transport.post(b"x" * (MAX_ENTRY + 1))
        await transport.post(b"x" * MAX_ENTRY)
        assert transport.length() == 1


async def test_a_key_of_nobody_at_the_table_does_not_post(server: NatsServer) -> None:
    async with JetStreamConnection(server.url) as place, JetStreamConnection(server.url) as other:
        table = new_table()
        with pytest.raises(InvalidValue):
            await place.join(table, MALLORY)
        await (await place.join(table, ALICE)).post(b"hers")
        with pytest.raises(InvalidValue):
            await place.join(table, BOB)
        spectator = await other.watch(table.id)
        with pytest.raises(InvalidValue):
            await spectator.post(b"from the back")
        with pytest.raises(RelayRefused) as refused:
            await other.watch(bytes(32))
        assert refused.value.reason is Reason.UNKNOWN_TABLE


@pytest.mark.parametrize(
    "url",
    [
        "nats:",
        "nats://",
        "nats://:4222",
        "nats://a:b",
        "nats://a:-1",
        "ws://relay",
        "natsx://relay",
        "nats://" + "x" * 600,
    ],
)
def test_what_is_no_address_of_a_server_is_refused(url: str) -> None:
    with pytest.raises(InvalidValue):
        JetStreamConnection(url)
