"""What only a connection to a relay does: it asks for what it lacks, and knows a relay of another version."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from aiohttp import web

from forcemove.errors import ForcemoveError, UnknownVersion
from forcemove.transport.websocket.connection import RelayConnection
from forcemove.transport.websocket.transport import NewConnection
from forcemove.transport.wire import VERSION, Open
from tests.relay.process import running_relay
from tests.transport.people import ALICE, new_table, read


async def test_who_was_away_asks_on_where_it_stopped(tmp_path: Path) -> None:
    with running_relay(tmp_path) as relay:
        async with RelayConnection(relay.url) as connection:
            transport = await connection.join(new_table(), ALICE)
            for number in range(5):
                await transport.post(b"%d" % number)
            await read(transport.reader(), 5)
            said = transport.on_connected(NewConnection(relay.url, bytes(32), 0))
            asked = [message for message in said if isinstance(message, Open)]
            assert [(each.start, each.hash is not None) for each in asked] == [(5, True)]


async def test_who_is_cancelled_while_a_connection_ends_is_cancelled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    went_on, fail = list[str](), RelayConnection._fail

    def cancel(connection: RelayConnection, failure: ForcemoveError) -> None:
        fail(connection, failure)
        asyncio.get_running_loop().call_soon(leaving.cancel)

    async def leave() -> None:
        async with RelayConnection(relay.url):
            monkeypatch.setattr(RelayConnection, "_fail", cancel)
        went_on.append("without a connection")

    with running_relay(tmp_path) as relay:
        leaving = asyncio.create_task(leave())
        with pytest.raises(asyncio.CancelledError):
            await leaving
    assert went_on == []


async def test_a_relay_of_another_version_is_recognised() -> None:
    async def newer(request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        await socket.send_bytes((VERSION + 1).to_bytes(2) + b"\x00")
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
