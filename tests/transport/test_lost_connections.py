"""Connections that are cut or held up, and relays and NATS servers that are killed or lose what they had: time is lost,
nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random

import pytest

from forcemove import ForcemoveError, Key, TableKind, TableTerms, connect_relay
from forcemove.flow.transport import Reader, Transport
from forcemove.transport.errors import LogBegins, LogReplaced, RelayUnreachable, TransportClosed
from tests.certificate import tls_options, trusting
from tests.relay.process import running_relay
from tests.relay.proxy import Proxy
from tests.transport.carriers import CARRIERS, Carriers, through_a_proxy
from tests.transport.people import ALICE, BOB, new_table, read, run


@pytest.fixture(params=list(CARRIERS))
def carriers(request: pytest.FixtureRequest) -> Carriers:
    return CARRIERS[request.param]


@asynccontextmanager
async def joined(url: str, table: TableTerms, key: Key) -> AsyncIterator[Transport]:
    async with connect_relay(url) as place:
        yield await place.join(table, key)


async def test_a_post_whose_acknowledgement_is_lost_is_there_once(carriers: Carriers, tmp_path: Path) -> None:
    async with through_a_proxy(carriers, tmp_path) as (proxy, url, process):
        table = new_table()
        async with joined(url, table, ALICE) as alice, connect_relay(process.url) as spectator:
            await alice.post(b"first")
            log = (await spectator.watch(table.id)).reader(1)
            proxy.loses_answers = True
            posting = asyncio.create_task(alice.post(b"once"))
            assert await log.read() == b"once"
            assert not posting.done()
            proxy.loses_answers = False
            proxy.cut()
            await posting
            await alice.post(b"next")
            assert await log.read() == b"next"
            assert await read(alice.reader(), 3) == [b"first", b"once", b"next"]
            assert alice.length() == 3


async def test_a_post_that_never_arrived_is_posted_again(carriers: Carriers, tmp_path: Path) -> None:
    async with through_a_proxy(carriers, tmp_path) as (proxy, url, _), joined(url, new_table(), ALICE) as alice:
        proxy.hold()
        posting = asyncio.create_task(alice.post(b"once"))
        await proxy.holding.wait()
        proxy.cut()
        proxy.let_go()
        await posting
        await alice.post(b"next")
        assert await read(alice.reader(), 2) == [b"once", b"next"]


@pytest.mark.parametrize("seed", [*range(2), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(2, 60))])
async def test_cuts_at_random_moments_lose_repeat_and_reorder_nothing(
    carriers: Carriers, tmp_path: Path, seed: int
) -> None:
    random = Random(seed)
    async with through_a_proxy(carriers, tmp_path) as (proxy, url, process):
        table = new_table()
        async with (
            joined(url, table, ALICE) as alice,
            joined(url, table, BOB) as bob,
            connect_relay(process.url) as spectator,
        ):
            await alice.post(b"first")
            watched = (await spectator.watch(table.id)).reader()
            async with asyncio.TaskGroup() as group:
                group.create_task(_say(alice, b"a", 150))
                group.create_task(_say(bob, b"b", 150))
                logs = [group.create_task(read(each.reader(), 301)) for each in (alice, bob)]
                seen = [group.create_task(_read_and_cut(watched, 301, proxy, random))]
            orders = [each.result() for each in (*logs, *seen)]
            assert orders[0] == orders[1] == orders[2]
            assert proxy.count > 5
            for name in (b"a", b"b"):
                assert [each for each in orders[0] if each[:1] == name] == _said(name, 150)


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(2, 20))])
async def test_what_was_killed_comes_back_with_all_that_it_has_acknowledged(
    carriers: Carriers, tmp_path: Path, seed: int
) -> None:
    random = Random(seed)
    with carriers.running(tmp_path) as process:
        table = new_table()
        async with joined(process.url, table, ALICE) as alice, joined(process.url, table, BOB) as bob:
            early = alice.reader()
            async with asyncio.TaskGroup() as group:
                speaking = [group.create_task(_say(alice, b"a", 120)), group.create_task(_say(bob, b"b", 120))]
                heard = group.create_task(read(early, 240))
                while not all(each.done() for each in speaking):
                    target = min(240, alice.length() + random.randrange(1, 60))
                    while alice.length() < target:
                        await asyncio.sleep(0)
                    await asyncio.to_thread(process.kill)
                    await asyncio.to_thread(process.start)
            order = heard.result()
            assert await read(bob.reader(), 240) == order
            for name in (b"a", b"b"):
                assert [each for each in order if each[:1] == name] == _said(name, 120)
        async with connect_relay(process.url) as late:
            assert await read((await late.watch(table.id)).reader(), 240) == order


async def test_a_game_ends_when_its_log_is_lost(carriers: Carriers, tmp_path: Path) -> None:
    with carriers.running(tmp_path) as process:
        async with joined(process.url, new_table(), ALICE) as alice:
            reader = alice.reader()
            await _say(alice, b"a", 3)
            await asyncio.to_thread(carriers.forget_everything, process, tmp_path)
            with pytest.raises(LogReplaced) as lost:
                await read(reader, 4)
            assert lost.value.position == 3
            with pytest.raises(LogReplaced):
                await alice.post(b"on an empty log")


async def test_a_channel_goes_on_when_its_log_is_lost(carriers: Carriers, tmp_path: Path) -> None:
    with carriers.running(tmp_path) as process:
        async with joined(process.url, new_table(TableKind.CHANNEL), ALICE) as alice:
            reader = alice.reader()
            await _say(alice, b"a", 3)
            assert await read(reader, 3) == _said(b"a", 3)
            await asyncio.to_thread(carriers.forget_everything, process, tmp_path)
            await alice.post(b"greeting")
            with pytest.raises(LogBegins):
                await reader.read()
            assert await reader.read() == b"greeting"


async def test_nobody_answers(carriers: Carriers) -> None:
    async with Proxy() as proxy:
        proxy.is_refusing = True
        url = proxy.url.replace("ws", carriers.scheme, 1)
        with pytest.raises(RelayUnreachable) as refused:
            async with connect_relay(url, patience=0.5):
                raise AssertionError("nobody has welcomed us")
        assert refused.value.url == url


async def _refused_by(url: str) -> str:
    """Why there is no connection."""
    with pytest.raises(RelayUnreachable) as refused:
        async with connect_relay(url, patience=0.5):
            raise AssertionError("nobody has welcomed us")
    return refused.value.reason


def test_why_no_relay_is_there_is_said_in_words() -> None:
    async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        await writer.drain()
        writer.close()

    async def story() -> None:
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        url = f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        assert await _refused_by(url) == "it answers with HTTP status 404, which no relay does"
        server.close()
        await server.wait_closed()
        assert await _refused_by(url) == "Connection refused"

    run(story())


async def test_what_is_wrong_with_tls_is_said_in_words(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    with running_relay(tmp_path, *tls_options(tmp_path)) as relay, running_relay(tmp_path / "plain") as plain:
        assert "not trusted (self-signed certificate); SSL_CERT_FILE" in await _refused_by(relay.url)
        async with connect_relay(relay.url, ssl=trusting(tmp_path)):
            pass
        assert "begins with wss://" in await _refused_by(relay.url.replace("wss", "ws"))
        assert "does not speak TLS" in await _refused_by(plain.url.replace("ws", "wss"))


async def test_of_a_relay_that_dies_it_is_said_that_the_connection_was_cut_off(tmp_path: Path) -> None:
    heard = asyncio.Queue[ForcemoveError]()
    with running_relay(tmp_path) as relay:
        async with connect_relay(relay.url, on_error=heard.put_nowait) as place:
            await place.join(new_table(), ALICE)
            relay.kill()
            error = await heard.get()
    assert isinstance(error, RelayUnreachable)
    assert error.reason == "the connection was cut off"


async def test_who_waits_is_told_when_the_connection_is_given_up(carriers: Carriers, tmp_path: Path) -> None:
    async with through_a_proxy(carriers, tmp_path) as (proxy, url, _):
        async with connect_relay(url) as place:
            alice = await place.join(new_table(), ALICE)
            proxy.hold()
            waiting = [asyncio.create_task(alice.post(b"late")), asyncio.create_task(_read_one(alice))]
            await proxy.holding.wait()
        for each in await asyncio.gather(*waiting, return_exceptions=True):
            assert isinstance(each, TransportClosed)


async def test_who_leaves_a_table_leaves_the_others_alone(carriers: Carriers, tmp_path: Path) -> None:
    with carriers.running(tmp_path) as process:
        tables = new_table(), new_table()
        async with connect_relay(process.url) as place:
            first, second = [await place.join(table, ALICE) for table in tables]
            waiting = asyncio.create_task(_read_one(first))
            await asyncio.sleep(0)
            place.leave(tables[0].id)
            with pytest.raises(TransportClosed):
                await waiting
            with pytest.raises(TransportClosed):
                await first.post(b"gone")
            await second.post(b"here")
            again = await place.join(tables[0], ALICE)
            await again.post(b"back")
            assert await again.reader().read() == b"back"


async def test_it_is_said_whether_there_is_a_connection(carriers: Carriers, tmp_path: Path) -> None:
    with carriers.running(tmp_path) as process:
        async with connect_relay(process.url) as place:
            for is_there, change in ((True, None), (False, process.kill), (True, process.start)):
                if change is not None:
                    change()
                while place.is_connected is not is_there:
                    await asyncio.sleep(0.01)


# ---------------------------------------------------------------------------------------------------------------- parts


def _said(name: bytes, number: int) -> list[bytes]:
    return [name + b"%d" % each for each in range(number)]


async def _say(transport: Transport, name: bytes, number: int) -> None:
    for each in _said(name, number):
        await transport.post(each)


async def _read_one(transport: Transport) -> bytes:
    return await transport.reader(transport.length()).read()


async def _read_and_cut(reader: Reader, number: int, proxy: Proxy, random: Random) -> list[bytes]:
    seen = []
    for _ in range(number):
        seen.append(await reader.read())
        if random.randrange(25) == 0:
            proxy.cut()
    return seen
