"""Posts on their way to the disk: all posts that arrive during one commit go into the next one. No entry has a place in
its log, and no client is told that its post is kept, before the entry is on disk; players at a channel's table are told
at once what is coming. Addresses take turns, and each log keeps the order in which its posts have come: an answer to
what was coming does not go before it."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from forcemove.errors import JournalUnavailable
from forcemove.flow.history import running_hash
from forcemove.relay.fairness import FairQueue
from forcemove.relay.limits import PENDING
from forcemove.relay.metrics import Metrics
from forcemove.relay.storage.disk_quota import FULL_DISK
from forcemove.relay.storage.schema import Entry
from forcemove.relay.storage.store import RelayStore
from forcemove.relay.storage.worker import Worker
from forcemove.relay.tables import LiveLog, TableClient, Tables
from forcemove.transport.errors import Reason
from forcemove.transport.wire import Posted, PostEntry, RequestRefused, encode

_LOG = logging.getLogger(__name__)
_HOUR = 3_600
_BATCH, _TURN = 2**20, 2**13
"""Bytes after which a commit is full, and how many of them one address has before the next one has its turn."""
_POST = 2_048
"""Bytes that each post counts for besides its entry: the loop does nothing else while it makes a commit of posts."""
_PAUSE = 0.1
"""Seconds after which a store that could not be read is asked again."""


@dataclass(eq=False, slots=True)
class PendingPost:
    """A post that waits for the disk."""

    log: LiveLog
    poster: TableClient
    author: bytes
    post: PostEntry


@dataclass(eq=False, slots=True)
class _Growth:
    """What a commit adds to one log. `first`: the place of the first new entry; `total`, `hash`: the log's bytes, and
    its running hash, with all of them."""

    first: int
    total: int
    hash: bytes
    additions: list[PendingPost] = field(default_factory=list)


class Committer:
    """Commits posts, one batch after another; addresses take turns."""

    def __init__(
        self, store: RelayStore, worker: Worker, tables: Tables, metrics: Metrics, clock: Callable[[], float]
    ) -> None:
        """What it works with.

        - `store`: where posts are kept.
        - `worker`: the threads in which the store is used.
        - `tables`: the relay's, whose logs become longer.
        - `metrics`: where commits are counted and timed.
        - `clock`: Unix seconds.
        """
        self._store, self._worker, self._tables = store, worker, tables
        self._metrics, self._clock = metrics, clock
        self._queue: FairQueue[str, LiveLog] = FairQueue(PENDING, _TURN)
        self._waiting: dict[LiveLog, deque[PendingPost]] = {}
        self._has_work = asyncio.Event()
        self._taken, self._committed = asyncio.Event(), asyncio.Event()
        self._is_stopping = False

    @property
    def is_failing(self) -> bool:
        """Whether the disk takes no posts."""
        return self._tables.room.is_shut

    async def add(self, addition: PendingPost, address: str = "", weight: int = 1) -> None:
        """Take a post from a client at an address; waits while too many of that address' posts wait for the disk.
        `weight`: how many others' share the address has."""
        _announce(addition)
        try:
            while not self.has_room(address):
                await self._taken.wait()
        except BaseException:
            _settle(addition)
            self._wake()
            raise
        self._put(addition, address, weight)

    def has_room(self, address: str) -> bool:
        """Whether `add` would not wait."""
        return self._queue.has_room(address)

    def add_at_once(self, addition: PendingPost, address: str, weight: int) -> None:
        """Take a post as `add` does, without waiting: ask `has_room` first. Players are told that it is coming."""
        addition.log.send_coming(addition.poster, addition.post)
        _announce(addition)
        self._put(addition, address, weight)

    def _put(self, addition: PendingPost, address: str, weight: int) -> None:
        self._waiting.setdefault(addition.log, deque()).append(addition)
        self._queue.add(address, addition.log, len(addition.post.entry) + _POST, weight)
        self._has_work.set()

    async def next_commit(self) -> None:
        """Wait until one more commit was made, or has failed."""
        await self._committed.wait()

    def stop(self) -> None:
        """End `run` when all posts that were taken were committed or refused."""
        self._is_stopping = True
        self._has_work.set()

    async def run(self) -> None:
        """Commit until `stop` was called. Raises a `JournalError` where the store is damaged or gone for good."""
        while self._queue or not self._is_stopping:
            await self._has_work.wait()
            batch = self._queue.take(_BATCH)
            if not (self._queue or self._is_stopping):
                self._has_work.clear()
            self._taken.set()
            self._taken = asyncio.Event()
            if batch:
                await self._keep([self._oldest(log) for log in batch])

    def _oldest(self, log: LiveLog) -> PendingPost:
        """The next post of a log that has a turn, no matter whose turn it is."""
        waiting = self._waiting[log]
        addition = waiting.popleft()
        if not waiting:
            del self._waiting[log]
        return addition

    async def _keep(self, batch: list[PendingPost]) -> None:
        growths = _grown(batch)
        rows, now = _rows(growths), int(self._clock())
        stale = [log for log in growths if log.kept.touched < now - _HOUR]
        with self._metrics.commit_seconds.time():
            is_kept = await self._commit(rows, [(now, log.kept.number) for log in stale])
        for log, growth in growths.items():
            for addition in growth.additions:
                _settle(addition)
            log.coming_settled(len(growth.additions))
            if not is_kept:
                _refuse(growth)
            else:
                entries = [each.post.entry for each in growth.additions]
                if self._tables.extend(log, entries, growth.total, growth.hash):
                    await self._tables.shorten(log)
                _deliver(log, growth.first, entries, growth.additions)
            self._tables.forget_if_unused(log)
        self._wake()
        if is_kept:
            for log in stale:
                log.kept.touched = now
            self._metrics.kept(len(batch), sum(len(each.post.entry) for each in batch))
            await self._look_at_space()

    async def _look_at_space(self) -> None:
        room = self._tables.room
        if room.is_unmeasured:
            await self._tables.measure()
        if self._store.space.is_log_long:
            room.is_wanted.set()

    async def _commit(self, entries: list[Entry], touched: list[tuple[int, int]]) -> bool:
        """Whether the batch is on disk. Where the commit has failed, the store is asked for the last entry."""
        room = self._tables.room
        try:
            await self._worker.run(self._store.commit, entries, touched)
        except JournalUnavailable as error:
            _LOG.error("a commit has failed", extra={"facts": {"error": str(error)}})
            if not await self._is_there(entries[-1]):
                room.shut(error)
                return False
        if room.is_shut:
            room.open()
        return True

    async def _is_there(self, entry: Entry) -> bool:
        log, place, _, id_, *_ = entry
        while True:
            try:
                return await self._worker.run(self._store.has, log, place, id_)
            except JournalUnavailable:  # nothing can be added to a log whose length is not known
                await asyncio.sleep(_PAUSE)

    def _wake(self) -> None:
        self._committed.set()
        self._committed = asyncio.Event()


