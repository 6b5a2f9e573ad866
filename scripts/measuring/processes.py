"""Processes beside the measuring one: those that run a function, a relay, and an echo of WebSocket messages. And nodes
that drive channels, on journals in files: new channels of two players, or many that a journal already has.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from aiohttp import web

from forcemove import Chain, ChannelSetup, FriendlyAssembly, Key, ManagedChannel, MemoryMessenger, Node, open_journal
from forcemove.chain.local import AnvilChain
from forcemove.node.assemble import Assembly, reassemble
from forcemove.node.metadata import METADATA
from forcemove.protocol.codec.msgpack_codec import CHANNELS
from forcemove.store.journal import Journal
from forcemove_games.tic_tac_toe import GAME
from tests.scenarios.story import ALICE, Playground
from tests.simulation import crowd

CONTEXT = get_context("spawn")
_PATIENCE = 600.0


@contextmanager
def process(run: Callable[..., Coroutine[Any, Any, None] | None], *arguments: object) -> Iterator[Callable[[], Any]]:
    """A new process that runs a function, of coroutines or not, and is killed in the end. Its last argument sends a
    value; what is yielded waits for the next one, and raises `TimeoutError` or `EOFError` where there is none."""
    reading, writing = CONTEXT.Pipe(duplex=False)
    running = CONTEXT.Process(target=_run, args=(run, *arguments, writing.send))
    running.start()
    writing.close()

    def received() -> Any:
        if not reading.poll(_PATIENCE):
            raise TimeoutError(f"a process has said nothing for {_PATIENCE:.0f} seconds")
        return reading.recv()

    try:
        yield received
    finally:
        running.kill()
        running.join()


def _run(run: Callable[..., Coroutine[Any, Any, None] | None], *arguments: object) -> None:
    if (rest := run(*arguments)) is not None:
        asyncio.run(rest)


@contextmanager
def command(
    *arguments: str, environment: Mapping[str, str], cwd: Path | None = None
) -> Iterator[subprocess.Popen[str]]:
    """A process of the `forcemove` command, terminated in the end."""
    whole = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), **environment}
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
    with subprocess.Popen([sys.executable, "-m", "forcemove", *arguments], **pipes, cwd=cwd, env=whole) as running:
        try:
            yield running
        finally:
            running.terminate()


@contextmanager
def started_relay(
    folder: str | None = None, options: Sequence[str] = (), **environment: str
) -> Iterator[tuple[str, int]]:
    """A relay's process without limits on a client's speed; its URL, and the process's number. `folder`: where its
    store is; `options`: others of its command."""
    with TemporaryDirectory(dir=folder) as place:
        arguments = ["relay", "--listen", "127.0.0.1:0", "--json", "--store", str(Path(place) / "relay.sqlite")]
        arguments += ["--messages-per-second", "1000000", "--bytes-per-second", "100000000", *options]
        with command(*arguments, environment=environment) as relay:
            yield (relay.stdout or sys.stdin).readline().split('"')[3], relay.pid


@contextmanager
def echo_process() -> Iterator[str]:
    """The URL of a process that sends back what it is sent, over aiohttp's WebSocket server."""
    with process(_serve_echo) as received:
        yield f"ws://127.0.0.1:{received()}"


async def _serve_echo(send: Callable[[int], None]) -> None:
    app = web.Application()
    app.router.add_get("/", _repeat)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    send(runner.addresses[0][1])
    await asyncio.Event().wait()


async def _repeat(request: web.Request) -> web.WebSocketResponse:
    socket = web.WebSocketResponse(compress=False)
    await socket.prepare(request)
    async for message in socket:
        await socket.send_bytes(message.data)
    return socket


def journal_at(*path: str | Path) -> Journal:
    """The journal in a file, or on a server, for an owner of its own."""
    return open_journal(os.path.join(*path), owner=os.urandom(16))


def drive(node: Node, assembly: Assembly | FriendlyAssembly, key: Key = ALICE, **options: Any) -> ManagedChannel:
    """Have a node drive a channel. `options`: of `ChannelSetup`; nobody answers without a messenger, and nobody moves
    without a player."""
    nobody = {"messenger": MemoryMessenger(), "choose": lambda _: None}
    return node.add(ChannelSetup(assembly, key, **{**nobody, **options}))


def drive_all(node: Node, assemblies: Sequence[Assembly], **options: Any) -> None:
    """The same of many channels of Alice's, as a service does."""
    node.reserve(assemblies, ALICE)
    for each in assemblies:
        drive(node, each, **options)


def stored(journal: Journal, chain: Chain, limit: int | None = None) -> list[Assembly]:
    """The channels of a journal, or the first of them."""
    found = list[Assembly]()
    for each in journal.channels()[:limit]:
        agreement, metadata = CHANNELS.decode(each.snapshot).agreement, METADATA.decode(each.metadata)
        found.append(reassemble(chain, agreement, GAME, from_block=metadata.from_block))
    return found


@contextmanager
def crowded_journal(
    count: int, *flags: str, duration: int = 86_400, last_turn: int = 4, confirmations: int = 1
) -> Iterator[tuple[AnvilChain, Path]]:
    """An anvil, and the file of Alice's journal with this many open channels of tic-tac-toe. `flags`: anvil's;
    `duration`: of a challenge, seconds; `last_turn`: hers, so that it is Bob's turn."""
    with TemporaryDirectory() as folder, AnvilChain(*flags) as chain:
        playground, first, path = Playground.on(chain), chain.block_number(), Path(folder, "journal")
        agreements = crowd.agreements(playground, count, duration)
        crowd.fund(chain, agreements)
        for _ in range(confirmations - 1):
            chain.rpc.ask("evm_mine")
        with journal_at(path) as journal:
            matches = [crowd.played(each, last_turn) for each in agreements]
            crowd.write(journal, matches, playground, first, confirmations)
        yield chain, path
