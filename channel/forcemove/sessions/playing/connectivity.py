"""Reports to a player that the relay or the chain is out of reach, and when it is back: both in the same words."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Protocol

from forcemove.follower.endpoint_viewer import EndpointViewer
from forcemove.transport.ending import end
from forcemove.workers.clock import seconds

_POLL_SECONDS = 0.25
_BEARABLE = 2.0
"""Seconds: a shorter loss is not reported."""
_SILENT = 8.0
"""Seconds without an answer after which a chain counts as out of reach: while it fails it is asked every five."""


class Connectivity(Protocol):
    """A connection, or an object that has one."""

    @property
    def url(self) -> str:
        """The address of the other end, as it may be shown."""
        ...

    @property
    def is_connected(self) -> bool:
        """Whether there is a connection now."""
        ...


class ChainConnectivity:
    """The connectivity of a chain through any of its endpoints, as a node looks at it."""

    def __init__(self, viewers: Sequence[EndpointViewer], clock: Callable[[], float] = seconds) -> None:
        """`clock`: the node's."""
        self._viewers, self._clock = viewers, clock

    @property
    def url(self) -> str:
        """The addresses of the endpoints."""
        return ", ".join(each.endpoint for each in self._viewers)

    @property
    def is_connected(self) -> bool:
        """Whether an endpoint has answered of late."""
        answered = [each.answered_at for each in self._viewers if each.answered_at is not None]
        return bool(answered) and self._clock() - max(answered) < _SILENT


def lost_text(what: str, url: str) -> str:
    """The text that a relay or chain is out of reach."""
    return f"{what:<12}{url} is out of reach. What you do is kept, and sent when it is back."


def back_text(what: str, url: str) -> str:
    """The text that a relay or chain is in reach again."""
    return f"{what:<12}{url} is in reach again."


@contextlib.asynccontextmanager
async def reporting_connectivity(
    connection: Connectivity, notify: Callable[[str], None], what: str = "relay"
) -> AsyncIterator[None]:
    """Reports until the block is left. `connection`: whose connectivity; `notify`: is called with each text; `what`:
    the relay, or the chain. The error that `notify` raised is raised at the end."""
    reporting = asyncio.create_task(_notify(connection, notify, what))
    try:
        yield
    finally:
        for error in await end([reporting]):
            raise error


async def _notify(connection: Connectivity, notify: Callable[[str], None], what: str) -> None:
    seen, is_reported = time.monotonic(), False
    while True:
        await asyncio.sleep(_POLL_SECONDS)
        if connection.is_connected:
            if is_reported:
                notify(back_text(what, connection.url))
            seen, is_reported = time.monotonic(), False
        elif not is_reported and time.monotonic() - seen > _BEARABLE:
            is_reported = True
            notify(lost_text(what, connection.url))
