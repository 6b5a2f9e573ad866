"""Attempts to connect: one after the other, with pauses that double while nothing comes of them."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from typing import NoReturn

__all__ = ["SHORTEST", "Pauses"]

SHORTEST = 0.1
_LONGEST = 10.0
_LONG = 30.0
"""Seconds after which a connection was a good one."""


class Pauses:
    """Of one connection: 0.1 to 10 seconds, of which a random part is waited, so that clients spread."""

    def __init__(self) -> None:
        self._next = SHORTEST

    def begin_anew(self) -> None:
        """The connection has been of use: the next loss is a new one."""
        self._next = SHORTEST

    async def between(self, attempt: Callable[[], Awaitable[None]]) -> NoReturn:
        """Attempt again and again. Raises what an attempt raises."""
        while True:
            began = time.monotonic()
            await attempt()
            if time.monotonic() - began > _LONG:
                self.begin_anew()
            await asyncio.sleep(random.uniform(0.5, 1) * self._next)  # noqa: S311  # no secret
            self._next = min(2 * self._next, _LONGEST)
