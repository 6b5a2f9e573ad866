"""Looks at what is outside, again and again: at a steady pace while that works, later and later while it fails."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable

from forcemove.channel.errors import ForcemoveError
from forcemove.channel.node.workers import Worker

__all__ = ["Trouble", "keep_looking", "look_now"]

_LONGEST_PAUSE = 5.0
"""An endpoint that is back is asked soon: a challenge may last for no more than a minute."""
Trouble = Callable[[Exception], None]
"""Is told of what has failed and will be tried again."""


def look_now(worker: Worker, trouble: Trouble) -> None:
    """One look, which is waited for."""
    worker.prepare()
    try:
        worker.look()
        worker.take()
    except ForcemoveError as error:
        trouble(error)


async def keep_looking(
    worker: Worker, trouble: Trouble, news: Callable[[], None], *, every: float, idle: float
) -> None:
    """Look each `every` seconds until cancelled, each time in a thread of its own; `news` is called after each look.

    What fails is tried again, with the next endpoint; where all have failed later and later, at most five seconds after
    the last time. `idle`: seconds after which a worker that had nothing to look for is asked again.
    """
    failures = 0
    while True:
        while worker.is_idle:
            await asyncio.sleep(idle)
        failures = 0 if await _has_looked(worker, trouble) else failures + 1
        news()
        pause = min(every * 2 ** (failures // worker.endpoints), max(every, _LONGEST_PAUSE))
        await asyncio.sleep(pause * (1 - random.random() / 2 if failures else 1))  # noqa: S311  # to part many


async def _has_looked(worker: Worker, trouble: Trouble) -> bool:
    worker.prepare()
    try:
        await asyncio.to_thread(worker.look)
        worker.take()
    except ForcemoveError as error:
        trouble(error)
        return False
    return True
