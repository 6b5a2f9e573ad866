"""Tells a player that the relay or the chain is out of reach, and when it is back: both in the same words."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Protocol

from forcemove.follower.viewer import Viewer
from forcemove.node.clock import seconds

__all__ = ["ChainReach", "Reached", "back_text", "lost_text", "telling_of_reach"]

_LOOK_EVERY = 0.25
_BEARABLE = 2.0
"""Seconds: what is made good sooner need not be told."""
_SILENT = 8.0
"""Seconds without an answer after which a chain counts as out of reach: while it fails it is asked every five."""


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


class ChainReach:
    """A chain, through any of its endpoints, as a node looks at it."""

    def __init__(self, viewers: Sequence[Viewer], clock: Callable[[], float] = seconds) -> None:
        """`clock`: that of the node."""
        self._viewers, self._clock = viewers, clock

    @property
    def url(self) -> str:
        """Where it is looked for."""
        return ", ".join(each.endpoint for each in self._viewers)

    @property
    def is_connected(self) -> bool:
        """Whether an endpoint has answered of late."""
        answered = [each.answered_at for each in self._viewers if each.answered_at is not None]
        return bool(answered) and self._clock() - max(answered) < _SILENT


def lost_text(what: str, url: str) -> str:
    """That it is out of reach."""
    return f"{what:<12}{url} is out of reach. What you do is kept, and sent when it is back."


def back_text(what: str, url: str) -> str:
    """That it is in reach again."""
    return f"{what:<12}{url} is in reach again."


@contextlib.asynccontextmanager
async def telling_of_reach(
    connection: Reached, tell: Callable[[str], None], what: str = "relay"
) -> AsyncIterator[None]:
    """Until the block is left. `what`: the relay, or the chain. Raises then what `tell` has raised."""
    telling = asyncio.create_task(_tell(connection, tell, what))
    try:
        yield
    finally:
        telling.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await telling


async def _tell(connection: Reached, tell: Callable[[str], None], what: str) -> None:
    seen, is_told = time.monotonic(), False
    while True:
        await asyncio.sleep(_LOOK_EVERY)
        if connection.is_connected:
            if is_told:
                tell(back_text(what, connection.url))
            seen, is_told = time.monotonic(), False
        elif not is_told and time.monotonic() - seen > _BEARABLE:
            is_told = True
            tell(lost_text(what, connection.url))
