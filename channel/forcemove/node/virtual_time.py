"""An event loop for chains whose clock can be moved: its own clock does not move while anything can be done, and jumps
to the next deadline when nothing can. Nobody waits for an hour to pass, and no deadline passes because we were slow."""

from __future__ import annotations

import asyncio
import selectors

__all__ = ["VirtualTimeLoop"]


class _Selector(selectors.DefaultSelector):
    """Instead of waiting for a time, moves the clock on by it."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if not ready and timeout is None:
            raise RuntimeError("every task waits for another: nothing can happen any more")
        if not ready and timeout:
            self.now += timeout
        return ready


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """Give it to `asyncio.Runner(loop_factory=VirtualTimeLoop)`. Only for flows in one process: a task that waits for a
    socket counts as one with nothing to do. Where all wait and no timer runs, it raises `RuntimeError`."""

    def __init__(self) -> None:
        self._virtual = _Selector()
        super().__init__(self._virtual)

    def time(self) -> float:
        """Seconds since it was made, as its tasks live through them."""
        return self._virtual.now
