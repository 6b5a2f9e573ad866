"""An event loop whose clock stands still while anything can be done and jumps to the next timer when nothing can: a
deadline of an hour is over at once, and a test never sleeps."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class _Selector(selectors.SelectSelector):
    """Instead of waiting for a time, moves the clock on by it. Waiting without end would be for ever: a deadlock."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if not ready and timeout is None:
            raise AssertionError("every task waits, and no timer runs")
        if not ready and timeout:
            self.now += timeout
        return ready


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """See the module."""

    def __init__(self) -> None:
        self._virtual = _Selector()
        super().__init__(self._virtual)

    def time(self) -> float:
        return self._virtual.now


def run_virtual(main: Coroutine[Any, Any, T]) -> T:
    """`asyncio.run` in virtual time; no task may be left running when it ends."""
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        return runner.run(_alone(main))


async def _alone(main: Coroutine[Any, Any, T]) -> T:
    result = await main
    left = asyncio.all_tasks() - {asyncio.current_task()}
    assert not left, f"tasks outlive what has started them: {left}"
    return result
