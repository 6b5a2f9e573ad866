"""Lets workers look again and again: at a steady pace while their looks work, later and later while they fail. No look
holds up another one."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import closing, suppress
from typing import Any, Protocol

from forcemove.backoff import doubled, spread
from forcemove.chain.worker import Look, wait_for
from forcemove.errors import ForcemoveError
from forcemove.workers.errors import LookFailed

_WAIT_SECONDS = 1.0
"""Seconds for which a look is waited for where there are others, and after which it is asked whether it still waits."""
_LONGEST_PAUSE = 5.0
"""Seconds between two looks that fail: an endpoint that is back is asked soon, since a challenge may last for no more
than a minute."""
OnPollError = Callable[[Exception], None]
"""Called with the error of a look that has failed and will be tried again."""


class PollingWorker(Protocol):
    """What looks at something outside, again and again. `endpoints`: how many it can ask, the next where one fails."""

    endpoints: int

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing to look for."""
        ...

    @property
    def is_quiet(self) -> bool:
        """Whether nothing is expected to happen: then it looks half as often."""
        ...

    def look(self) -> Look[None]:
        """Look, with what the node has asked for since the last look, and give it what was found. Raises `ChainError`;
        nothing is lost then."""
        ...


class ParallelPolls:
    """For an owner that calls `look` in a loop and must not wait long: a look that ends soon is waited for; one that
    does not goes on at a later turn."""

    def __init__(self, on_error: OnPollError) -> None:
        """`on_error`: called with the error of each look that has failed."""
        self._on_error = on_error
        self._running: dict[PollingWorker, Look[None]] = {}

    def look(self, workers: Sequence[PollingWorker]) -> None:
        """One turn: each of these workers that is not looking begins a look. The look of a single worker is waited for:
        nothing else could be done meanwhile."""
        for worker in workers:
            if len(workers) == 1:
                poll_once(worker, self._on_error)
                continue
            look, seconds = self._running.pop(worker, None), 0.0
            if look is None:
                look, seconds = worker.look(), _WAIT_SECONDS
            if not self._has_ended(look, seconds):
                self._running[worker] = look

    def _has_ended(self, look: Look[None], seconds: float) -> bool:
        end = time.monotonic() + seconds
        try:
            for begun in look:
                if not wait(begun, max(end - time.monotonic(), 0.0), FIRST_COMPLETED).done:
                    return False
        except Exception as error:
            self._on_error(_typed(error))
        return True


def poll_once(worker: PollingWorker, on_error: OnPollError) -> None:
    """Make one look, and wait for its end."""
    try:
        wait_for(worker.look())
    except Exception as error:
        on_error(_typed(error))


def _typed(error: Exception) -> ForcemoveError:
    """The error in our terms: whatever an answer has led to ends no process, and may pass."""
    return error if isinstance(error, ForcemoveError) else LookFailed(f"{error!r:.200}")


async def keep_polling(
    worker: PollingWorker, on_error: OnPollError, on_poll: Callable[[], None], awake: asyncio.Event, *, every: float
) -> None:
    """Let a worker look again and again until cancelled. A look that has failed is tried again, with the next endpoint;
    where all endpoints have failed, later and later, at most five seconds after the last time.

    - `worker`: what looks.
    - `on_error`: called with the error of each look that has failed.
    - `on_poll`: called after each look.
    - `awake`: set by the owner where a worker that was idle has something to look for.
    - `every`: seconds from one look to the next, twice as many while the worker is quiet.
    """
    failures = 0
    while True:
        while worker.is_idle:
            await pause_until(awake, every)
        failures = 0 if await _poll(worker, on_error) else failures + 1
        on_poll()
        if failures:
            pause = spread(doubled(every, failures // worker.endpoints, max(every, _LONGEST_PAUSE)))
        else:
            pause = 2 * every if worker.is_quiet else every
        await asyncio.sleep(pause)


async def _poll(worker: PollingWorker, on_error: OnPollError) -> bool:
    try:
        with closing(worker.look()) as look:
            for begun in look:
                await _any_of(begun)
    except Exception as error:
        on_error(_typed(error))
        return False
    return True


async def _any_of(begun: Sequence[Future[Any]]) -> None:
    """Wait until one of these is done, but not for long."""
    loop, awake = asyncio.get_running_loop(), asyncio.Event()

    def on_done(_: Future[Any]) -> None:
        with suppress(RuntimeError):  # the loop may be closed by then
            loop.call_soon_threadsafe(awake.set)

    for each in begun:
        each.add_done_callback(on_done)
    await pause_until(awake, _WAIT_SECONDS)


async def pause_until(awake: asyncio.Event, seconds: float) -> None:
    """Wait until this is set, at most so long, and clear it."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await awake.wait()
    awake.clear()
