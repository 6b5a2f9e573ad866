"""Streams and consumers that somebody deletes, and a client of NATS that ends without a word: a game ends where its log
is gone, all else goes on."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import nats
import pytest
from nats.aio.client import Client

from forcemove import ForcemoveError, TableKind, connect_relay, messenger_to
from forcemove.transport.errors import LogReplaced, RelayUnreachable, StreamUnsuitable
from forcemove.transport.jetstream.connection import JetStreamConnection
from forcemove.transport.jetstream.streams import STREAMS
from tests.jetstream.server import running_server
from tests.relay.proxy import Proxy
from tests.relay.strange import until
from tests.transport.people import ALICE, BOB, new_table, read, run


async def test_a_game_ends_when_its_stream_is_deleted_and_a_channel_goes_on(tmp_path: Path) -> None:
    with running_server(tmp_path) as server:
        tables = [new_table(kind) for kind in (TableKind.GAME, TableKind.CHANNEL)]
        async with JetStreamConnection(server.url, heartbeat=0.3) as place:
            game, channel = [await place.join(table, ALICE) for table in tables]
            for each in (game, channel):
                await each.post(b"before")
            client = await nats.connect(server.url)
            for stream in STREAMS.values():
                await client.jetstream().delete_stream(stream)
            await client.close()
            reader = game.reader(1)
            with pytest.raises(LogReplaced):
                await reader.read()
            await channel.post(b"after")
            assert channel.length() == 3  # one that is gone among them


async def test_threat_57_an_unsuitable_stream_and_a_server_that_goes_away_end_no_line(tmp_path: Path) -> None:
    """Both are told, and tried again."""
    told: list[ForcemoveError] = []
    with running_server(tmp_path) as server:
        name = STREAMS[TableKind.CHANNEL]
        client = await nats.connect(server.url)
        await client.jetstream().add_stream(name=name, subjects=["forcemove.channels.*"], max_msgs_per_subject=1)
        line = messenger_to(server.url, new_table(TableKind.CHANNEL), ALICE, on_error=told.append)
        line.send(b"first")
        running = asyncio.create_task(line.run())
        await until(lambda: isinstance(line.error, StreamUnsuitable))
        await client.jetstream().delete_stream(name)
        await until(lambda: line.is_idle and line.error is None)
        await client.close()
        await asyncio.to_thread(server.kill)
        line.send(b"second")
        await until(lambda: isinstance(line.error, RelayUnreachable))
        await asyncio.to_thread(server.start)
        await until(lambda: line.is_idle and line.error is None)
        assert not running.done()
        running.cancel()
    assert {type(each) for each in told} == {StreamUnsuitable, RelayUnreachable}


async def test_consumers_that_are_gone_are_made_anew(tmp_path: Path) -> None:
    with running_server(tmp_path) as server:
        table = new_table()
        async with JetStreamConnection(server.url, heartbeat=0.3) as place, connect_relay(server.url) as elsewhere:
            bob = await elsewhere.join(table, BOB)
            reader = (await place.join(table, ALICE)).reader()
            await bob.post(b"before")
            assert await reader.read() == b"before"
            client = await nats.connect(server.url)
            js, stream = client.jetstream(), STREAMS[TableKind.GAME]
            for each in await js.consumers_info(stream):
                await js.delete_consumer(stream, each.name)
            await client.close()
            posting = asyncio.create_task(bob.post(b"after"))
            assert await reader.read() == b"after"
            posting.cancel()


def test_a_client_that_ends_without_a_word_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As nats-py's does where the connection is gone before its last bytes are sent."""
    flush = Client._flush_pending

    async def cannot_flush(self: Client, *arguments: Any, **options: Any) -> None:
        if self.is_closed:
            raise ConnectionResetError("Connection lost")
        await flush(self, *arguments, **options)

    async def story() -> None:
        async with Proxy() as proxy:
            with running_server(tmp_path) as server:
                proxy.target = server.port
                url = proxy.url.replace("ws", "nats")
                async with JetStreamConnection(url, heartbeat=60.0) as place:
                    log = await place.join(new_table(TableKind.CHANNEL), ALICE)
                    await log.post(b"before")
                    monkeypatch.setattr(Client, "_flush_pending", cannot_flush)
                    proxy.cut()
                    await until(lambda: not place.is_connected)
                    await log.post(b"after")
                    assert await read(log.reader(), 2) == [b"before", b"after"]

    run(story())
