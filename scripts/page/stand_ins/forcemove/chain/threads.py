"""What waits while something else goes on, where there are no threads. Stands in for the module of this name.

A function that the event loop calls may be suspended until a promise is kept, with all that has called it in between;
the loop goes on meanwhile (JavaScript Promise Integration of WebAssembly). So nothing here runs at the same time as
something else, and goes over to it only where it waits.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Coroutine
from concurrent.futures import Future
from typing import Any, Self, TypeVar

from pyodide.ffi import run_sync  # type: ignore[import-not-found]  # there in a browser alone

T = TypeVar("T")


class Thread:
    """Something that is done beside all else."""

    def __init__(self, work: Callable[[], None]) -> None:
        self._work, self._is_alive = work, True
        asyncio.get_running_loop().call_soon(self._run)

    def _run(self) -> None:
        try:
            self._work()
        finally:
            self._is_alive = False

    def is_alive(self) -> bool:
        """Whether it goes on."""
        return self._is_alive


class Condition:
    """Something that has changed. Nobody else goes on while it is held, so that there is nothing to lock."""

    def __init__(self) -> None:
        self._waiting: list[asyncio.Future[None]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def notify(self) -> None:
        """Let one of those who wait go on."""
        while self._waiting:
            if not (waiting := self._waiting.pop(0)).done():
                waiting.set_result(None)
                return

    def wait(self, seconds: float) -> bool:
        """Wait until somebody notifies, at most this many seconds; whether somebody did."""
        waiting = asyncio.get_running_loop().create_future()
        self._waiting.append(waiting)
        run_sync(asyncio.wait([waiting], timeout=seconds))
        if waiting in self._waiting:
            self._waiting.remove(waiting)
        return waiting.done()


def start_thread(work: Callable[[], None], name: str) -> Thread:  # noqa: ARG001  # as where there are threads
    """Have this done beside all else."""
    return Thread(work)


def aside(work: Callable[[], T]) -> Awaitable[T]:
    """What a function returns, or raises, that waits for something: the event loop goes on meanwhile."""
    found: asyncio.Future[T] = asyncio.get_running_loop().create_future()

    def run() -> None:
        try:
            result = work()
        except Exception as error:
            if not found.done():
                found.set_exception(error)
        else:
            if not found.done():
                found.set_result(result)

    Thread(run)
    return found


def wait(begun: Collection[Future[Any]], seconds: float) -> tuple[set[Future[Any]], set[Future[Any]]]:
    """Wait until one of these is done, at most this many seconds; those that are, and those that are not."""
    done = {each for each in begun if each.done()}
    if not done:
        loop = asyncio.get_running_loop()
        first = loop.create_future()

        def on_done(_: Future[Any]) -> None:
            if not first.done():
                first.set_result(None)

        for each in begun:
            each.add_done_callback(on_done)
        run_sync(asyncio.wait([first], timeout=seconds))
        done = {each for each in begun if each.done()}
    return done, {*begun} - done


def pause(seconds: float) -> None:
    """Wait."""
    run_sync(asyncio.sleep(seconds))


def complete(coroutine: Coroutine[Any, Any, T]) -> T:
    """What a coroutine returns, or raises."""
    found: T = run_sync(coroutine)
    return found
