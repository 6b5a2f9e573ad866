"""The logs that are in use, and who reads them. Only what is on disk is in `Kept`; what waits for it is counted."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import ParamSpec, Protocol, TypeVar

from forcemove.channel.line.limits import MAX_ENTRY
from forcemove.channel.line.terms import Table, TableKind
from forcemove.channel.line.wire import Entries, encode
from forcemove.channel.relay.limits import Limits
from forcemove.channel.relay.store import Kept, RelayStore

__all__ = ["Listener", "LiveLog", "Reading", "Tables", "TooManyTables", "Worker"]

P = ParamSpec("P")
R = TypeVar("R")
_ENTRY_HEAD = 5
"""Bytes before an entry in a message."""


class TooManyTables(Exception):  # no error of a caller's: a peer is refused
    """The relay keeps as many tables as it may."""


class Worker:
    """One thread, in which a store is used: the loop never waits for a disk."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1, "relay-store")

    async def run(self, do: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Do it after all that was asked for before."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, lambda: do(*args, **kwargs))

    def close(self) -> None:
        """Wait for what was asked for."""
        self._pool.shutdown()


class Listener(Protocol):
    """Who reads logs."""

    def offer(self, messages: list[bytes]) -> bool:
        """Encoded messages to send; False, and nothing is kept of them, where too much waits already."""
        ...

    def fall_behind(self, reading: Reading) -> None:
        """What comes next in a log is to be read from the disk."""
        ...


@dataclass(eq=False)
class Reading:
    """How far a listener has been sent a log: `next` is the entry that follows. One that is behind reads from the disk;
    others are sent what is new."""

    listener: Listener
    log: LiveLog
    next: int
    is_behind: bool = True


@dataclass(eq=False)
class LiveLog:
    """A log in use by `users` connections. `coming`: what waits for the disk, by author and id; `coming_size`: its
    bytes."""

    kept: Kept
    readings: set[Reading] = field(default_factory=set)
    users: int = 0
    coming: set[tuple[bytes, bytes]] = field(default_factory=set)
    coming_count: int = 0
    coming_size: int = 0

    def deliver(self, first: int, entries: list[bytes]) -> None:
        """Send what is on disk now to all that have been sent everything before it; others read it from there. Who has
        just read from the disk may have some of it already."""
        messages = chunks(self.kept.id, first, entries) if self.readings else []
        for reading in self.readings:
            if reading.is_behind or reading.next >= self.kept.length:
                continue
            if reading.next == first and reading.listener.offer(messages):
                reading.next = self.kept.length
            else:
                reading.is_behind = True
                reading.listener.fall_behind(reading)


def chunks(table: bytes, first: int, entries: list[bytes]) -> list[bytes]:
    """Entries as encoded messages, each of which fits into a frame."""
    messages, start, size = [], 0, 0
    for place, entry in enumerate(entries):
        size += len(entry) + _ENTRY_HEAD
        if size > MAX_ENTRY and place > start:
            messages.append(encode(Entries(table, first + start, tuple(entries[start:place]))))
            start, size = place, len(entry) + _ENTRY_HEAD
    return [*messages, encode(Entries(table, first + start, tuple(entries[start:])))]


class Tables:
    """All tables of a relay: those in use are in memory."""

    def __init__(self, store: RelayStore, worker: Worker, limits: Limits) -> None:
        self._store, self._worker, self._limits = store, worker, limits
        self._live: dict[bytes, LiveLog] = {}
        self._opening = asyncio.Lock()
        self.count = 0

    @property
    def in_use(self) -> int:
        """How many tables somebody is connected to."""
        return len(self._live)

    async def start(self) -> None:
        """Count what is kept."""
        self.count = await self._worker.run(self._store.count)

    async def find(self, table: bytes) -> LiveLog | None:
        """A table's log, in use by one more, or None where there is no such table."""
        async with self._opening:
            log = self._live.get(table) or await self._load(table)
            return None if log is None else self._used(log)

    async def make(self, table: Table) -> LiveLog:
        """A table's log, in use by one more; made if there is none. Raises `TooManyTables`."""
        async with self._opening:
            log = self._live.get(table.id) or await self._load(table.id)
            if log is None:
                if self.count >= self._limits.tables:
                    raise TooManyTables
                log = LiveLog(await self._worker.run(self._store.create, table))
                self.count += 1
            return self._used(log)

    def release(self, log: LiveLog) -> None:
        """In use by one less. What is not used is not kept in memory."""
        log.users -= 1
        self.forget_if_unused(log)

    def forget_if_unused(self, log: LiveLog) -> None:
        """Nobody is connected, and nothing waits for the disk."""
        if not log.users and not log.coming_count:
            self._live.pop(log.kept.id, None)

    def has_room(self, log: LiveLog, size: int) -> bool:
        """Whether a log may get one more entry of so many bytes: a channel's always may."""
        if log.kept.table.kind is TableKind.CHANNEL:
            return True
        entries = log.kept.length + log.coming_count
        return entries < self._limits.game_entries and (
            log.kept.size + log.coming_size + size <= self._limits.game_bytes
        )

    async def shorten(self, log: LiveLog) -> None:
        """Drop the oldest entries of a channel's log that is too long."""
        kept, limits = log.kept, self._limits
        is_long = kept.length - kept.first > limits.channel_entries or kept.size > limits.channel_bytes
        if is_long and kept.table.kind is TableKind.CHANNEL:
            bounds = (kept.number, limits.channel_entries, limits.channel_bytes)
            kept.first, kept.dropped = await self._worker.run(self._store.drop_oldest, *bounds)

    async def expire(self) -> int:
        """Delete the tables at which nothing has happened for too long and that nobody uses; returns how many."""
        deleted = 0
        while True:
            async with self._opening:
                idle = await self._worker.run(self._store.idle, self._limits.days * 86_400)
                numbers = [number for number, id_ in idle if id_ not in self._live]
                await self._worker.run(self._store.delete, numbers)
            self.count -= len(numbers)
            deleted += len(numbers)
            if not numbers:
                return deleted

    async def _load(self, table: bytes) -> LiveLog | None:
        kept = await self._worker.run(self._store.load, table)
        return None if kept is None else LiveLog(kept)

    def _used(self, log: LiveLog) -> LiveLog:
        log.users += 1
        return self._live.setdefault(log.kept.id, log)
