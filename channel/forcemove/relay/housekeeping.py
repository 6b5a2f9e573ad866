"""What a relay does for its store besides committing posts: it deletes old tables, makes room where little is left,
puts the write-ahead log back into the store's file, and tries again to write after the disk was full. It works in
small steps, between which posts are committed.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from forcemove.backoff import Backoff
from forcemove.errors import JournalUnavailable
from forcemove.relay.limits import Limits
from forcemove.relay.metrics import Metrics
from forcemove.relay.storage.deleting import START, Idle
from forcemove.relay.storage.disk_quota import DiskQuota
from forcemove.relay.storage.store import RelayStore
from forcemove.relay.storage.worker import Worker
from forcemove.relay.tables import Tables

_LOG = logging.getLogger(__name__)
_DAY, _HOUR = 86_400, 3_600
_EVERY = 300.0
"""Seconds between two searches for old tables."""
_PAUSE, _LONGEST_PAUSE = 0.5, 2.0
"""Seconds between two rounds at least, and at most while no room can be made: then a round does not follow the one
before it at once."""

Look = Callable[[tuple[int, int]], list[Idle]]
"""Finds the next tables after a place, see `deleting.Deleting`."""


class Housekeeper:
    """Keeps the store of one relay small."""

    def __init__(self, store: RelayStore, worker: Worker, tables: Tables, limits: Limits, metrics: Metrics) -> None:
        """What it works with.

        - `store`: from which tables are deleted.
        - `worker`: the threads in which the store is used.
        - `tables`: the relay's; those in use are not deleted.
        - `limits`: after which time tables are deleted.
        - `metrics`: where deleted tables are counted.
        """
        self._store, self._worker, self._tables = store, worker, tables
        self._limits, self._metrics = limits, metrics

    async def run(self) -> None:
        """Work until cancelled. Raises a `JournalError` where the store is damaged or gone for good."""
        loop = asyncio.get_running_loop()
        room, due, pauses = self._tables.room, loop.time(), Backoff(_PAUSE, _LONGEST_PAUSE)
        while True:
            room.is_wanted.clear()
            is_due = loop.time() >= due
            try:
                await self._round(is_due)
            except JournalUnavailable as error:
                room.shut(error)
            due = loop.time() + _EVERY if is_due else due
            if not room.is_shut:
                pauses.reset()
            await asyncio.sleep(pauses.next_pause())
            with suppress(TimeoutError):
                async with asyncio.timeout_at(due):
                    await room.is_wanted.wait()

    async def _round(self, is_due: bool) -> None:
        await self._put_back()
        if self._tables.room.is_shut:
            await self._recover()
        elif is_due or self._tables.room.bytes.is_full:
            await self.expire()
        await self._tables.measure()
        await self.make_room()

    async def expire(self) -> int:
        """Delete the tables that were not used for too long, and those made too long ago without any post, unless a
        client has them open; returns how many were deleted. Raises a `JournalError`."""
        deleting, limits = self._store.deleting, self._limits
        deleted = await self._delete(partial(deleting.idle, limits.days * _DAY))
        deleted += await self._delete(partial(deleting.never_used, limits.unused_hours * _HOUR))
        return deleted

    async def make_room(self) -> None:
        """While little room is left, delete tables that no client has open: those of accounts with more than an equal
        share; and where no room is left, those of any account that were not used for an hour. The oldest tables of an
        account go first. Raises a `JournalError`."""
        deleting, room = self._store.deleting, self._tables.room
        for quota in (room.tables, room.bytes):
            for account in quota.greedy() if quota.is_tight else ():
                await self._delete(partial(deleting.of_account, account), _is_tight)
            if quota.is_full:
                await self._delete(partial(deleting.idle, _HOUR), _is_tight)

    async def _recover(self) -> None:
        """Give up the reserve, so that tables can be deleted. Until the reserve is back, no table and no post is
        taken."""
        await self._worker.run(self._store.space.release)
        await self.expire()
        if await self._worker.run(self._store.space.recover):
            self._tables.room.open()
        else:
            self._tables.room.is_wanted.set()

    async def _delete(self, look: Look, is_needed: Callable[[DiskQuota], bool] = lambda _: True) -> int:
        """Delete the tables found that no client has open, while `is_needed` says so; returns how many."""
        deleted, after = 0, START
        while is_needed(self._tables.room) and (idle := await self._worker.run(look, after)):
            after = idle[-1].place
            deleted += len(await self._tables.delete_unused(idle))
            await self._sweep()
        if deleted:
            self._metrics.expired.inc(deleted)
            _LOG.info("deleted tables that nobody uses", extra={"facts": {"tables": deleted}})
        return deleted

    async def _sweep(self) -> None:
        """Delete forgotten entries in parts. Posts are committed between: the thread takes calls in order."""
        while await self._worker.run(self._store.deleting.sweep):
            await self._put_back()
        await self._tables.measure()

    async def _put_back(self) -> None:
        """Put the write-ahead log back, most of it while commits go on, so that posts wait for little."""
        if self._store.space.is_log_long:
            await self._worker.read(self._store.reader.put_back)
            await self._worker.run(self._store.space.put_back)


def _is_tight(room: DiskQuota) -> bool:
    return room.bytes.is_tight or room.tables.is_tight
