"""The logs in use, and their readers. `StoredLog` says what is on disk; posts that wait for the disk are counted."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Protocol

from forcemove.errors import JournalUnavailable
from forcemove.relay.limits import RECENT, Limits
from forcemove.relay.storage.deleting import Idle
from forcemove.relay.storage.disk_quota import FULL_DISK, DiskQuota, account_id
from forcemove.relay.storage.recent import Newest, Recent
from forcemove.relay.storage.schema import ENTRY_COST, StoredLog
from forcemove.relay.storage.store import RelayStore
from forcemove.relay.storage.worker import Worker
from forcemove.transport.errors import Reason
from forcemove.transport.limits import MAX_ENTRY
from forcemove.transport.terms import TableKind, TableTerms
from forcemove.transport.wire import Coming, Entries, PostEntry, encode

_ENTRY_HEAD = 5
"""Bytes before an entry in a message."""


class TooManyTables(Exception):  # no error of a caller's: a peer is refused
    """There is no room for one more table: `reason` and `detail` are sent to the client."""

    def __init__(self, reason: Reason, detail: str) -> None:
        super().__init__(detail)
        self.reason, self.detail = reason, detail


class TableClient(Protocol):
    """The client of a connection, which uses tables and offers."""

    def say(self, message: bytes) -> None:
        """Send an encoded message."""
        ...

    def offer(self, messages: list[bytes]) -> bool:
        """Send encoded messages; False, and none of them is sent, where too many bytes wait already."""
        ...

    def fall_behind(self, reading: Reading) -> None:
        """The client must read the next entries of a log from the disk."""
        ...

    def refuse(self, about: bytes, reason: Reason, detail: str, id_: bytes = b"") -> None:
        """Send the client that its request is refused. `about`: the table or offer; `id_`: the request's id."""
        ...


@dataclass(eq=False)
class Reading:
    """How far a listener has been sent a log: `next` is the entry that follows. A listener that is behind reads
    from the disk; others are sent new entries. `is_players`: whether the listener takes part at the table; listeners
    that do not are always sent entries from the disk, in their turn. `sent_coming`: how many of the posts that wait
    for the disk the listener was sent, at most."""

    listener: TableClient
    log: LiveLog
    next: int
    is_behind: bool = True
    is_players: bool = True
    sent_coming: int = 0


