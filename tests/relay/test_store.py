"""The relay's store by itself: what is kept, dropped, expired, damaged, and what a failing disk does."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from forcemove.flow.history import NOTHING_READ
from forcemove.relay.housekeeping import Housekeeper
from forcemove.relay.keeping import Committer, PendingPost
from forcemove.relay.limits import Limits
from forcemove.relay.metrics import Metrics
from forcemove.relay.storage.schema import Entry
from forcemove.relay.storage.store import RelayStore, open_store
from forcemove.relay.storage.worker import Worker
from forcemove.relay.tables import LiveLog, Reading, Tables
from forcemove.store.errors import JournalDamaged, JournalUnwritable
from forcemove.transport import errors, terms, wire
from tests.relay.inside import Clock, Listener, extend
from tests.relay.raw import post
from tests.transport.people import ALICE, new_table

DAY = 86_400


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "relay.sqlite"


@pytest.fixture
def store(path: Path, clock: Clock) -> Iterator[RelayStore]:
    store = open_store(str(path), clock=clock)
    yield store
    store.close()


def test_what_was_committed_is_read_again(store: RelayStore, path: Path, clock: Clock) -> None:
    table = new_table()
    kept = store.create(table)
    entries = [b"entry %d" % number for number in range(150)]
    extend(store, kept, entries)
    store.close()
    again = open_store(str(path), clock=clock)
    assert again.reader.load(table.id) == kept
    assert again.reader.read(kept.number, 0, 10**6) == (0, entries)
    assert again.reader.read(kept.number, 149, 10**6) == (149, entries[149:])
    assert again.reader.read(kept.number, 0, 25) == (0, entries[:3])
    assert again.count() == 1
    assert again.reader.load(new_table().id) is None
    assert again.reader.hash_before(kept.number, 150) == kept.hash
    assert again.reader.hash_before(kept.number, 0) == NOTHING_READ


@pytest.mark.parametrize(("entries", "most_bytes", "left"), [(10, 10**6, (5, 10)), (100, 95, (5, 9)), (1, 1, (1, 1))])
def test_the_oldest_entries_are_dropped(
    store: RelayStore, path: Path, clock: Clock, entries: int, most_bytes: int, left: tuple[int, int]
) -> None:
    table = new_table()
    kept = store.create(table)
    extend(store, kept, [b"0123456789"] * 40)
    kept.first, kept.dropped = store.drop_oldest(kept.number, entries, most_bytes)
    assert left[0] <= kept.length - kept.first <= left[1]
    assert kept.size == 10 * (kept.length - kept.first)
    first, read = store.reader.read(kept.number, 0, 10**6)
    assert (first, len(read)) == (kept.first, kept.length - kept.first)
    extend(store, kept, [b"more"])
    assert store.reader.load(table.id) == kept


async def test_idle_tables_expire_and_those_in_use_do_not(store: RelayStore, clock: Clock) -> None:
    worker = Worker()
    tables = Tables(store, worker, Limits(days=2))
    old, used, new = new_table(), new_table(), new_table()
    tables.release(await tables.make(old))
    await tables.make(used)
    clock.now += 3 * DAY
    tables.release(await tables.make(new))
    assert await Housekeeper(store, worker, tables, Limits(days=2), Metrics()).expire() == 1
    assert tables.count == 2
    assert await tables.find(old.id) is None
    assert await tables.find(used.id) is not None
    assert await tables.find(new.id) is not None
    worker.close()


async def test_a_table_that_is_used_is_not_idle(store: RelayStore, clock: Clock) -> None:
    worker = Worker()
    tables = Tables(store, worker, Limits(days=2))
    committer = Committer(store, worker, tables, Metrics(), clock)
    table = new_table()
    log = await tables.make(table)
    clock.now += 3 * DAY
    await committer.add(PendingPost(log, Listener(), ALICE.address, post(table, 1, b"still here")))
    committer.stop()
    await committer.run()
    tables.release(log)
    assert await Housekeeper(store, worker, tables, Limits(days=2), Metrics()).expire() == 0
    worker.close()


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE entries SET entry = x'00' WHERE place = 2",
        "UPDATE entries SET hash = zeroblob(32) WHERE place = 2",
        "DELETE FROM entries WHERE place = 2",
        "UPDATE entries SET entry = x'00', hash = zeroblob(32) WHERE place = 2",
    ],
)
def test_a_changed_entry_is_not_delivered(store: RelayStore, path: Path, damage: str) -> None:
    kept = store.create(new_table())
    extend(store, kept, [b"a", b"b", b"c", b"d"])
    store.close()
    with sqlite3.connect(path) as connection:
        connection.execute(damage)
    connection.close()
    again = open_store(str(path))
    with pytest.raises(JournalDamaged):
        again.reader.read(kept.number, 0, 10**6)
    again.close()


def test_terms_that_were_changed_are_not_believed(store: RelayStore, path: Path) -> None:
    table, other = new_table(), new_table()
    store.create(table)
    store.close()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE logs SET id = ?", (other.id,))
    connection.close()
    again = open_store(str(path))
    with pytest.raises(JournalDamaged):
        again.reader.load(other.id)
    again.close()


# ----------------------------------------------------------------------------------------------------- a failing disk


class FullDisk(RelayStore):
    """Takes nothing, or takes it and says that it has not."""

    does_take = False
    is_full = False

    def commit(self, entries: Sequence[Entry], touched: Sequence[tuple[int, int]]) -> None:
        if not self.is_full or self.does_take:
            super().commit(entries, touched)
        if self.is_full:
            raise JournalUnwritable("the disk", "it is full")


@pytest.mark.parametrize(("at", "told", "reads_on"), [(0, True, False), (1, False, True), (2, False, False)])
def test_who_has_read_a_part_of_a_commit_from_the_disk_reads_the_rest(
    store: RelayStore, at: int, told: bool, reads_on: bool
) -> None:
    """A commit of two entries: a reader that was behind may have read none, one or both of them before it is over."""
    table = new_table()
    log, ear = LiveLog(store.create(table)), Listener()
    reading = Reading(ear, log, at, is_behind=False)
    log.readings.add(reading)
    log.kept.length = 2
    log.deliver(0, [b"first", b"second"])
    assert bool(ear._frames) is told
    assert (ear.behind == [reading], reading.is_behind) == (reads_on, reads_on)
    assert reading.next == (at if reads_on else 2)


@pytest.mark.parametrize("does_take", [False, True])
async def test_what_is_not_on_disk_is_not_delivered(store: RelayStore, clock: Clock, does_take: bool) -> None:
    disk = FullDisk(store._session, None, clock)
    disk.does_take, disk.is_full = does_take, True
    worker, table = Worker(), new_table()
    tables = Tables(disk, worker, Limits())
    committer = Committer(disk, worker, tables, Metrics(), clock)
    log, ear = await tables.make(table), Listener()
    log.readings.add(Reading(ear, log, 0, is_behind=False))
    await _keep(committer, log, ear, table, 1)
    lost = [wire.Entries(table.id, 0, (b"1",)), wire.Posted(table.id, (1).to_bytes(16), 0)]
    assert committer.is_failing is not does_take
    first = ear.heard()
    assert first == lost if does_take else _reasons(first) == [errors.Reason.BUSY.value]
    disk.is_full = False
    await _keep(committer, log, ear, table, 2)
    place = 1 if does_take else 0
    assert ear.heard() == [wire.Entries(table.id, place, (b"2",)), wire.Posted(table.id, (2).to_bytes(16), place)]
    assert not committer.is_failing
    worker.close()


async def test_nothing_is_delivered_before_it_is_on_disk(store: RelayStore, clock: Clock) -> None:
    """At the moment of the commit nobody has been told anything, and when they are, another process can read it."""

    worker, table, ear = Worker(), new_table(), Listener()
    told_early: list[bool] = []

    class Watching(RelayStore):
        def commit(self, entries: Sequence[Entry], touched: Sequence[tuple[int, int]]) -> None:
            super().commit(entries, touched)
            told_early.append(bool(ear._frames))

    disk = Watching(store._session, None, clock)
    tables = Tables(disk, worker, Limits())
    committer = Committer(disk, worker, tables, Metrics(), clock)
    log = await tables.make(table)
    log.readings.add(Reading(ear, log, 0, is_behind=False))
    await _keep(committer, log, ear, table, 1)
    assert told_early == [False]
    assert len(ear.heard()) == 2
    worker.close()


async def _keep(committer: Committer, log: LiveLog, ear: Listener, table: terms.TableTerms, number: int) -> None:
    running = asyncio.create_task(committer.run())
    done = asyncio.create_task(committer.next_commit())
    await committer.add(PendingPost(log, ear, ALICE.address, post(table, number, b"%d" % number)))
    await done
    running.cancel()
    await asyncio.wait([running])


def _reasons(heard: list[wire.FromRelay]) -> list[str]:
    return [each.reason for each in heard if isinstance(each, wire.RequestRefused)]
