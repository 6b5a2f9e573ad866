"""One connection to an SQLite file: statements, transactions, and our errors. Knows no table.

It is the driver's own connection, for a relay's store: a relay commits some hundred times a second, and SQLAlchemy's
part of a commit takes longer than the commit.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import RLock
from typing import Any

from forcemove.store import faults
from forcemove.store.same_file import SameFile
from forcemove.store.sqlite import connect_file


class SqliteSession:
    """A connection that threads take in turn; of several to one file one writes. Every method may raise a
    `JournalError`."""

    def __init__(self, connection: sqlite3.Connection, where: str, file: str | None) -> None:
        """`where`: for errors; `file`: where it is on disk, or None."""
        self._connection, self._lock = connection, RLock()
        self.where, self.file = where, file
        self._same_file = SameFile(where, file)
        self._same_file.on_connected()

    def open_reader(self) -> SqliteSession:
        """A session that only reads, and does so while this one writes; for a store in memory it is this one."""
        if self.file is None:
            return self
        connection = connect_file(self.file)
        connection.execute("PRAGMA query_only = ON")
        return SqliteSession(connection, self.where, self.file)

    def close(self) -> None:
        """End the connection."""
        with self._lock:
            self._connection.close()

    def rows(self, statement: str, values: Sequence[object] = ()) -> list[Any]:
        """The rows of one statement."""
        with self._lock, self._translated():
            return self._connection.execute(statement, values).fetchall()

    def row(self, statement: str, values: Sequence[object] = ()) -> Any:
        """The first row, or None."""
        found = self.rows(statement, values)
        return found[0] if found else None

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Let nobody use the connection within the block."""
        with self._lock:
            yield

    @contextmanager
    def reading(self) -> Iterator[SqliteSession]:
        """Statements that all see the store as of one moment."""
        with self._lock, self._translated(), self._transaction("BEGIN"):
            yield self

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A transaction that is committed at the end, whole and on disk; an error undoes it.

        After a `JournalUnavailable` from the end itself the transaction may be committed or not: what is read then
        tells.
        """
        with self._lock, self._translated():
            self._same_file.require()
            with self._transaction("BEGIN IMMEDIATE"):
                yield self._connection
            self._same_file.require()

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[None]:
        connection = self._connection
        connection.execute(begin)
        try:
            yield
            connection.execute("COMMIT")
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            ours = faults.of_sqlite(error, self.where)
            if ours is None:
                raise
            raise ours from error
