"""Calls a tower, in one thread at a time: it polls the tower in time, and gives it the appointments that have come, all
that wait in one commit.

A poll goes before waiting appointments, and of these no more are given at once than there is time for until the next
poll: a client that sends many delays no answer by more than one of them and a commit. No call is made in the event
loop's thread: an endpoint may take ten seconds, and to refuse the largest bad appointment takes a third of one.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TypeVar

from forcemove.errors import ForcemoveError
from forcemove.watchtower.appointment import AppointmentReceipt
from forcemove.watchtower.tower import Tower

_LOG = logging.getLogger(__name__)
ResultT = TypeVar("ResultT")


class TooManyWaiting(Exception):
    """As many appointments wait as may wait."""


@dataclass(frozen=True, slots=True)
class TowerSnapshot:
    """The tower as it was after the last poll. `left`: of each client's (20 bytes) budget, in wei; empty where another
    process drives. `looked_at`: when the chain was read last (seconds, monotonic), None before that."""

    is_driving: bool = False
    channels: int = 0
    left: Mapping[bytes, int] = field(default_factory=dict)
    looked_at: float | None = None


@dataclass(eq=False)
class _Waiting:
    data: bytes
    receipt: asyncio.Future[AppointmentReceipt]


class ServiceWorker:
    """Calls one tower. `snapshot`: the tower after the last poll; `polled_at`: when that ended (seconds, monotonic)."""

    def __init__(
        self,
        tower: Tower,
        clients: tuple[bytes, ...],
        *,
        look_every: float,
        max_waiting: int,
        on_error: Callable[[Exception], None],
    ) -> None:
        """Call the tower from now on, and nothing else may.

        - `tower`: which no other thread calls from now on.
        - `clients`: for whom the tower works, 20 bytes each.
        - `look_every`: seconds between two polls.
        - `max_waiting`: appointments that may wait.
        - `on_error`: is called with unexpected errors; the next poll is made nevertheless.
        """
        self._tower, self._clients, self._look_every, self._on_error = tower, clients, look_every, on_error
        self._waiting: list[_Waiting] = []
        self._max_waiting, self._is_stopping, self._has_work = max_waiting, False, asyncio.Event()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="tower")
        self.snapshot, self.polled_at = TowerSnapshot(), time.monotonic()

    async def accept(self, data: bytes) -> AppointmentReceipt:
        """As `Tower.accept`, in its turn. Raises `TooManyWaiting`, too."""
        if len(self._waiting) >= self._max_waiting:
            raise TooManyWaiting()
        waiting = _Waiting(data, asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        self._has_work.set()
        return await waiting.receipt

    def stop(self) -> None:
        """Let `run` return when the appointments that wait now are done."""
        self._is_stopping = True
        self._has_work.set()

    async def run(self) -> None:
        """Poll, and accept appointments, until `stop` was called."""
        while self._waiting or not self._is_stopping:
            if self._left <= 0:
                await self.poll()
            elif self._waiting:
                await self._process()
            else:
                self._has_work.clear()
                with suppress(TimeoutError):
                    async with asyncio.timeout(self._left):
                        await self._has_work.wait()

    @property
    def _left(self) -> float:
        """Seconds until the next poll."""
        return self.polled_at + self._look_every - time.monotonic()

    async def poll(self) -> None:
        """Poll the tower once."""
        try:
            self.snapshot = await self._call(self._poll)
        except Exception as error:
            _LOG.exception("the tower made a mistake")
            self._on_error(error)
        finally:
            self.polled_at = time.monotonic()

    def _poll(self) -> TowerSnapshot:
        tower = self._tower
        tower.poll()
        left = {client: tower.left(client) for client in self._clients} if tower.is_driving else {}
        return TowerSnapshot(tower.is_driving, len(tower.channels), left, tower.looked_at)

    async def _process(self) -> None:
        """Give the tower what waits, but for what clients have sent that have gone."""
        self._waiting = [each for each in self._waiting if not each.receipt.done()]
        group = tuple(self._waiting)
        found: Sequence[AppointmentReceipt | Exception]
        try:
            found = await self._call(lambda: self._tower.accept_all(self._in_time(group)))
        except Exception as error:
            found = [error] * len(group)
        del self._waiting[: len(found)]
        for waiting, result in zip(group, found, strict=False):
            if waiting.receipt.done():
                if isinstance(result, Exception) and not isinstance(result, ForcemoveError):
                    self._on_error(result)
            elif isinstance(result, Exception):
                waiting.receipt.set_exception(result)
            else:
                waiting.receipt.set_result(result)

    def _in_time(self, group: Sequence[_Waiting]) -> Iterator[bytes]:
        """The appointments of a group until the next poll is due, at least one."""
        for each in group:
            yield each.data
            if self._left <= 0:
                return

    async def _call(self, part: Callable[[], ResultT]) -> ResultT:
        return await asyncio.get_running_loop().run_in_executor(self._thread, part)

    async def release(self) -> None:
        """Give the tower's lease back, and call it no more."""
        try:
            await self._call(self._tower.release)
        except ForcemoveError as error:
            _LOG.warning("the lease was not given back; it ends by itself", extra={"facts": {"error": str(error)}})
        finally:
            self._thread.shutdown()
