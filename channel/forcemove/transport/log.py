"""What a client knows of one table's log: its newest entries, in order, and a running hash. Knows no network."""

from __future__ import annotations

import asyncio

from forcemove.errors import ForcemoveError, InvalidValue
from forcemove.flow.history import NOTHING_READ, running_hash
from forcemove.transport.errors import LogBegins


class TableLog:
    """The newest entries of one table's log. Entries are counted from 0, dropped ones included.

    `first`: the number of the oldest entry that is kept; `hash`: the running hash over all up to the newest, as
    `flow.history` has it, or None; `length`: how many entries the log is known to have.
    """

    def __init__(self, max_entries: int, max_bytes: int) -> None:
        """How many entries and bytes are kept: the oldest are dropped."""
        self._max_entries, self._max_bytes = max_entries, max_bytes
        self._entries: list[bytes] = []
        self._size = 0
        self.first, self.length = 0, 0
        self.hash: bytes | None = NOTHING_READ
        self._failure: ForcemoveError | None = None
        self._waiting: set[asyncio.Future[None]] = set()

    @property
    def end(self) -> int:
        """The number of the next entry."""
        return self.first + len(self._entries)

    def add(self, entries: tuple[bytes, ...]) -> None:
        """Add the next entries."""
        for entry in entries:
            self.hash = None if self.hash is None else running_hash(self.hash, entry)
            self._size += len(entry)
        self._entries += entries
        self.length = max(self.length, self.end)
        self._drop_oldest()
        self._wake()

    def restart(self, first: int, hash_: bytes | None) -> None:
        """Drop all entries, and continue with number `first`, before which the hash is `hash_`, or is not known."""
        self._entries, self._size, self.first, self.hash = [], 0, first, hash_
        self.length = max(self.length, first)
        self._wake()

    def fail(self, failure: ForcemoveError) -> None:
        """End the log: readers that have read all entries get the failure."""
        self._failure = self._failure or failure
        self._wake()

    def entry(self, number: int) -> bytes | None:
        """Entry `number`; None where it is not there, or was dropped."""
        return self._entries[number - self.first] if self.first <= number < self.end else None

    async def wait_for(self, number: int) -> None:
        """Wait until the log changes, if entry `number` may come yet. Raises `LogBegins` where it was dropped, and the
        log's failure."""
        if number < self.first:
            raise LogBegins(self.first)
        if self._failure is not None:
            raise self._failure
        await self._change()

    def _drop_oldest(self) -> None:
        """Drop a quarter at a time, so that dropping is rare."""
        while len(self._entries) > self._max_entries or self._size > self._max_bytes:
            count = len(self._entries) // 4 + 1
            self._size -= sum(map(len, self._entries[:count]))
            del self._entries[:count]
            self.first += count

    async def _change(self) -> None:
        waiting = asyncio.get_running_loop().create_future()
        self._waiting.add(waiting)
        try:
            await waiting
        finally:
            self._waiting.discard(waiting)

    def _wake(self) -> None:
        for waiting in self._waiting:
            if not waiting.done():
                waiting.set_result(None)


class TableLogReader:
    """See `flow.transport.Reader`; where entries were dropped, `LogBegins` is raised once in their place."""

    def __init__(self, log: TableLog, start: int) -> None:
        if start < 0:
            raise InvalidValue("start", start, "0 or more")
        self._log, self._next = log, start

    def read_now(self) -> bytes | None:
        """The next entry, if it is there. None where it is not, and where entries were dropped, as `read` then says."""
        entry = self._log.entry(self._next)
        if entry is not None:
            self._next += 1
        return entry

    async def read(self) -> bytes:
        """The next entry, as soon as there is one."""
        while (entry := self.read_now()) is None:
            try:
                await self._log.wait_for(self._next)
            except LogBegins as fault:
                self._next = fault.first
                raise
        return entry
