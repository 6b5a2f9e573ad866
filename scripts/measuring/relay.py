"""The capacity of a relay, and of NATS JetStream: actions a second through one server's process, over bare messages of
the same bytes.

100 tables, each with two clients, which are in two other processes with one connection each. A client posts its next
action when its last one is acknowledged, and reads everybody's; the server has each on disk before anybody reads it.
With as many messages on their way, the relay is compared with aiohttp's WebSocket echo, which stores nothing; JetStream
with nats-py's `publish_async` to a stream on disk, by two processes as well, without ids, and without readers.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from multiprocessing.synchronize import Barrier
from pathlib import Path
from tempfile import TemporaryDirectory

import aiohttp
import nats
from nats.js import JetStreamContext
from nats.js.api import StorageType

from forcemove import TableKind, TableTerms, connect_relay
from forcemove.flow.transport import Transport
from scripts.measuring.cases import ADDRESSES, KEYS, Measured, Row, case, medians
from scripts.measuring.processes import CONTEXT, echo_process, process, started_relay
from tests.jetstream.server import running_server

TABLES = 100
ACTIONS = 100
"""Actions that each client posts at each table in a round."""
SIZE = 300
"""Bytes of an action, as a signed move in rock-paper-scissors has them."""
_PATIENCE = 120.0

Ready = Callable[[], Awaitable[None]]
"""Waits until everybody else is ready, too."""
Talk = Callable[[str, int, Ready], Awaitable[float]]


@case(Row("relay_rate_ratio", "x", "actions through a relay, on disk / messages through the echo", 0.25, at_least=True))
def relay(rounds: int = 5) -> Measured:
    """Actions through one relay process, over a bare WebSocket echo."""

    def rates() -> Measured:
        with started_relay() as (url, _):
            relayed = _rate(_play, url)
        with echo_process() as url:
            echoed = _rate(_chat, url)
        return {"relayed_per_second": relayed, "echoed_per_second": echoed, "relay_rate_ratio": relayed / echoed}

    return medians(rounds, rates)


@case(Row("jetstream_rate_ratio", "x", "actions through a stream on disk / bare publishing", 0.4, at_least=True))
def jetstream(rounds: int = 5) -> Measured:
    """The same through NATS JetStream, over bare asynchronous publishing.

    `synced`: where the server writes every message to its disk at once.
    """

    def rates() -> Measured:
        streamed, published = (_server_rate(talk, "2m") for talk in (_play, _publish))
        synced, synced_bare = (_server_rate(talk, "always") for talk in (_play, _publish))
        return {
            "streamed_per_second": streamed,
            "published_per_second": published,
            "jetstream_rate_ratio": streamed / published,
            "streamed_synced_per_second": synced,
            "published_synced_per_second": synced_bare,
        }

    return medians(rounds, rates)


def _server_rate(talk: Talk, sync_interval: str) -> float:
    """The rate on a new server."""
    with TemporaryDirectory() as folder, running_server(Path(folder), sync_interval=sync_interval) as server:
        return _rate(talk, server.url)


def _rate(talk: Talk, url: str) -> float:
    """The rate of both processes together, by the time of the slower one."""
    barrier = CONTEXT.Barrier(2)
    with process(_run, talk, url, 0, barrier) as one, process(_run, talk, url, 1, barrier) as other:
        seconds: float = max(one(), other())
        return len(KEYS) * TABLES * ACTIONS / seconds


async def _run(talk: Talk, url: str, seat: int, barrier: Barrier, send: Callable[[float], None]) -> None:
    async def ready() -> None:
        await asyncio.to_thread(barrier.wait, _PATIENCE)

    send(await talk(url, seat, ready))


# ------------------------------------------------------------------------------------------------------------- talking


async def _play(url: str, seat: int, ready: Ready) -> float:
    """Seconds that one process takes for its actions, and to read everybody's."""
    async with connect_relay(url) as place:
        tables = [TableTerms(TableKind.GAME, ADDRESSES, number.to_bytes(32)) for number in range(TABLES)]
        transports = [await place.join(table, KEYS[seat]) for table in tables]
        await ready()
        began = time.perf_counter()
        async with asyncio.TaskGroup() as group:
            for transport in transports:
                group.create_task(_post(transport))
                group.create_task(_read(transport))
        return time.perf_counter() - began


async def _post(transport: Transport) -> None:
    for number in range(ACTIONS):
        await transport.post(number.to_bytes(SIZE))


async def _read(transport: Transport) -> None:
    reader = transport.reader()
    for _ in range(len(KEYS) * ACTIONS):
        await reader.read()


async def _chat(url: str, _: int, ready: Ready) -> float:
    async with aiohttp.ClientSession() as session, session.ws_connect(url, compress=0) as socket:
        await ready()
        began = time.perf_counter()
        for number in range(TABLES):
            await socket.send_bytes(number.to_bytes(SIZE))
        for number in range(TABLES * ACTIONS):
            await socket.receive()
            if number < TABLES * (ACTIONS - 1):
                await socket.send_bytes(number.to_bytes(SIZE))
        return time.perf_counter() - began


async def _publish(url: str, _: int, ready: Ready) -> float:
    client = await nats.connect(url)
    js = client.jetstream()
    await js.add_stream(name="BARE", subjects=["bare.*"], storage=StorageType.FILE)
    await ready()
    began = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for number in range(TABLES):
            group.create_task(_publish_all(js, f"bare.{number}"))
    seconds = time.perf_counter() - began
    await client.close()
    return seconds


async def _publish_all(js: JetStreamContext, subject: str) -> None:
    for number in range(ACTIONS):
        acknowledged = await js.publish_async(subject, number.to_bytes(SIZE))
        await acknowledged
