"""Connections that are cut or held up, and relays that are killed: time is lost, nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random

import pytest
from aiohttp import web

from forcemove.channel.errors import UnknownVersion
from forcemove.channel.flow.transport import Reader
from forcemove.channel.line.errors import LineClosed, LogBegins, LogReplaced, RelayUnreachable
from forcemove.channel.line.terms import Table, TableKind
from forcemove.channel.line.websocket.connection import RelayConnection
from forcemove.channel.line.websocket.transport import Greeting, WebSocketTransport
from forcemove.channel.line.wire import Open
from forcemove.channel.protocol.signing import Key
from tests.line.people import ALICE, BOB, new_table, read, run
from tests.relay.process import RelayProcess, running_relay
from tests.relay.proxy import Proxy


@asynccontextmanager
async def through_a_proxy(folder: Path, *options: str) -> AsyncIterator[tuple[Proxy, RelayProcess]]:
    """A relay, and a way to it: clients know the relay by the address of the proxy."""
    async with Proxy() as proxy:
        with running_relay(folder, "--url", proxy.url, *options) as relay:
            proxy.target = relay.port
            yield proxy, relay


@asynccontextmanager
async def joined(url: str, table: Table, key: Key) -> AsyncIterator[WebSocketTransport]:
    async with RelayConnection(url) as relay:
        yield await relay.join(table, key)


def test_a_post_whose_acknowledgement_is_lost_is_there_once(tmp_path: Path) -> None:
    async def story() -> None:
        async with through_a_proxy(tmp_path) as (proxy, relay):
            table = new_table()
            async with joined(proxy.url, table, ALICE) as alice, RelayConnection(relay.url) as spectator:
                log = (await spectator.watch(table.id)).reader()
                proxy.loses_answers = True
                posting = asyncio.create_task(alice.post(b"once"))
                assert await log.read() == b"once"
                assert not posting.done()
                proxy.loses_answers = False
                proxy.cut()
                await posting
                await alice.post(b"next")
                assert await log.read() == b"next"
                assert await read(alice.reader(), 2) == [b"once", b"next"]
                assert alice.length() == 2

    run(story())


def test_a_post_that_never_arrived_is_posted_again(tmp_path: Path) -> None:
    async def story() -> None:
        async with through_a_proxy(tmp_path) as (proxy, _), joined(proxy.url, new_table(), ALICE) as alice:
            proxy.hold()
            posting = asyncio.create_task(alice.post(b"once"))
            await proxy.holding.wait()
            proxy.cut()
            proxy.let_go()
            await posting
            await alice.post(b"next")
            assert await read(alice.reader(), 2) == [b"once", b"next"]

    run(story())


@pytest.mark.parametrize("seed", [*range(3), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(3, 60))])
def test_cuts_at_random_moments_lose_repeat_and_reorder_nothing(tmp_path: Path, seed: int) -> None:
    async def story() -> None:
        random = Random(seed)
        async with through_a_proxy(tmp_path) as (proxy, relay):
            table = new_table()
            async with (
                joined(proxy.url, table, ALICE) as alice,
                joined(proxy.url, table, BOB) as bob,
                RelayConnection(relay.url) as spectator,
            ):
                watched = (await spectator.watch(table.id)).reader()
                async with asyncio.TaskGroup() as group:
                    group.create_task(_say(alice, b"a", 150))
                    group.create_task(_say(bob, b"b", 150))
                    logs = [group.create_task(read(each.reader(), 300)) for each in (alice, bob)]
                    seen = [group.create_task(_read_and_cut(watched, 300, proxy, random))]
                orders = [each.result() for each in (*logs, *seen)]
                assert orders[0] == orders[1] == orders[2]
                assert proxy.count > 5
                for name in (b"a", b"b"):
                    assert [each for each in orders[0] if each[:1] == name] == _said(name, 150)

    run(story())


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(2, 20))])
def test_a_killed_relay_comes_back_with_all_that_it_has_acknowledged(tmp_path: Path, seed: int) -> None:
    async def story() -> None:
        random = Random(seed)
        with running_relay(tmp_path) as relay:
            table = new_table()
            async with joined(relay.url, table, ALICE) as alice, joined(relay.url, table, BOB) as bob:
                early = alice.reader()
                async with asyncio.TaskGroup() as group:
                    speaking = [group.create_task(_say(alice, b"a", 120)), group.create_task(_say(bob, b"b", 120))]
                    heard = group.create_task(read(early, 240))
                    while not all(each.done() for each in speaking):
                        target = min(240, alice.length() + random.randrange(1, 60))
                        while alice.length() < target:
                            await asyncio.sleep(0)
                        await asyncio.to_thread(relay.kill)
                        await asyncio.to_thread(relay.start)
                    order = heard.result() if heard.done() else await heard
                assert await read(bob.reader(), 240) == order
                for name in (b"a", b"b"):
                    assert [each for each in order if each[:1] == name] == _said(name, 120)
            async with RelayConnection(relay.url) as late:
                assert await read((await late.watch(table.id)).reader(), 240) == order

    run(story())


def test_who_was_away_reads_on_where_it_stopped(tmp_path: Path) -> None:
    async def story() -> None:
        async with through_a_proxy(tmp_path) as (proxy, relay):
            table = new_table()
            async with joined(proxy.url, table, ALICE) as alice, RelayConnection(relay.url) as spectator:
                transport = await spectator.watch(table.id)
                log = transport.reader()
                await _say(alice, b"a", 5)
                assert await read(log, 5) == _said(b"a", 5)
                asked = [
                    message
                    for message in transport.greet(Greeting("ws://relay", bytes(32), 0))
                    if isinstance(message, Open)
                ]
                assert [(each.start, each.hash is not None) for each in asked] == [(5, True)]

    run(story())


def test_a_game_ends_when_the_relay_has_lost_its_log(tmp_path: Path) -> None:
    async def story() -> None:
        with running_relay(tmp_path) as relay:
            async with joined(relay.url, new_table(), ALICE) as alice:
                reader = alice.reader()
                await _say(alice, b"a", 3)
                _forget_everything(relay)
                with pytest.raises(LogReplaced) as lost:
                    await read(reader, 4)
                assert lost.value.position == 3
                with pytest.raises(LogReplaced):
                    await alice.post(b"on an empty log")

    run(story())


def test_a_channel_goes_on_when_the_relay_has_lost_its_log(tmp_path: Path) -> None:
    async def story() -> None:
        with running_relay(tmp_path) as relay:
            async with joined(relay.url, new_table(TableKind.CHANNEL), ALICE) as alice:
                reader = alice.reader()
                await _say(alice, b"a", 3)
                assert await read(reader, 3) == _said(b"a", 3)
                _forget_everything(relay)
                await alice.post(b"greeting")
                with pytest.raises(LogBegins):
                    await reader.read()
                assert await reader.read() == b"greeting"

    run(story())


def test_nobody_answers(tmp_path: Path) -> None:
    async def story() -> None:
        async with Proxy() as proxy:
            proxy.is_refusing = True
            with pytest.raises(RelayUnreachable) as refused:
                async with RelayConnection(proxy.url, patience=0.5):
                    raise AssertionError("nobody has welcomed us")
            assert refused.value.url == proxy.url

    run(story())


def test_who_waits_is_told_when_the_connection_is_given_up(tmp_path: Path) -> None:
    async def story() -> None:
        async with through_a_proxy(tmp_path) as (proxy, _):
            async with RelayConnection(proxy.url) as relay:
                alice = await relay.join(new_table(), ALICE)
                proxy.hold()
                waiting = [asyncio.create_task(alice.post(b"late")), asyncio.create_task(_read_one(alice.reader()))]
                await proxy.holding.wait()
            for each in await asyncio.gather(*waiting, return_exceptions=True):
                assert isinstance(each, LineClosed)

    run(story())


def test_a_relay_of_another_version_is_recognised() -> None:
    async def story() -> None:
        async def newer(request: web.Request) -> web.WebSocketResponse:
            socket = web.WebSocketResponse()
            await socket.prepare(request)
            await socket.send_bytes((2).to_bytes(2) + b"\x00")
            async for _ in socket:
                pass
            return socket

        app = web.Application()
        app.router.add_get("/", newer)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        with pytest.raises(UnknownVersion) as refused:
            async with RelayConnection(f"ws://127.0.0.1:{runner.addresses[0][1]}"):
                raise AssertionError("we do not know what it says")
        assert refused.value.is_newer
        await runner.cleanup()

    run(story())


# ---------------------------------------------------------------------------------------------------------------- parts


def _said(name: bytes, number: int) -> list[bytes]:
    return [name + b"%d" % each for each in range(number)]


async def _say(transport: WebSocketTransport, name: bytes, number: int) -> None:
    for each in _said(name, number):
        await transport.post(each)


async def _read_one(reader: Reader) -> bytes:
    return await reader.read()


async def _read_and_cut(reader: Reader, number: int, proxy: Proxy, random: Random) -> list[bytes]:
    seen = []
    for _ in range(number):
        seen.append(await reader.read())
        if random.randrange(25) == 0:
            proxy.cut()
    return seen


def _forget_everything(relay: RelayProcess) -> None:
    relay.kill()
    for path in relay.store.parent.glob("relay.sqlite*"):
        path.unlink()
    relay.start()
