"""Posts on their way to the disk: all that have come while one commit was made go into the next one, and nobody is sent
an entry, or told that it is posted, before it is on disk."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from forcemove.channel.errors import JournalUnavailable
from forcemove.channel.flow.history import running_hash
from forcemove.channel.line.errors import Reason
from forcemove.channel.line.wire import Post, Posted, Refused, encode
from forcemove.channel.relay.limits import PENDING
from forcemove.channel.relay.metrics import Metrics
from forcemove.channel.relay.store import Entry, RelayStore
from forcemove.channel.relay.tables import LiveLog, Tables, Worker

__all__ = ["Keeper", "Poster"]

_LOG = logging.getLogger(__name__)
_HOUR = 3_600


class Poster(Protocol):
    """Who posts."""

    def say(self, message: bytes) -> None:
        """Send an encoded message."""
        ...


@dataclass(eq=False)
class Addition:
    """A post that waits for the disk."""

    log: LiveLog
    poster: Poster
    author: bytes
    post: Post


@dataclass(eq=False)
class _Growth:
    """What a commit adds to one log, and how the log ends then."""

    first: int
    total: int
    hash: bytes
    additions: list[Addition] = field(default_factory=list)


class Keeper:
    """Keeps what is posted, one commit after another."""

    def __init__(
        self, store: RelayStore, worker: Worker, tables: Tables, metrics: Metrics, clock: Callable[[], float]
    ) -> None:
        self._store, self._worker, self._tables = store, worker, tables
        self._metrics, self._clock = metrics, clock
        self._queue: list[Addition] = []
        self._size = 0
        self._has_work, self._has_room = asyncio.Event(), asyncio.Event()
        self._has_room.set()
        self._committed = asyncio.Event()
        self._is_stopping = False
        self.is_failing = False

    async def add(self, log: LiveLog, poster: Poster, author: bytes, post: Post) -> None:
        """Take a post; waits while too much waits for the disk already."""
        log.coming.add((author, post.id))
        log.coming_count += 1
        log.coming_size += len(post.entry)
        self._queue.append(Addition(log, poster, author, post))
        self._size += len(post.entry)
        self._has_work.set()
        if self._size > PENDING:
            self._has_room.clear()
            await self._has_room.wait()

    async def next_commit(self) -> None:
        """Wait until one more commit was made, or has failed."""
        await self._committed.wait()

    def stop(self) -> None:
        """End `run` when all that was taken is on disk."""
        self._is_stopping = True
        self._has_work.set()

    async def run(self) -> None:
        """Commit until it is stopped. Raises a `JournalError` where the store is damaged or gone for good."""
        while self._queue or not self._is_stopping:
            await self._has_work.wait()
            self._has_work.clear()
            batch, self._queue, self._size = self._queue, [], 0
            self._has_room.set()
            if batch:
                await self._keep(batch)

    async def _keep(self, batch: list[Addition]) -> None:
        growths = _grown(batch)
        entries, touched = _rows(growths), _touched(growths, int(self._clock()))
        with self._metrics.commit_seconds.time():
            is_kept = await self._commit(entries, touched)
        self.is_failing = not is_kept
        for log, growth in growths.items():
            _settle(log, growth)
            if is_kept:
                _extend(log, growth)
                await self._tables.shorten(log)
                _deliver(log, growth)
            else:
                _refuse(growth)
            self._tables.forget_if_unused(log)
        self._committed.set()
        self._committed = asyncio.Event()
        if is_kept:
            self._metrics.kept(len(entries), sum(len(each.post.entry) for each in batch))

    async def _commit(self, entries: list[Entry], touched: list[tuple[int, int]]) -> bool:
        """Whether it is on disk. Where the database could not tell, what is there says."""
        log, place, _, id_, *_ = entries[-1]
        try:
            await self._worker.run(self._store.commit, entries, touched)
        except JournalUnavailable as error:
            _LOG.error("a commit has failed", extra={"facts": {"error": str(error)}})
            return await self._worker.run(self._store.has, log, place, id_)
        return True


def _grown(batch: list[Addition]) -> dict[LiveLog, _Growth]:
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


def _touched(growths: dict[LiveLog, _Growth], now: int) -> list[tuple[int, int]]:
    """Those of which it is not known that they were used lately."""
    stale = [log for log in growths if log.kept.touched < now - _HOUR]
    for log in stale:
        log.kept.touched = now
    return [(now, log.kept.number) for log in stale]


def _settle(log: LiveLog, growth: _Growth) -> None:
    """It does not wait any more."""
    for addition in growth.additions:
        log.coming.discard((addition.author, addition.post.id))
        log.coming_size -= len(addition.post.entry)
    log.coming_count -= len(growth.additions)


def _extend(log: LiveLog, growth: _Growth) -> None:
    kept = log.kept
    kept.length, kept.total, kept.hash = growth.first + len(growth.additions), growth.total, growth.hash


def _deliver(log: LiveLog, growth: _Growth) -> None:
    """To the readers, and then tell the authors where in the log it is."""
    log.deliver(growth.first, [addition.post.entry for addition in growth.additions])
    for place, addition in enumerate(growth.additions, growth.first):
        addition.poster.say(encode(Posted(log.kept.id, addition.post.id, place)))


def _refuse(growth: _Growth) -> None:
    for addition in growth.additions:
        refused = Refused(addition.post.table, addition.post.id, Reason.BUSY.value, "the disk takes nothing just now")
        addition.poster.say(encode(refused))
