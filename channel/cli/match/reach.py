"""Tells a player that what carries the table is out of reach, and when it is back."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable
from typing import Protocol

__all__ = ["Reached", "telling_of_reach"]

_LOOK_EVERY = 0.25
_BEARABLE = 2.0
"""Seconds: what is made good sooner need not be told."""


class Reached(Protocol):
    """A connection, or a line that has one."""

    @property
    def url(self) -> str:
        """Where it goes, as it may be shown."""
        ...

    @property
    def is_connected(self) -> bool:
        """Whether there is a connection now."""
        ...


@contextlib.asynccontextmanager
async def telling_of_reach(connection: Reached, tell: Callable[[str], None]) -> AsyncIterator[None]:
    """Until the block is left. Raises then what `tell` has raised."""
    telling = asyncio.create_task(_tell(connection, tell))
    try:
        yield
    finally:
        telling.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await telling


async def _tell(connection: Reached, tell: Callable[[str], None]) -> None:
    seen, is_told = time.monotonic(), False
    while True:
        await asyncio.sleep(_LOOK_EVERY)
        if connection.is_connected:
            if is_told:
                tell(f"relay       {connection.url} is in reach again.")
            seen, is_told = time.monotonic(), False
        elif not is_told and time.monotonic() - seen > _BEARABLE:
            is_told = True
            tell(f"relay       {connection.url} is out of reach. What you do is kept, and sent when it is back.")
