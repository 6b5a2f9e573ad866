"""Ends tasks of an event loop. Knows nothing of what they do."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any


async def end(tasks: Iterable[asyncio.Task[Any]]) -> list[Exception]:
    """Cancel these tasks, and wait until all have ended. Returns the errors that have ended some, in their order; a
    cancellation of this wait itself is raised."""
    ending = tuple(tasks)
    for task in ending:
        task.cancel()
    ended = await asyncio.gather(*ending, return_exceptions=True)
    return [each for each in ended if isinstance(each, Exception)]
