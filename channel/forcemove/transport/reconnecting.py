"""What connections for any number of tables have in common, whatever their protocol: a lost one is opened again, after
pauses that double while attempts fail, and a request is answered in time or fails."""

from __future__ import annotations

import asyncio
import logging
import time
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, NoReturn, Protocol, Self, TypeVar

from forcemove.backoff import Backoff
from forcemove.errors import ForcemoveError, InvalidValue
from forcemove.transport.ending import end
from forcemove.transport.errors import RelayFaulty, RelayUnreachable, TransportClosed
from forcemove.transport.faults import Faults
from forcemove.transport.remote_log import RemoteLog

if TYPE_CHECKING:
    from ssl import SSLContext

_LOG = logging.getLogger(__name__)
SHORTEST = 0.1
_LONGEST = 10.0
_LONG = 30.0
"""Seconds after which an attempt was a good one."""
_FIRST_LASTING, _LONGEST_LASTING = 1.0, 60.0
"""Seconds between two attempts where only an operator, or an update, can mend the error."""
ANSWER_SECONDS = 10.0
"""Seconds that a server that is connected may take to answer."""
REQUEST_SECONDS = 30.0
"""Seconds that a request of the lobby may take, however often the connection is lost meanwhile."""
_REPORT_AGAIN = 60.0
"""Seconds after which the same error is reported once more."""


LogT = TypeVar("LogT", bound=RemoteLog)
ResultT = TypeVar("ResultT")


class InTime(Protocol):
    """Waits for an answer, up to a limit of time."""

    async def __call__(self, asking: Coroutine[Any, Any, ResultT], asked: str) -> ResultT:
        """`asked`: what the server is asked for, in words. Raises `RelayUnreachable`, and as `asking`."""
        ...


async def keep_trying(attempt: Callable[[], Awaitable[None]], pauses: Backoff) -> NoReturn:
    """Attempt again and again; what has lasted for half a minute was a good attempt. Raises what an attempt raises."""
    while True:
        began = time.monotonic()
        await attempt()
        if time.monotonic() - began > _LONG:
            pauses.reset()
        await asyncio.sleep(pauses.next_pause())


