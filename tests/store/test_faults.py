"""Disks that are full, files that are locked, servers that go away: a passing error, nothing half-written, and on."""

from __future__ import annotations

import resource
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Event, Thread

import psycopg
import pytest
from sqlalchemy import event

from forcemove.errors import InvalidValue, JournalUnavailable
from forcemove.store import errors, faults, postgresql, sqlite
from forcemove.store.journal import Journal
from forcemove.store.records import Batch
from tests.store.places import Place, batch, file_in, first, id_of, next_, snapshots
from tests.store.server import Server


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Journals that are opened now do not wait long for others."""
    monkeypatch.setattr(sqlite, "BUSY_SECONDS", 0.1)
    shorter = [each.replace("'5s'", "'100ms'").replace("'10s'", "'300ms'") for each in postgresql._SETTINGS]
    monkeypatch.setattr(postgresql, "_SETTINGS", shorter)


@contextmanager
def held(place: Place, number: int) -> Iterator[None]:
    """Another process is in the middle of a change to a channel; in the end it gives up."""
    if place.server is None:
        with closing(sqlite3.connect(place.where, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            yield
            other.execute("ROLLBACK")
    else:
        with psycopg.connect(place.where) as connection:
            connection.execute("SELECT * FROM channels WHERE id = %s FOR UPDATE", [id_of(number)])
            yield
            connection.rollback()


# -------------------------------------------------------------------------------------------------------- busy and slow


def test_another_writer_is_waited_for(shared: Place) -> None:
    done = Event()
    with shared.open() as journal:
        journal.commit(batch(first(1)))

        def commit() -> None:
            journal.commit(batch(next_(1, 1, b"then")))
            done.set()

        thread = Thread(target=commit)
        with held(shared, 1):
            thread.start()
            assert not done.wait(0.3)
        thread.join()
        assert done.is_set()
        assert snapshots(journal) == {1: (2, b"then")}


@pytest.mark.usefixtures("impatient")
def test_but_not_for_ever(shared: Place) -> None:
    with shared.open() as journal:
        journal.commit(batch(first(1)))
        with held(shared, 1), pytest.raises(errors.JournalBusy):
            journal.commit(batch(next_(1, 1, b"then"), first(2)))

        assert snapshots(journal) == {1: (1, b"at first")}
        assert journal.commit(batch(next_(1, 1, b"then"), first(2))) == frozenset()


def test_who_loses_the_race_for_a_lock_again_and_again_may_try_again() -> None:
    """SQLite gives up after some seconds; an error that does not pass would end a node."""
    error = sqlite3.OperationalError("locking protocol")
    error.sqlite_errorcode = sqlite3.SQLITE_PROTOCOL
    assert isinstance(faults.of_sqlite(error, "here"), errors.JournalBusy)


# ------------------------------------------------------------------------------------------------------ full, read-only


@contextmanager
def full_disk(room: int) -> Iterator[None]:
    """The system lets none of our files grow beyond this many bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_nothing_is_half_written_to_a_full_disk(tmp_path: Path) -> None:
    place = file_in(tmp_path)
    with place.open() as journal:
        journal.commit(Batch(tuple(first(number, bytes(3_000)) for number in range(20))))
        savings = Batch(tuple(next_(number, 1, b"\1" * 3_000) for number in range(20)))
        size = Path(f"{place.where}-wal").stat().st_size
        for room in range(size, size + 60_000, 10_000):
            with full_disk(room), pytest.raises(errors.JournalUnwritable):
                journal.commit(savings)
            assert set(snapshots(journal).values()) == {(1, bytes(3_000))}
        assert journal.commit(savings) == frozenset()
    with place.open() as journal:
        assert set(snapshots(journal).values()) == {(2, b"\1" * 3_000)}


def test_no_file_is_left_where_there_was_no_room_for_one(tmp_path: Path) -> None:
    with full_disk(1_000), pytest.raises((errors.JournalUnusable, errors.JournalUnwritable)):
        file_in(tmp_path).open()
    assert list(tmp_path.iterdir()) == []


def test_a_database_that_has_become_read_only(shared: Place) -> None:
    with shared.open() as journal:
        journal.commit(batch(first(1)))
        with read_only(shared, journal), pytest.raises(errors.JournalUnwritable):
            journal.commit(batch(next_(1, 1, b"then")))

        assert journal.ids() == (id_of(1),)
        assert journal.commit(batch(next_(1, 1, b"then"))) == frozenset()


@contextmanager
def read_only(place: Place, journal: Journal) -> Iterator[None]:
    statements = {
        True: ("PRAGMA query_only = ON", "PRAGMA query_only = OFF"),
        False: ("SET default_transaction_read_only = on", "SET default_transaction_read_only = off"),
    }[place.server is None]
    for at, statement in enumerate(statements):
        with journal._database.reading() as connection:
            connection.exec_driver_sql(statement)
        if at == 0:
            yield


# -------------------------------------------------------------------------------------------------------------- servers


