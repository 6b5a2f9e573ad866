"""What connections for any number of tables have in common, whatever carries these: a lost one is made anew, after
pauses that double while nothing comes of it."""

from __future__ import annotations

import asyncio
import random
import time
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from ssl import SSLContext
from types import TracebackType
from typing import Generic, NoReturn, Self, TypeVar

from forcemove.channel.errors import ForcemoveError, InvalidValue
from forcemove.channel.line.carried import CarriedLog
from forcemove.channel.line.errors import LineClosed, RelayUnreachable

__all__ = ["SHORTEST", "Pauses", "Reconnecting"]

SHORTEST = 0.1
_LONGEST = 10.0
_LONG = 30.0
"""Seconds after which a connection was a good one."""


LogT = TypeVar("LogT", bound=CarriedLog)


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


class Reconnecting(ABC, Generic[LogT]):
    """Used as `async with`: kept until the block is left. `url`: where it is, without a password."""

    def __init__(self, url: str, patience: float | None, heartbeat: float, ssl: SSLContext | None) -> None:
        """`patience`: seconds until entering the block gives up where nobody answers; None never does. `heartbeat`:
        seconds between signs of life. `ssl`: if not the system's certificates are to be trusted."""
        self.url, self._patience, self._heartbeat, self._ssl = url, patience, heartbeat, ssl
        self._tables: dict[bytes, LogT] = {}
        self._trouble: ForcemoveError | None = None
        self._end: ForcemoveError | None = None
        self._pauses = Pauses()

    async def __aenter__(self) -> Self:
        """Raises `RelayUnreachable`, and what no other attempt would mend."""
        self._running = asyncio.create_task(self._run())
        try:
            await self._first()
        except BaseException:
            await self._stop()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self._stop()

    async def _first(self) -> None:
        try:
            async with asyncio.timeout(self._patience):
                await self._connected()
        except TimeoutError:
            raise self._trouble or RelayUnreachable(self.url, "it has not answered in time") from None

    async def _stop(self) -> None:
        """Raises what has ended a task of the connection, if that was a mistake of ours."""
        self._fail(LineClosed(self.url))
        tasks = self._tasks()
        for task in tasks:
            task.cancel()
        for task in tasks:
            with suppress(asyncio.CancelledError):
                await task

    async def _opened(self, new: LogT) -> LogT:
        """A table's log, once it was looked at: the one that we have already, or this new one."""
        if self._end is not None:
            raise self._end
        log = self._tables.setdefault(new.id, new)
        if log.participant != new.participant:
            raise InvalidValue("key", new.participant, "the one with which this connection has joined the table before")
        if log is new:
            self._begin(new)
        try:
            await log.opened()
        except ForcemoveError:
            self._drop(new.id)
            raise
        return log

    def _tasks(self) -> Sequence[asyncio.Task[None]]:
        """What is cancelled in the end."""
        return [self._running]

    def _fail(self, failure: ForcemoveError) -> None:
        """It has ended: who waits at a table is told."""
        self._end = self._end or failure
        for log in self._tables.values():
            log.fail(failure)

    def _drop(self, table: bytes) -> None:
        """A log that could not be opened."""
        self._tables.pop(table, None)

    @abstractmethod
    def _begin(self, log: LogT) -> None:
        """Have a new log looked at."""

    @abstractmethod
    async def _connected(self) -> None:
        """As soon as there is a connection. Raises what has ended us."""

    @abstractmethod
    async def _run(self) -> None:
        """Until it is cancelled. However it ends, who waits is told."""