def _grown(batch: list[PendingPost]) -> dict[LiveLog, _Growth]:
    growths: dict[LiveLog, _Growth] = {}
    for addition in batch:
        log = addition.log
        growth = growths.get(log)
        if growth is None:
            growth = growths[log] = _Growth(log.kept.length, log.kept.total, log.kept.hash)
        growth.additions.append(addition)
    return growths


def _rows(growths: dict[LiveLog, _Growth]) -> list[Entry]:
    entries: list[Entry] = []
    for log, growth in growths.items():
        number = log.kept.number
        for place, addition in enumerate(growth.additions, growth.first):
            post = addition.post
            growth.hash = running_hash(growth.hash, post.entry)
            growth.total += len(post.entry)
            entries.append((number, place, addition.author, post.id, post.entry, growth.hash, growth.total))
    return entries


def _announce(addition: PendingPost) -> None:
    """Count a post as waiting for the disk."""
    log, post = addition.log, addition.post
    log.coming.add((addition.author, post.id))
    log.coming_count += 1
    log.coming_size += len(post.entry)


def _settle(addition: PendingPost) -> None:
    """Count a post as waiting no more."""
    log, post = addition.log, addition.post
    log.coming.discard((addition.author, post.id))
    log.coming_count -= 1
    log.coming_size -= len(post.entry)


def _deliver(log: LiveLog, first: int, entries: list[bytes], additions: list[PendingPost]) -> None:
    """Send the entries to the readers, and then to each author the place of its entry in the log."""
    log.deliver(first, entries)
    for place, addition in enumerate(additions, first):
        addition.poster.say(encode(Posted(log.kept.id, addition.post.id, place)))


def _refuse(growth: _Growth) -> None:
    for addition in growth.additions:
        refused = RequestRefused(addition.post.table, addition.post.id, Reason.BUSY.value, FULL_DISK)
        addition.poster.say(encode(refused))