@pytest.fixture
def remote(server: Server) -> Place:
    return Place(server.schema(), server)


def end_connections(server: Server) -> None:
    server.run("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = 'forcemove'")


def test_a_connection_that_was_ended_is_made_anew(remote: Place, server: Server) -> None:
    with remote.open() as journal:
        journal.commit(batch(first(1)))
        end_connections(server)
        with pytest.raises(errors.JournalUnreachable):
            journal.commit(batch(next_(1, 1, b"then")))

        assert journal.commit(batch(next_(1, 1, b"then"))) == frozenset()


def test_a_server_that_goes_away_and_comes_back(remote: Place, server: Server) -> None:
    with remote.open() as journal:
        journal.commit(batch(first(1)))
        server.stop()
        try:
            for _ in range(2):
                with pytest.raises(errors.JournalUnreachable):
                    journal.commit(batch(next_(1, 1, b"then")))
            with pytest.raises(errors.JournalUnreachable):
                remote.open()
        finally:
            server.start()
        assert journal.load(id_of(1)) is not None
        assert journal.commit(batch(next_(1, 1, b"then"))) == frozenset()


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://alice:secret@127.0.0.1:1/journal",
        "postgresql://alice@/journal?host=/nowhere&password=secret",
        "postgres://alice:secret@host.invalid/journal",
    ],
)
def test_an_unreachable_server_without_its_password(url: str) -> None:
    with pytest.raises(errors.JournalUnreachable) as raised:
        Place(url).open()
    assert "secret" not in str(raised.value)
    assert isinstance(raised.value, JournalUnavailable)


@pytest.mark.parametrize("url", ["postgresql://h:port/x", "mysql://alice:secret@host/x", "sqlite:///x", "", "a\0b"])
def test_what_is_no_place_for_a_journal(url: str) -> None:
    with pytest.raises(InvalidValue) as raised:
        Place(url).open()
    assert "secret" not in str(raised.value)


def test_a_schema_that_is_not_there_and_an_option_that_is_none(server: Server) -> None:
    for options in ("&options=-csearch_path%3Dnowhere", "&no_such_option=1"):
        with pytest.raises(errors.JournalUnusable):
            Place(server.url(options)).open()


def test_a_database_that_we_may_not_change(remote: Place, server: Server) -> None:
    server.run("DROP ROLE IF EXISTS mallory")
    server.run("CREATE ROLE mallory LOGIN")
    remote.open().close()
    with pytest.raises(errors.JournalUnusable):
        Place(remote.where.replace("postgres@", "mallory@")).open()


def test_another_programs_tables_are_left_alone(remote: Place) -> None:
    remote.run("CREATE TABLE channels (name TEXT)")
    with pytest.raises(errors.NotAJournal):
        remote.open()
    assert remote.run("SELECT tablename::text FROM pg_tables WHERE schemaname = current_schema()") == [("channels",)]


def test_another_programs_versions_are_left_alone(remote: Place) -> None:
    remote.run("CREATE TABLE forcemove_journal (version TEXT)")
    with pytest.raises(errors.NotAJournal):
        remote.open()


def test_a_server_that_confirms_too_early_is_told_not_to(remote: Place) -> None:
    early = Place(remote.where + "%20-csynchronous_commit%3Doff", remote.server)
    with early.open() as journal, journal._database.reading() as connection:
        assert connection.exec_driver_sql("SHOW synchronous_commit").scalar() == "on"
    strict = Place(remote.where + "%20-csynchronous_commit%3Dremote_apply", remote.server)
    with strict.open() as journal, journal._database.reading() as connection:
        assert connection.exec_driver_sql("SHOW synchronous_commit").scalar() == "remote_apply"


def test_without_the_driver_it_is_named(remote: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(errors.PostgresqlMissing):
        remote.open()


def test_an_unfinished_change_of_ours_is_undone(shared: Place) -> None:
    """An error of the caller's own in the middle, as when it is interrupted."""

    def interrupted(journal: Journal) -> None:
        with journal._database.writing() as connection:
            connection.exec_driver_sql("DELETE FROM channels")
            raise KeyboardInterrupt

    with shared.open() as journal:
        journal.commit(batch(first(1)))
        with pytest.raises(KeyboardInterrupt):
            interrupted(journal)
        assert snapshots(journal) == {1: (1, b"at first")}
        assert journal.commit(batch(next_(1, 1, b"then"))) == frozenset()


def test_an_interruption_just_after_a_transaction_has_begun_is_undone(shared: Place) -> None:
    """Nobody but the connection knows of it yet."""

    def interrupt(_: object) -> None:
        event.remove(engine, "begin", interrupt)
        raise KeyboardInterrupt

    with shared.open() as journal:
        journal.commit(batch(first(1)))
        engine = journal._database._engine
        event.listen(engine, "begin", interrupt)
        with pytest.raises(KeyboardInterrupt):
            journal.commit(batch(next_(1, 1, b"then")))
        assert journal.commit(batch(next_(1, 1, b"then"))) == frozenset()
