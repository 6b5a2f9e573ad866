"""Lets workers look again and again: at a steady pace while their looks work, later and later while they fail.

Each look runs in a thread of its own that ends with the process: one that hangs is abandoned, and holds up nothing.
"""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait

from forcemove.backoff import doubled, spread
from forcemove.errors import ForcemoveError
from forcemove.node.chain_worker import PollingWorker
from forcemove.node.errors import LookFailed, LookHangs

__all__ = ["ParallelPolls", "OnPollError", "keep_polling", "poll_once"]

_WAIT_SECONDS = 1.0
"""Seconds for which a look is waited for where there are others."""
_LONGEST_PAUSE = 5.0
"""Seconds between two looks that fail: an endpoint that is back is asked soon, since a challenge may last for no more
than a minute."""
OnPollError = Callable[[Exception], None]
"""Called with the error of a look that has failed and will be tried again."""


class ParallelPolls:
    """For an owner that calls `look` in a loop and must not wait long: each look has a thread of its own. One that ends
    soon is waited for; one that does not is left running, and a later turn finds its end."""

    def __init__(self, on_error: OnPollError) -> None:
        """`on_error`: called with the error of each look that has failed."""
        self._on_error = on_error
        self._running: dict[PollingWorker, _Poll] = {}

    def look(self, workers: Sequence[PollingWorker]) -> None:
        """One turn: each of these workers that is not looking begins a look. The look of a single worker is waited for:
        nothing else could be done meanwhile."""
        for worker in workers:
            if len(workers) == 1:
                poll_once(worker, self._on_error)
                continue
            running = self._running.get(worker) or _Poll(worker.prepare())
            self._running[worker] = running
            running.wait(_WAIT_SECONDS)
        for worker, running in tuple(self._running.items()):
            self._take(worker, running)

    def _take(self, worker: PollingWorker, running: _Poll) -> None:
        if not running.end.done() and time.monotonic() < running.began_at + (worker.longest_look or math.inf):
            return
        del self._running[worker]
        if not running.end.done():
            worker.abandon()
            self._on_error(LookHangs(worker.longest_look or 0.0))
            return
        if (error := running.end.exception()) is not None:
            self._on_error(_typed(error))
        worker.take()


class _Poll:
    """One look. It is waited for in one turn only."""

    def __init__(self, look: Callable[[], None]) -> None:
        self.began_at, self._was_waited_for = time.monotonic(), False
        self.end = _begin(look)

    def wait(self, seconds: float) -> None:
        if not self._was_waited_for:
            self._was_waited_for = True
            wait([self.end], seconds)


def _begin(look: Callable[[], None]) -> Future[None]:
    """Begin a look in a thread that ends with the process. Returns its end."""
    end: Future[None] = Future()
    end.set_running_or_notify_cancel()  # else a caller that is cancelled would cancel it

    def run() -> None:
        try:
            look()
        except BaseException as error:  # the caller reports it
            end.set_exception(error)
        else:
            end.set_result(None)

    threading.Thread(target=run, name="look", daemon=True).start()
    return end


def poll_once(worker: PollingWorker, on_error: OnPollError) -> None:
    """Make one look, and wait for its end."""
    look = worker.prepare()
    try:
        try:
            look()
        finally:
            worker.take()
    except Exception as error:
        on_error(_typed(error))


def _typed(error: BaseException) -> ForcemoveError:
    """The error as one of ours: whatever an answer has led to ends no process, and may pass."""
    return error if isinstance(error, ForcemoveError) else LookFailed(f"{error!r:.200}")


async def keep_polling(
    worker: PollingWorker, on_error: OnPollError, on_poll: Callable[[], None], *, every: float, idle: float
) -> None:
    """Let a worker look again and again until cancelled. A look that has failed is tried again, with the next endpoint;
    where all endpoints have failed, later and later, at most five seconds after the last time.

    - `worker`: what looks.
    - `on_error`: called with the error of each look that has failed.
    - `on_poll`: called after each look.
    - `every`: seconds from one look to the next.
    - `idle`: seconds after which a worker that had nothing to look for is asked again.
    """
    failures = 0
    while True:
        while worker.is_idle:
            await asyncio.sleep(idle)
        failures = 0 if await _poll(worker, on_error) else failures + 1
        on_poll()
        pause = doubled(every, failures // worker.endpoints, max(every, _LONGEST_PAUSE))
        await asyncio.sleep(spread(pause) if failures else pause)


async def _poll(worker: PollingWorker, on_error: OnPollError) -> bool:
    look = worker.prepare()
    try:
        try:
            async with asyncio.timeout(worker.longest_look):
                await asyncio.wrap_future(_begin(look))
        finally:
            worker.take()
    except TimeoutError:
        worker.abandon()
        on_error(LookHangs(worker.longest_look or 0.0))
        return False
    except Exception as error:
        on_error(_typed(error))
        return False
    return True
