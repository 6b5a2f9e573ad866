"""The threads in which a store is used: the event loop never waits for a disk."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


class Worker:
    """Two threads: one writes, the other reads and does not keep the first one waiting."""

    def __init__(self) -> None:
        self._writing, self._reading = ThreadPoolExecutor(1, "relay-store"), ThreadPoolExecutor(1, "relay-reader")

    async def run(self, do: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Call a function in the thread that writes, after all calls that were asked for before."""
        return await asyncio.get_running_loop().run_in_executor(self._writing, lambda: do(*args, **kwargs))

    async def read(self, do: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Call a function in the thread that reads."""
        return await asyncio.get_running_loop().run_in_executor(self._reading, lambda: do(*args, **kwargs))

    def close(self) -> None:
        """Wait until all calls have returned, and end both threads."""
        self._reading.shutdown()
        self._writing.shutdown()
