"""How much a relay keeps: bounds, what goes first, what a full disk does, and that readers hold up nobody."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

import msgspec
import pytest

from forcemove.errors import JournalUnavailable
from forcemove.relay.errors import RelayStoreUnusable
from forcemove.relay.limits import Limits
from forcemove.relay.storage import deleting, disk_quota, schema
from forcemove.relay.storage.store import open_store
from forcemove.relay.tables import LiveLog, TooManyTables
from forcemove.store.sqlite import open_file
from forcemove.transport import errors, terms, wire
from tests.expected import known
from tests.relay.inside import Clock, Inside, extend
from tests.transport.people import new_table

HOUR, DAY = 3_600, 86_400
MiB = 2**20
LARGE = bytes(50_000)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "relay.sqlite"


async def _fill(relay: Inside, address: str, most: int = 10_000) -> int:
    """Tables of an address, 20 large entries each, until one is refused; nobody stays there. How many entries."""
    kept = 0
    while kept < most:
        table = new_table()
        try:
            log = await relay.tables.make(table, address)
        except TooManyTables:
            return kept
        for _ in range(20):
            if relay.tables.fault_of_post(log, len(LARGE)):
                relay.tables.release(log)
                return kept
            told = await relay.post(log, table, [LARGE])
            assert isinstance(told[0], wire.Posted)
            kept += 1
        relay.tables.release(log)
    return kept


async def _posts(relay: Inside, address: str) -> bool:
    """Whether somebody new at an address may make a table and post there."""
    table = new_table()
    log = await relay.tables.make(table, address)
    if relay.tables.fault_of_post(log, len(LARGE)):
        return False
    told = await relay.post(log, table, [LARGE])
    relay.tables.release(log)
    return isinstance(told[0], wire.Posted)


# -------------------------------------------------------------------------------------------------------------- bounds


async def test_threat_59_a_flood_leaves_room_for_others_and_the_file_is_bounded(path: Path, clock: Clock) -> None:
    relay = await Inside.start(path, clock, Limits(store_bytes=8 * MiB))
    assert await _posts(relay, "10.0.0.1")
    await _fill(relay, "6.6.6.6")
    for number in range(2, 5):
        assert await _posts(relay, f"10.0.0.{number}")
    assert path.stat().st_size <= 8 * MiB
    await relay.stop()


async def test_threat_59_an_address_has_a_bound_of_its_own(path: Path, clock: Clock) -> None:
    relay = await Inside.start(path, clock, Limits(bytes_of_address=2 * MiB, tables_of_address=30))
    assert await _fill(relay, "6.6.6.6") * len(LARGE) <= 2 * MiB
    assert await _posts(relay, "10.0.0.1")
    for number in range(30):
        await relay.tables.make(new_table(), f"7.7.7.{number % 2}")
    for _ in range(15):
        await relay.tables.make(new_table(), "7.7.7.7")
    for _ in range(15):
        await relay.tables.make(new_table(), "7.7.7.7")
    with pytest.raises(TooManyTables):
        await relay.tables.make(new_table(), "7.7.7.7")
    await relay.stop()


async def test_what_an_address_has_is_known_after_a_restart(path: Path, clock: Clock) -> None:
    limits = Limits(bytes_of_address=2 * MiB)
    relay = await Inside.start(path, clock, limits)
    assert await _fill(relay, "6.6.6.6") > 30
    await relay.stop()
    again = await Inside.start(path, clock, limits)
    assert again.tables.count == relay.tables.count
    assert await _fill(again, "6.6.6.6") == 0
    assert await _posts(again, "10.0.0.1")
    await again.stop()


async def test_threat_59_where_it_gets_tight_the_tables_of_the_largest_go_first(path: Path, clock: Clock) -> None:
    relay = await Inside.start(path, clock, Limits(store_bytes=8 * MiB))
    friends, used = new_table(), new_table()
    relay.tables.release(await relay.tables.make(friends, "10.0.0.1"))
    log = await relay.tables.make(used, "6.6.6.6")
    assert await _fill(relay, "6.6.6.6") * len(LARGE) > 6 * MiB
    before = relay.tables.count
    await relay.housekeeper.make_room()
    assert relay.tables.count < before
    assert await relay.tables.find(friends.id) is not None
    assert await relay.tables.find(used.id) is log
    assert await _fill(relay, "6.6.6.6", 20)
    await relay.stop()


async def test_a_file_that_was_full_is_used_again_and_does_not_grow(path: Path, clock: Clock) -> None:
    relay = await Inside.start(path, clock, Limits(store_bytes=8 * MiB))
    for _ in range(4):
        await _fill(relay, "6.6.6.6")
        await relay.housekeeper.make_room()
    await relay.stop()
    assert path.stat().st_size <= 8 * MiB


# -------------------------------------------------------------------------------------------------------------- expiry


async def test_threat_59_expiry_goes_past_tables_in_use(path: Path, clock: Clock) -> None:
    relay = await Inside.start(path, clock, Limits(days=2))
    tables = [new_table() for _ in range(300)]
    used = [await relay.tables.make(table) for table in tables[:200]]
    for table in tables[200:]:
        relay.tables.release(await relay.tables.make(table))
    clock.now += 3 * DAY
    assert await relay.housekeeper.expire() == 100
    assert relay.tables.count == 200
    relay.tables.release(used[0])
    assert await relay.housekeeper.expire() == 1
    await relay.stop()


async def test_threat_59_tables_nobody_has_posted_at_go_within_the_hour(path: Path, clock: Clock) -> None:
    relay = await Inside.start(path, clock, Limits())
    never, once, later = new_table(), new_table(), new_table()
    relay.tables.release(await relay.tables.make(never))
    relay.tables.release(await relay.tables.make(later))
    log = await relay.tables.make(once)
    await relay.post(log, once, [b"here"])
    relay.tables.release(log)
    clock.now += HOUR / 2
    log = await _found(relay, later.id)
    await relay.post(log, later, [b"here"])
    relay.tables.release(log)
    clock.now += HOUR / 2 + 1
    assert await relay.housekeeper.expire() == 1
    assert await relay.tables.find(never.id) is None
    assert await relay.tables.find(once.id) is not None
    assert await relay.tables.find(later.id) is not None
    await relay.stop()


async def _found(relay: Inside, table: bytes) -> LiveLog:
    return known(await relay.tables.find(table))


def test_what_is_deleted_goes_in_parts_and_after_a_crash_the_rest_goes(path: Path, clock: Clock) -> None:
    store = open_store(str(path), clock=clock)
    table = new_table()
    kept = store.create(table)
    extend(store, kept, [b"x"] * 1_000)
    store.deleting.forget([kept.number])
    assert store.reader.load(table.id) is None
    assert store.deleting.sweep()
    store.close()
    assert 0 < _entries(path) < 1_000
    again = open_store(str(path), clock=clock)
    while again.deleting.sweep():
        pass
    again.close()
    assert _entries(path) == 0


def _entries(path: Path) -> int:
    with sqlite3.connect(path) as connection:
        (count,) = connection.execute("SELECT count(*) FROM entries").fetchone()
    connection.close()
    return int(count)


# ----------------------------------------------------------------------------------------------------------- full disk


async def test_threat_60_a_full_disk_refuses_posts_and_deletes_and_takes_posts_again(path: Path, clock: Clock) -> None:
    """SQLite itself says that the disk is full: its file may not grow."""

    relay = await Inside.start(path, clock, Limits(days=2))
    old, table = new_table(), new_table()
    old_log = await relay.tables.make(old)
    await relay.post(old_log, old, [LARGE] * 20)
    relay.tables.release(old_log)
    clock.now += 3 * DAY
    log = await relay.tables.make(table)
    relay.store._session.row("PRAGMA max_page_count = 1")  # as many as there are
    told = await relay.post(log, table, [LARGE] * 10)
    assert [each.detail for each in told if isinstance(each, wire.RequestRefused)] == [disk_quota.FULL_DISK] * 10
    assert relay.committer.is_failing
    assert relay.tables.fault_of_post(log, 1) == (errors.Reason.BUSY, disk_quota.FULL_DISK)
    with pytest.raises(TooManyTables):
        await relay.tables.make(new_table())
    housekeeping = asyncio.create_task(relay.housekeeper.run())
    while relay.tables.room.is_shut:
        await asyncio.sleep(0.01)
    assert await relay.tables.find(old.id) is None
    told = await relay.post(log, table, [LARGE] * 10)
    assert sum(isinstance(each, wire.Posted) for each in told) == 10
    housekeeping.cancel()
    await asyncio.wait([housekeeping])
    await relay.stop()


def test_threat_60_a_reserve_is_there_to_delete_with(path: Path, clock: Clock) -> None:
    store = open_store(str(path), clock=clock)
    reserve = path.with_name("relay.sqlite.reserve")
    store.space.start(64 * MiB)
    assert reserve.stat().st_blocks * 512 >= 16 * MiB
    store.space.release()
    assert not reserve.exists()
    assert store.space.recover()
    assert reserve.exists()
    path.rename(path.with_name("moved"))
    assert not store.space.recover()
    store.close()


# ------------------------------------------------------------------------------------------------------------- readers


async def test_threat_59_who_reads_holds_up_nobody_who_posts(path: Path, clock: Clock) -> None:
    """A reader is in the middle of its look at the store; posts are kept meanwhile."""

    relay = await Inside.start(path, clock, Limits())
    table = new_table(terms.TableKind.CHANNEL)
    log = await relay.tables.make(table)
    await relay.post(log, table, [b"first"])
    reads, goes_on = asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    def read_slowly() -> int:
        with relay.store.reader._session.reading() as at_once:
            count = "SELECT count(*) FROM entries"
            before = at_once.row(count)
            loop.call_soon_threadsafe(reads.set)
            asyncio.run_coroutine_threadsafe(goes_on.wait(), loop).result()
            assert at_once.row(count) == before
            return int(before[0])

    reading = asyncio.create_task(relay.worker.read(read_slowly))
    await reads.wait()
    for _ in range(20):
        told = await relay.post(log, table, [b"meanwhile"])
        assert isinstance(told[0], wire.Posted)
    goes_on.set()
    assert await reading == 1
    await relay.stop()


async def test_who_is_behind_by_little_reads_no_disk(path: Path, clock: Clock) -> None:
    relay = await Inside.start(path, clock, Limits())
    table = new_table()
    log = await relay.tables.make(table)
    await relay.post(log, table, [b"a", b"b", b"c"])
    relay.store.reader.close()
    assert await relay.tables.read(log, 1, 10**6) == (1, [b"b", b"c"])
    assert await relay.tables.hash_before(log, 3) == log.kept.hash
    await relay.stop()


async def test_the_log_beside_the_store_is_bounded_while_somebody_reads(path: Path, clock: Clock) -> None:
    """Put back, it is begun again, no matter who reads in between."""

    relay = await Inside.start(path, clock, Limits())
    table, beside = new_table(), path.with_name("relay.sqlite-wal")
    log = await relay.tables.make(table)
    for _ in range(10):
        await relay.post(log, table, [LARGE] * 10)
    size = beside.stat().st_size
    for _ in range(3):
        reading = asyncio.create_task(relay.tables.read(log, 0, 10**6))
        await relay.worker.run(relay.store.space.put_back)
        for _ in range(10):
            await relay.post(log, table, [LARGE] * 10)
        await reading
    assert beside.stat().st_size <= 1.5 * size
    await relay.stop()


# ------------------------------------------------------------------------------------------------------------- formats


def test_an_older_store_is_brought_up_to_date(path: Path, clock: Clock) -> None:
    table = new_table()
    store = open_store(str(path), clock=clock)
    extend(store, store.create(table), [b"a", b"b"])
    store.close()
    path.unlink()
    open_file(str(path), clock, schema.STEPS[:1], schema.APPLICATION_ID).close()
    with sqlite3.connect(path) as connection:
        columns = "INSERT INTO logs (id, terms, first, dropped, touched) VALUES (?, ?, 0, 0, ?)"
        connection.execute(columns, (table.id, msgspec.msgpack.encode(table), int(clock.now)))
    connection.close()
    again = open_store(str(path), clock=clock)
    kept = known(again.reader.load(table.id))
    assert (kept.account, kept.touched) == (b"", int(clock.now))
    clock.now += 2 * HOUR
    assert again.deleting.never_used(HOUR) == []
    assert [each.id for each in again.deleting.idle(HOUR, deleting.START)] == [table.id]
    again.close()


def test_a_store_forgets_the_offers_of_an_older_program(path: Path, clock: Clock) -> None:
    """They name no seats: nobody could join them."""
    open_file(str(path), clock, schema.STEPS[:2], schema.APPLICATION_ID).close()
    with sqlite3.connect(path) as connection:
        connection.execute("INSERT INTO offers VALUES (?, ?, ?)", (bytes(32), b"an offer", bytes(64)))
    connection.close()
    again = open_store(str(path), clock=clock)
    assert again.offers() == []
    again.close()


def test_a_store_of_a_newer_program_is_left_alone(path: Path, clock: Clock) -> None:
    open_file(str(path), clock, (*schema.STEPS, ("CREATE TABLE more (x BIGINT)",)), schema.APPLICATION_ID).close()
    before = path.read_bytes()
    with pytest.raises(RelayStoreUnusable):
        open_store(str(path), clock=clock)
    assert path.read_bytes() == before


def test_a_store_whose_disk_refuses_a_new_table_says_so(path: Path, clock: Clock) -> None:
    store = open_store(str(path), clock=clock)
    path.rename(path.with_name("moved"))
    with pytest.raises(JournalUnavailable):
        store.create(new_table())
    store.close()
