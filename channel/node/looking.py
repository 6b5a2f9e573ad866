"""Looks at what is outside, again and again: at a steady pace while that works, later and later while it fails.

Each look runs in a thread of its own that ends with the process: what hangs is abandoned, and holds up nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import threading
from collections.abc import Callable

from forcemove.channel.node.errors import LookHangs
from forcemove.channel.node.workers import Worker

__all__ = ["Trouble", "keep_looking", "look_now"]

_LONGEST_PAUSE = 5.0
"""An endpoint that is back is asked soon: a challenge may last for no more than a minute."""
Trouble = Callable[[Exception], None]
"""Is told of what has failed and will be tried again."""


def look_now(worker: Worker, trouble: Trouble) -> None:
    """One look, which is waited for."""
    look = worker.prepare()
    try:
        look()
        worker.take()
    except Exception as error:  # whatever an answer has led to ends no process
        trouble(error)


async def keep_looking(
    worker: Worker, trouble: Trouble, news: Callable[[], None], *, every: float, idle: float
) -> None:
    """Look each `every` seconds until cancelled; `news` is called after each look.

    What fails is tried again, with the next endpoint; where all have failed later and later, at most five seconds after
    the last time. `idle`: seconds after which a worker that had nothing to look for is asked again.
    """
    failures = 0
    while True:
        while worker.is_idle:
            await asyncio.sleep(idle)
        failures = 0 if await _has_looked(worker, trouble) else failures + 1
        news()
        pause = min(every * 2 ** min(failures // worker.endpoints, 10), max(every, _LONGEST_PAUSE))
        await asyncio.sleep(pause * (1 - random.random() / 2 if failures else 1))  # noqa: S311  # to part many


async def _has_looked(worker: Worker, trouble: Trouble) -> bool:
    look = worker.prepare()
    try:
        async with asyncio.timeout(worker.longest_look):
            await _in_thread(look)
        worker.take()
    except TimeoutError:
        worker.abandon()
        trouble(LookHangs(worker.longest_look or 0.0))
        return False
    except Exception as error:  # whatever an answer has led to ends no process
        trouble(error)
        return False
    return True


async def _in_thread(look: Callable[[], None]) -> None:
    """Unlike the executor's, the thread is nobody's to wait for when the process ends."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[None] = loop.create_future()

    def settle(error: BaseException | None) -> None:
        if done.done():
            return
        if error is None:
            done.set_result(None)
        else:
            done.set_exception(error)

    def run() -> None:
        error: BaseException | None = None
        try:
            look()
        except BaseException as raised:  # it is raised where it is waited for
            error = raised
        with contextlib.suppress(RuntimeError):  # the loop has ended meanwhile
            loop.call_soon_threadsafe(settle, error)

    threading.Thread(target=run, name="look", daemon=True).start()
    await done
