"""A server with what it shows, in a thread of its own, for browsers and other clients."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, TypeVar

from forcemove.browser.playground.server import playground_server
from forcemove.browser.server import BrowserServer
from forcemove.game import Game
from forcemove.playground.playground import Playground
from forcemove_games.rock_paper_scissors import GAME as ROCK_PAPER_SCISSORS
from forcemove_games.tic_tac_toe import GAME as TIC_TAC_TOE

__all__ = ["Served", "ServedPlayground", "running", "served", "served_games", "until"]

ValueT = TypeVar("ValueT")
_SECONDS = 90.0


@dataclass
class Served:
    """A server that runs in a thread of its own. `address`: works once."""

    server: BrowserServer
    loop: asyncio.AbstractEventLoop
    address: str

    @property
    def port(self) -> int:
        return int(self.address.split(":")[2].split("/")[0])

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def call(self, function: Callable[[], ValueT]) -> ValueT:
        """Call a function in the server's thread."""

        async def main() -> ValueT:
            return function()

        return asyncio.run_coroutine_threadsafe(main(), self.loop).result(_SECONDS)

    def cut_connections(self) -> None:
        """Close each connection of the server, in its thread."""
        runner = self.server.runner
        assert runner.server is not None
        for connection in list(runner.server.connections):
            if connection.transport is not None:
                connection.transport.abort()


@dataclass
class ServedPlayground(Served):
    """`playground` is read between polls only, by `call`."""

    playground: Playground


@contextmanager
def running(server: BrowserServer, *others: Callable[[], Coroutine[Any, Any, None]]) -> Iterator[Served]:
    """A server in a thread of its own, and what runs beside it there."""
    loop = asyncio.new_event_loop()
    ready: list[str] = []
    is_ready = threading.Event()

    def on_ready(address: str) -> None:
        ready.append(address)
        is_ready.set()

    async def main() -> None:
        with suppress(asyncio.CancelledError):
            await asyncio.gather(server.run(on_ready), *(each() for each in others))

    task = loop.create_task(main())

    def run() -> None:
        loop.run_until_complete(task)
        loop.run_until_complete(_wait_for_rest())

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    assert is_ready.wait(_SECONDS)
    try:
        yield Served(server, loop, ready[0])
    finally:
        loop.call_soon_threadsafe(task.cancel)
        thread.join(_SECONDS)
        loop.close()


async def _wait_for_rest() -> None:
    """End what still runs, as `asyncio.run` does, and wait for it."""
    rest = asyncio.all_tasks() - {asyncio.current_task()}
    for each in rest:
        each.cancel()
    if rest:
        await asyncio.wait(rest, timeout=_SECONDS)


@contextmanager
def served(*, rock_paper_scissors: bool = False) -> Iterator[ServedPlayground]:
    """A playground of its own, whose first game is tic-tac-toe unless the other is asked for."""
    games = (ROCK_PAPER_SCISSORS, TIC_TAC_TOE) if rock_paper_scissors else (TIC_TAC_TOE, ROCK_PAPER_SCISSORS)
    with served_games(*games) as found:
        yield found


@contextmanager
def served_games(*games: Game) -> Iterator[ServedPlayground]:
    """A playground of its own with these games, the first one first."""
    playground = Playground(games)
    with running(playground_server(playground)) as found:
        yield ServedPlayground(found.server, found.loop, found.address, playground)


def until(condition: Callable[[], bool], seconds: float = _SECONDS) -> None:
    """Wait until a condition holds."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.02)
