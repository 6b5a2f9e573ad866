"""What clients have of threads: the one module that knows how something is waited for while something else goes on.

Where there are no threads another module of these names can be put in its place.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Collection, Coroutine
from concurrent.futures import FIRST_COMPLETED, Future
from concurrent.futures import wait as wait_for_all
from functools import partial
from threading import Condition, Thread
from typing import Any, TypeVar

__all__ = ["Condition", "Thread", "aside", "start_thread", "complete", "pause", "wait"]

T = TypeVar("T")


def start_thread(work: Callable[[], None], name: str) -> Thread:
    """Have this done beside all else; a process that ends does not wait for it."""
    thread = Thread(target=work, name=name, daemon=True)
    thread.start()
    return thread


def aside(work: Callable[[], T]) -> asyncio.Future[T]:
    """What a function returns, or raises, that waits for something: the event loop goes on meanwhile. A process that
    ends does not wait for it: the thread is none of the event loop's, which waits for its own."""
    loop = asyncio.get_running_loop()
    wanted: asyncio.Future[T] = loop.create_future()

    def hand_over(done: Callable[[], None]) -> None:
        with contextlib.suppress(asyncio.InvalidStateError):  # cancelled
            done()

    def run() -> None:
        try:
            done = partial(wanted.set_result, work())
        except Exception as error:
            done = partial(wanted.set_exception, error)
        with contextlib.suppress(RuntimeError):  # the event loop is closed
            loop.call_soon_threadsafe(hand_over, done)

    start_thread(run, "aside")
    return wanted


def wait(begun: Collection[Future[Any]], seconds: float) -> tuple[set[Future[Any]], set[Future[Any]]]:
    """Wait until one of these is done, at most this many seconds; those that are, and those that are not."""
    return wait_for_all(begun, seconds, FIRST_COMPLETED)


def pause(seconds: float) -> None:
    """Wait."""
    time.sleep(seconds)


def complete(coroutine: Coroutine[Any, Any, T]) -> T:
    """What a coroutine returns, or raises, where no event loop runs."""
    return asyncio.run(coroutine)