@dataclass(eq=False)
class LiveLog:
    """A log in use by `users` connections. `coming`: the posts that wait for the disk, by author and id;
    `coming_count`, `coming_size`: how many they are, and their entries' bytes."""

    kept: StoredLog
    readings: set[Reading] = field(default_factory=set)
    newest: Newest = field(init=False)
    users: int = 0
    coming: set[tuple[bytes, bytes]] = field(default_factory=set)
    coming_count: int = 0
    coming_size: int = 0

    def __post_init__(self) -> None:
        self.newest = Newest(self.kept.length)

    def send_coming(self, poster: TableClient, post: PostEntry) -> None:
        """Send a post that is about to wait for the disk to the players that know all that came before it. Only at a
        channel's table: there the order of the log says nothing, and what counts is signed. `poster`: the client that
        has posted it."""
        if self.kept.table.kind is not TableKind.CHANNEL:
            return
        end, message = self.kept.length + self.coming_count, [encode(Coming(post.table, post.entry))]
        for reading in self.readings:
            if reading.is_behind or not reading.is_players or reading.next + reading.sent_coming != end:
                continue
            if reading.listener is poster or reading.listener.offer(message):
                reading.sent_coming += 1

    def coming_settled(self, count: int) -> None:
        """So many posts wait for the disk no more. Readers that were not told of all count as told of fewer."""
        for reading in self.readings:
            reading.sent_coming = max(0, reading.sent_coming - count)

    def deliver(self, first: int, entries: list[bytes]) -> None:
        """Send entries that are on disk now to the players that have been sent all entries before; other readers read
        them from the disk, unless they have read them there already."""
        messages = chunks(self.kept.id, first, entries) if self.readings else []
        for reading in self.readings:
            if reading.is_behind or reading.next >= self.kept.length:
                continue
            if reading.is_players and reading.next == first and reading.listener.offer(messages):
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
        self._recent = Recent(RECENT)
        self.room = DiskQuota(limits)

    @property
    def count(self) -> int:
        """How many tables are kept."""
        return self.room.tables.used

    @property
    def in_use(self) -> int:
        """How many tables are in use by connections."""
        return len(self._live)

    async def start(self) -> None:
        """Read from the store which tables are kept."""
        await self._worker.run(self._store.space.start, self._limits.store_bytes)
        self.room.start(await self._worker.run(self._store.deleting.held))
        await self.measure()

    async def measure(self) -> None:
        """Measure how much disk the store takes, and how much there is."""
        self.room.measured(*await self._worker.run(self._store.space.measure))

    async def find(self, table: bytes) -> LiveLog | None:
        """A table's log, in use by one more connection, or None where there is no such table."""
        async with self._opening:
            log = self._live.get(table) or await self._load(table)
            return None if log is None else self._used(log)

    async def make(self, table: TableTerms, address: str = "") -> LiveLog:
        """A table's log, in use by one more connection; made if there is none. `address`: of the client that makes it.
        Raises `TooManyTables`."""
        async with self._opening:
            log = self._live.get(table.id) or await self._load(table.id)
            return self._used(log or await self._make(table, account_id(address)))

    async def _make(self, table: TableTerms, account: bytes) -> LiveLog:
        if fault := self.room.fault_of_table(account):
            raise TooManyTables(*fault)
        try:
            kept = await self._worker.run(self._store.create, table, account)
        except JournalUnavailable as error:
            self.room.shut(error)
            raise TooManyTables(Reason.BUSY, FULL_DISK) from error
        self.room.add_table(account)
        return LiveLog(kept)

    def release(self, log: LiveLog) -> None:
        """A log is in use by one connection less. A log that is not in use is not kept in memory."""
        log.users -= 1
        self.forget_if_unused(log)

    def forget_if_unused(self, log: LiveLog) -> None:
        """Drop a log from memory if no connection uses it, and none of its posts waits for the disk."""
        if not log.users and not log.coming_count:
            self._live.pop(log.kept.id, None)

    def fault_of_post(self, log: LiveLog, size: int) -> tuple[Reason, str] | None:
        """Why a log may not get one more entry of `size` bytes, None if it may. A channel's log that is full drops its
        oldest entries instead."""
        if log.kept.table.kind is TableKind.GAME and not self._is_shorter(log, size):
            return Reason.TABLE_FULL, "this table's log may not get longer"
        return self.room.fault_of_entry(log.kept.account, log.coming_count, log.coming_size + size)

    def _is_shorter(self, log: LiveLog, size: int) -> bool:
        entries = log.kept.length + log.coming_count
        return entries < self._limits.game_entries and (
            log.kept.size + log.coming_size + size <= self._limits.game_bytes
        )

    def extend(self, log: LiveLog, entries: list[bytes], total: int, hash_: bytes) -> bool:
        """Note that entries are on disk. `total`: the bytes of all entries that the log has ever had; `hash_`:
        the running hash over them. Returns whether `shorten` is to be called."""
        kept, limits = log.kept, self._limits
        self.room.change(kept.account, total - kept.total + ENTRY_COST * len(entries))
        kept.length, kept.total, kept.hash = kept.length + len(entries), total, hash_
        self._recent.add(log.newest, entries)
        is_long = kept.length - kept.first > limits.channel_entries or total - kept.dropped > limits.channel_bytes
        return is_long and kept.table.kind is TableKind.CHANNEL

    async def shorten(self, log: LiveLog) -> None:
        """Drop the oldest entries of a channel's log."""
        kept, cost = log.kept, log.kept.cost
        bounds = (kept.number, self._limits.channel_entries, self._limits.channel_bytes)
        try:
            kept.first, kept.dropped = await self._worker.run(self._store.drop_oldest, *bounds)
        except JournalUnavailable as error:  # the next post tries again
            self.room.shut(error)
        self.room.change(kept.account, kept.cost - cost)

    # --------------------------------------------------------------------------------------------------------- reading

    async def hash_before(self, log: LiveLog, place: int) -> bytes | None:
        """The running hash over the entries before a place, or None where the last of them is not kept."""
        kept = log.kept
        if place == kept.length:
            return kept.hash
        return await self._worker.read(self._store.reader.hash_before, kept.number, place)

    async def find_post(self, log: LiveLog, since: int, author: bytes, id_: bytes) -> int | None:
        """The place, from `since` on, of the entry that an author has posted under an id, or None."""
        return await self._worker.read(self._store.reader.find, log.kept.number, since, author, id_)

    async def read(self, log: LiveLog, start: int, most_bytes: int) -> tuple[int, list[bytes]]:
        """Entries from a place on, or from the oldest one on where that is later, up to `most_bytes` but at least one;
        and the place of the first of them. The newest entries are in memory."""
        if entries := log.newest.read(start, most_bytes):
            return start, entries
        return await self._worker.read(self._store.reader.read, log.kept.number, start, most_bytes)

    # -------------------------------------------------------------------------------------------------------- deleting

    async def delete_unused(self, idle: list[Idle]) -> list[Idle]:
        """Forget those of these tables that no client has open, and return them; `Deleting.sweep` deletes their
        entries."""
        async with self._opening:
            going = [each for each in idle if each.id not in self._live]
            if going:
                await self._worker.run(self._store.deleting.forget, [each.number for each in going])
        for each in going:
            self.room.remove_table(each.account, each.cost)
        return going

    async def _load(self, table: bytes) -> LiveLog | None:
        kept = await self._worker.read(self._store.reader.load, table)
        return None if kept is None else LiveLog(kept)

    def _used(self, log: LiveLog) -> LiveLog:
        log.users += 1
        return self._live.setdefault(log.kept.id, log)
