"""The capacity of a relay: actions a second through one relay process, over a bare WebSocket echo of the same bytes.

100 tables, each with two clients, which are in two other processes with one connection each. A client posts its next
action when its last one is acknowledged, and reads everybody's; the relay has each on disk before anybody reads it. The
echo is aiohttp's server and client, with as many messages on their way, and stores nothing.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Barrier
from pathlib import Path
from tempfile import TemporaryDirectory

import aiohttp
from aiohttp import web

from forcemove.flow.transport import Transport
from forcemove.protocol.hashing import keccak256
from forcemove.protocol.signing import Key
from forcemove.transport.connect import connect_relay
from forcemove.transport.terms import TableKind, TableTerms

__all__ = [
    "ACTIONS",
    "ROUNDS",
    "SIZE",
    "TABLES",
    "Ready",
    "Talk",
    "echo_process",
    "play",
    "rate",
    "relay_process",
    "relay_rate_ratio",
    "relay_rates",
    "started_relay",
]

TABLES = 100
ACTIONS = 100
"""Actions that each client posts at each table in a round."""
ROUNDS = 5
SIZE = 300
"""Bytes of an action, as a signed move in rock-paper-scissors has them."""

_CONTEXT = get_context("spawn")
_KEYS = (Key(keccak256(b"alice")), Key(keccak256(b"bob")))
_ADDRESSES = tuple(key.address for key in _KEYS)
_PATIENCE = 120.0

Ready = Callable[[], Awaitable[None]]
"""Waits until everybody else is ready, too."""
Talk = Callable[[str, int, Ready], Awaitable[float]]


def relay_rate_ratio() -> float:
    """The median of the rounds."""
    return statistics.median(relayed / echoed for relayed, echoed in relay_rates())


def relay_rates(rounds: int = ROUNDS) -> Iterator[tuple[float, float]]:
    """Actions a second through the relay, and messages a second through the echo, round after round."""
    for _ in range(rounds):
        with TemporaryDirectory() as folder, relay_process(Path(folder)) as url:
            relayed = rate(play, url)
        with echo_process() as url:
            echoed = rate(_chat, url)
        yield relayed, echoed


def rate(talk: Talk, url: str) -> float:
    """The rate of both processes together, by the time of the slower one."""
    barrier = _CONTEXT.Barrier(2)
    pipes = [_CONTEXT.Pipe(duplex=False) for _ in _KEYS]
    processes = [_CONTEXT.Process(target=_run, args=(talk, url, seat, barrier, pipes[seat][1])) for seat in (0, 1)]
    for process in processes:
        process.start()
    try:
        seconds = [_received(reading) for reading, _ in pipes]
    finally:
        for process in processes:
            process.kill()
            process.join()
    return len(_KEYS) * TABLES * ACTIONS / max(seconds)


def _received(reading: Connection) -> float:
    if not reading.poll(_PATIENCE):
        raise TimeoutError(f"a client has not finished within {_PATIENCE:.0f} seconds")
    seconds: float = reading.recv()
    return seconds


def _run(talk: Talk, url: str, seat: int, barrier: Barrier, writing: Connection) -> None:
    async def ready() -> None:
        await asyncio.to_thread(barrier.wait, _PATIENCE)

    async def timed() -> float:
        return await talk(url, seat, ready)

    writing.send(asyncio.run(timed()))


# ------------------------------------------------------------------------------------------------------------ the relay


@contextmanager
def started_relay(folder: Path, path: str) -> Iterator[tuple[str, int]]:
    """A relay's process as `forcemove relay` starts it, without limits on a client's speed; its URL, and the process's
    number. `path`: where Python finds the relay's code."""
    command = [sys.executable, "-m", "forcemove", "relay", "--listen", "127.0.0.1:0", "--json"]
    command += ["--store", str(folder / "relay.sqlite"), "--messages-per-second", "1000000"]
    command += ["--bytes-per-second", "100000000"]
    environment = os.environ | {"PYTHONPATH": path}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment) as it:
        try:
            yield (it.stdout or sys.stdin).readline().split('"')[3], it.pid
        finally:
            it.terminate()


@contextmanager
def relay_process(folder: Path) -> Iterator[str]:
    """The URL of such a relay, of this checkout."""
    with started_relay(folder, os.pathsep.join(sys.path)) as (url, _):
        yield url


async def play(url: str, seat: int, ready: Ready) -> float:
    """Seconds that one process takes for its actions, and to read everybody's."""
    async with connect_relay(url) as place:
        tables = [TableTerms(TableKind.GAME, _ADDRESSES, number.to_bytes(32)) for number in range(TABLES)]
        transports = [await place.join(table, _KEYS[seat]) for table in tables]
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
    for _ in range(len(_KEYS) * ACTIONS):
        await reader.read()


# ------------------------------------------------------------------------------------------------------------- the echo


@contextmanager
def echo_process() -> Iterator[str]:
    """A process that sends back what it is sent, over WebSocket; its URL."""
    reading, writing = _CONTEXT.Pipe(duplex=False)
    process = _CONTEXT.Process(target=_serve_echo, args=(writing,))
    process.start()
    try:
        yield f"ws://127.0.0.1:{reading.recv()}"
    finally:
        process.kill()
        process.join()


def _serve_echo(writing: Connection) -> None:
    async def serve() -> None:
        app = web.Application()
        app.router.add_get("/", _repeat)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        writing.send(runner.addresses[0][1])
        await asyncio.Event().wait()

    asyncio.run(serve())


async def _repeat(request: web.Request) -> web.WebSocketResponse:
    socket = web.WebSocketResponse(compress=False)
    await socket.prepare(request)
    async for message in socket:
        await socket.send_bytes(message.data)
    return socket


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


if __name__ == "__main__":
    for relayed, echoed in relay_rates():
        print(f"{relayed:,.0f} through the relay, {echoed:,.0f} through the echo: {relayed / echoed:.2f}")
