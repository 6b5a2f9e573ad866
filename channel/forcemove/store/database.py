"""A connection that threads take in turn, and its transactions. Knows how SQLite and PostgreSQL differ; no table."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from threading import RLock, Timer

from sqlalchemy import Connection, Engine, event, text
from sqlalchemy.exc import DBAPIError

from forcemove.errors import JournalError
from forcemove.store import faults
from forcemove.store.clean_end import mark_clean
from forcemove.store.errors import JournalDamaged, JournalFileLost, JournalUnwritable
from forcemove.store.same_file import SameFile

UnixClock = Callable[[], float]
"""Returns Unix seconds."""
COPY_AFTER = 30.0
"""Seconds after a commit until it is copied to the file itself."""


class Database:
    """One connection to a database, for one thread at a time."""

    def __init__(
        self,
        engine: Engine,
        where: str,
        clock: UnixClock,
        file: str | None = None,
        write: Callable[[bytes], object] | None = None,
    ) -> None:
        """The database that an engine connects to.

        - `engine`: connects.
        - `where`: for errors.
        - `clock`: for leases on SQLite.
        - `file`: the path where SQLite has it on disk, else None.
        - `write`: keeps the bytes of one in memory, see `opening.open_image`.
        """
        self.where = where
        self._engine, self._clock, self._lock = engine, clock, RLock()
        self.file = file
        self._same_file = SameFile(where, file)
        self._held: Connection | None = None
        self._is_writing = self._is_doubtful = False
        self._copying: Timer | None = None
        self._write, self._changes = write, 0
        if engine.dialect.name == "sqlite":
            event.listen(engine, "begin", self._begin_on_sqlite)
            event.listen(engine, "connect", lambda *_: self._same_file.on_connected())

    def reading(self) -> AbstractContextManager[Connection]:
        """A transaction that changes nothing. Raises a `JournalError`, as do the statements in it."""
        return self._transaction(is_writing=False)

    def writing(self) -> AbstractContextManager[Connection]:
        """A transaction that is committed at the end, whole and on disk; an error undoes it.

        Raises a `JournalError`, as do the statements in it. After a `JournalUnavailable` or a `JournalFileLost` from
        the end itself the transaction may be committed or not: what is read then tells.
        """
        return self._transaction(is_writing=True)

    @contextmanager
    def _transaction(self, *, is_writing: bool) -> Iterator[Connection]:
        with self._lock:
            try:
                if is_writing:
                    self._same_file.require()
                self._is_writing = is_writing
                connection = self._held = self._held or self._engine.connect()
                with connection.begin():
                    yield connection
                    if is_writing and self._write is not None:
                        self._keep_image(driver_of(connection), self._write)
                if is_writing:
                    self._begin_to_copy()
                    self._same_file.require()
            except JournalFileLost:
                self._is_doubtful = True
                self._copy()
                raise
            except BaseException as error:
                self._give_back()
                ours = self._translated(error)
                self._is_doubtful |= ours is not None or isinstance(error, JournalError)
                if ours is None:
                    raise
                raise ours from error
            if self.file is None:
                self._give_back()

    def _keep_image(self, driver: sqlite3.Connection, write: Callable[[bytes], object]) -> None:
        """Have the image kept before the transaction ends, which an error undoes. Raises `JournalUnwritable`."""
        if driver.total_changes != self._changes:
            try:
                write(driver.serialize())
            except OSError as error:
                raise JournalUnwritable(self.where, error.strerror or str(error)) from error
            self._changes = driver.total_changes

    def _give_back(self) -> None:
        """Return the connection to the pool, which undoes an unfinished transaction and finds out whether the
        connection is alive. A connection to a file stays with us as long as no error comes: to fetch it takes longer
        than to write a row."""
        held, self._held = self._held, None
        if held is not None:
            held.close()

    def _begin_to_copy(self) -> None:
        """Have all that is committed copied to the file itself in a while, whether more is committed or not: the file
        without those that SQLite keeps beside it is at most a minute old."""
        if self.file is not None and self._copying is None:
            self._copying = Timer(COPY_AFTER, self._copy)
            self._copying.daemon = True
            self._copying.start()

    def _copy(self) -> None:
        """Copy to the file what is only in the one beside it, also where that has lost its name. What cannot be copied
        now is copied later."""
        with self._lock:
            if self._copying is None or not self._same_file.is_ours_alone:
                return
            self._copying = None
            with suppress(sqlite3.Error, DBAPIError):
                self._held = self._held or self._engine.connect()
                _, written, copied = driver_of(self._held).execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
                if written == copied:
                    return
            self._begin_to_copy()

    def version(self) -> object:
        """What is equal as long as nothing is written to a file, here or by another process; None where that cannot be
        told."""
        with self._lock, suppress(sqlite3.Error):
            if self._held is not None and self.file is not None:
                driver = driver_of(self._held)
                return self._held, driver.total_changes, driver.execute("PRAGMA data_version").fetchone()
        return None

    def compact(self) -> None:
        """Give free pages of a file back to the system. Raises a `JournalError`."""
        if self.file is not None:
            with self.reading() as connection:
                driver = driver_of(connection)
                driver.execute("COMMIT")  # it cannot be done within a transaction
                driver.execute("VACUUM")
                driver.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                driver.execute("BEGIN")

    def now(self, connection: Connection) -> int:
        """The time that leases are measured by, in milliseconds: the server's, or our clock's on SQLite."""
        if connection.dialect.name == "postgresql":
            seconds = connection.scalar(text("SELECT extract(epoch FROM clock_timestamp())"))
            return int((seconds or 0) * 1000)
        return int(self._clock() * 1000)

    def close(self) -> None:
        """Give the connection back."""
        with self._lock:
            if self._copying is not None:
                self._copying.cancel()
            self._copying = None
            self._give_back()
            self._engine.dispose()
            if self.file is not None and not self._is_doubtful and self._same_file.is_ours_alone:
                mark_clean(self.file)

    def _translated(self, error: BaseException) -> JournalError | None:
        """An exception of SQLAlchemy or a driver as our error; None for any other."""
        if isinstance(error, DBAPIError):
            return faults.of_sqlalchemy(error, self.where)
        if isinstance(error, sqlite3.Error):  # from a statement that the driver itself has run
            return faults.of_sqlite(error, self.where)
        if isinstance(error, UnicodeDecodeError):  # the driver's, where SQLite's own words name something damaged
            return JournalDamaged(self.where, str(error))
        return None

    def _begin_on_sqlite(self, connection: Connection) -> None:
        """Begin with a lock at once where the transaction writes: one that reads first could not wait for another
        writer."""
        driver_of(connection).execute("BEGIN IMMEDIATE" if self._is_writing else "BEGIN")


def driver_of(connection: Connection) -> sqlite3.Connection:
    """The driver's own connection, where the database is SQLite, for the statements that every turn waits for.
    SQLAlchemy takes ten times as long for them as SQLite."""
    found = connection.connection.driver_connection
    assert isinstance(found, sqlite3.Connection), "only on SQLite"  # noqa: S101
    return found
