"""Streams and consumers that somebody deletes: a game ends, a channel goes on."""

from __future__ import annotations

import asyncio
from pathlib import Path

import nats
import pytest

from forcemove.channel.line.connect import connect
from forcemove.channel.line.errors import LogReplaced
from forcemove.channel.line.jetstream.connection import JetStreamConnection
from forcemove.channel.line.jetstream.streams import STREAMS
from forcemove.channel.line.terms import TableKind
from tests.jetstream.server import running_server
from tests.line.people import ALICE, BOB, new_table, run


def test_a_game_ends_when_its_stream_is_deleted_and_a_channel_goes_on(tmp_path: Path) -> None:
    async def story() -> None:
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

    run(story())


def test_consumers_that_are_gone_are_made_anew(tmp_path: Path) -> None:
    async def story() -> None:
        with running_server(tmp_path) as server:
            table = new_table()
            async with JetStreamConnection(server.url, heartbeat=0.3) as place, connect(server.url) as elsewhere:
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

    run(story())