class Reconnecting(ABC, Generic[LogT]):
    """A connection that is opened again whenever it was lost. Used as `async with`: kept until the block is left.
    `url`: its address, without a password."""

    def __init__(
        self,
        url: str,
        patience: float | None,
        heartbeat: float,
        ssl: SSLContext | None,
        on_error: Callable[[ForcemoveError], None],
        fault_seconds: float | None,
    ) -> None:
        """Connect to `url`, once the block is entered.

        - `url`: the server's address, without a password.
        - `patience`: seconds until entering the block gives up where nobody answers; None never does, whatever answers.
        - `heartbeat`: seconds between signs of life.
        - `ssl`: if not the system's certificates are to be trusted.
        - `on_error`: see `connect.connect`.
        - `fault_seconds`: see `connect.connect`.
        """
        self.url, self._patience, self._heartbeat, self._ssl = url, patience, heartbeat, ssl
        self._tables: dict[bytes, LogT] = {}
        self._on_error = on_error
        self._error: ForcemoveError | None = None
        self._reported: tuple[ForcemoveError, float] | None = None
        self._end: ForcemoveError | None = None
        self._is_entered = False
        self._pauses = Backoff(SHORTEST, _LONGEST)
        self._faults = Faults(fault_seconds)

    @property
    @abstractmethod
    def is_connected(self) -> bool:
        """Whether there is a connection now."""

    @property
    def error(self) -> ForcemoveError | None:
        """Why there is no connection, None where there is one."""
        return None if self.is_connected else self._error

    async def __aenter__(self) -> Self:
        """Raises `RelayUnreachable`, and errors that no other attempt would mend; neither where `patience` is None."""
        self._running = asyncio.create_task(self._run())
        try:
            await self._first()
        except BaseException:
            await self._stop()
            raise
        self._is_entered = True
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
            raise self._error or RelayUnreachable(self.url, "it has not answered in time") from None

    async def _stop(self) -> None:
        """Raises the error that has ended a task of the connection, if that was our mistake."""
        self._fail(TransportClosed(self.url))
        for error in await end(self._tasks()):
            raise error

    async def _opened(self, new: LogT) -> LogT:
        """A table's log, once it was read for the first time: the one that we have already, or this new one."""
        if self._end is not None:
            raise self._end
        log = self._tables.setdefault(new.id, new)
        if log.participant != new.participant:
            raise InvalidValue("key", new.participant, "the one with which this connection has joined the table before")
        if log is new:
            self._begin(new)
        asked = f"to open table 0x{new.id.hex()}"
        try:
            await answered(log.opened(), self.url, asked, lambda: self.is_connected, log.length)
        except ForcemoveError:
            self._drop(new.id)
            raise
        return log

    async def _in_time(self, asking: Coroutine[Any, Any, ResultT], asked: str) -> ResultT:
        """The answer to a request, which may take 30 seconds at most. Raises `RelayUnreachable`, and as `asking`."""
        return await answered(
            asking,
            self.url,
            asked,
            lambda: self.is_connected,
            within=REQUEST_SECONDS,
            last_error=lambda: self._error,
        )

    def _tasks(self) -> Sequence[asyncio.Task[None]]:
        """The tasks to cancel in the end."""
        return [self._running]

    def _report_error(self, error: ForcemoveError) -> None:
        """Reports an error once, and again where it lasts. The owner's own failure in taking it is logged and no
        more."""
        self._error, now = error, time.monotonic()
        if self._reported is None or self._reported[0] != error or now - self._reported[1] > _REPORT_AGAIN:
            self._reported = error, now
            try:
                self._on_error(error)
            except Exception:
                _LOG.exception("an error of %s could not be reported", self.url)

    def _on_lasting_error(self, error: ForcemoveError) -> None:
        """Go on after an error that hardly passes by itself, with fewer attempts: money may depend on the tables.
        Raises the error only while the block is entered, for a caller that would give up."""
        if self._patience is not None and not self._is_entered:
            raise error
        self._lengthen_pauses()
        self._report_error(error)

    def _lengthen_pauses(self) -> None:
        """What is wrong will not pass soon."""
        self._pauses.lengthen(_FIRST_LASTING, _LONGEST_LASTING)

    def _leave_if_hopeless(self) -> None:
        """Raises `RelayFaulty` where only faults have come for too long."""
        if self._faults.are_hopeless:
            error = self._error
            reason = error.reason if isinstance(error, RelayUnreachable) else type(error).__name__
            raise RelayFaulty(self.url, self._faults.seconds, reason)

    def _fail(self, failure: ForcemoveError) -> None:
        """The connection has ended: pending calls at all tables get the failure."""
        self._end = self._end or failure
        for log in self._tables.values():
            log.fail(failure)

    def _drop(self, table: bytes) -> None:
        """Forget a log that could not be opened."""
        self._tables.pop(table, None)

    @abstractmethod
    def _begin(self, log: LogT) -> None:
        """Begin to read a new log."""

    @abstractmethod
    async def _connected(self) -> None:
        """Return as soon as there is a connection. Raises the error that has ended this one."""

    @abstractmethod
    async def _run(self) -> None:
        """Runs until it is cancelled. At the end pending calls get the failure."""


async def answered(
    asking: Awaitable[ResultT],
    url: str,
    asked: str,
    is_connected: Callable[[], bool],
    progress: Callable[[], int] = lambda: 0,
    *,
    within: float | None = None,
    last_error: Callable[[], ForcemoveError | None] = lambda: None,
) -> ResultT:
    """The answer to a question. Without a connection, the question waits for one. A server that is connected and sends
    nothing for 10 seconds will not answer.

    - `asking`: asks, and returns the answer; cancelled where this ends without one.
    - `url`: of the server.
    - `asked`: what the server was asked for, in words.
    - `is_connected`: whether there is a connection now.
    - `progress`: a number that changes as long as a long answer is coming.
    - `within`: seconds that the answer may take at most, with or without a connection; None sets no limit.
    - `last_error`: the last error of the connection, None for none.

    Raises `RelayUnreachable`, which names what was asked, and what asking raises.
    """
    task, seen, before = asyncio.ensure_future(asking), progress(), last_error()
    left = within
    try:
        while not (await asyncio.wait([task], timeout=_least(ANSWER_SECONDS, left)))[0]:
            left = None if left is None else left - ANSWER_SECONDS
            is_silent = is_connected() and progress() == seen and last_error() is before
            if is_silent or (left is not None and left <= 0):
                raise RelayUnreachable(url, _missing(asked, is_silent, within, before, last_error()))
            seen = progress()
        return task.result()
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait([task])


def _least(most: float, left: float | None) -> float:
    return most if left is None else min(most, left)


def _missing(
    asked: str, is_silent: bool, within: float | None, before: ForcemoveError | None, last: ForcemoveError | None
) -> str:
    """The text of what was not answered, and of the error meanwhile."""
    if is_silent or within is None:
        return f"it was asked {asked}, and has said nothing for {ANSWER_SECONDS:g} seconds"
    wrong = f"; at last: {last.reason}" if isinstance(last, RelayUnreachable) and last is not before else ""
    return f"it was asked {asked}, and has not answered within {within:g} seconds{wrong}"[:400]
