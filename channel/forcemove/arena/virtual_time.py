"""An event loop for chains whose clock can be moved: its own clock does not move while any task can run, and jumps to
the next timer when none can. No real hour is waited for, and no deadline passes because a task is slow."""

from __future__ import annotations

import asyncio
import selectors


class _Selector(selectors.DefaultSelector):
    """A selector that moves the clock on by a timeout instead of waiting for it."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if not ready and timeout is None:
            raise RuntimeError("every task waits for another: nothing can happen any more")
        if not ready and timeout:
            self.now += timeout
        return ready


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """For `asyncio.Runner(loop_factory=VirtualTimeLoop)`. Only for flows in one process: a task that waits for a socket
    counts as one with nothing to do. Raises `RuntimeError` where all tasks wait and no timer runs."""

    def __init__(self) -> None:
        self._virtual = _Selector()
        super().__init__(self._virtual)

    def time(self) -> float:
        """Virtual seconds since the loop was made."""
        return self._virtual.now
