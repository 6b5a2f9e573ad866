"""A connection that threads take in turn, and its transactions. Knows how SQLite and PostgreSQL differ; no table."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import RLock

from sqlalchemy import Connection, Engine, event, text
from sqlalchemy.exc import DBAPIError

from forcemove.channel.store import faults
from forcemove.channel.store.errors import JournalDamaged, JournalUnwritable

__all__ = ["Clock", "Database"]

Clock = Callable[[], float]
"""Gives Unix seconds."""


class Database:
    """One connection to a database, for one thread at a time."""

    def __init__(self, engine: Engine, where: str, clock: Clock, file: str | None = None) -> None:
        """`where`: for errors; `clock`: for leases on SQLite; `file`: where SQLite has it on disk, else None."""
        self.where = where
        self._engine, self._clock, self._lock = engine, clock, RLock()
        self.file = file
        self._identity = _identity(file)
        if engine.dialect.name == "sqlite":
            event.listen(engine, "begin", _begin_on_sqlite)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that changes nothing. Raises a `JournalError`, as does what is done in it."""
        with self._lock, self._translated(), self._engine.begin() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that is committed at the end, whole and on disk; an error undoes it.

        Raises a `JournalError`, as does what is done in it. After a `JournalUnavailable` from the end itself it may
        have been committed or not: what is read then tells.
        """
        with self._lock, self._translated():
            self._require_same_file()
            with self._engine.connect() as connection:
                writer = connection.execution_options(writing=True)
                with writer.begin():
                    yield writer

    def now(self, connection: Connection) -> int:
        """The time that leases go by, in milliseconds: the server's, or our clock's on SQLite."""
        if connection.dialect.name == "postgresql":
            seconds = connection.scalar(text("SELECT extract(epoch FROM clock_timestamp())"))
            return int((seconds or 0) * 1000)
        return int(self._clock() * 1000)

    def close(self) -> None:
        """Give the connection back."""
        with self._lock:
            self._engine.dispose()

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except DBAPIError as error:
            ours = faults.of_sqlalchemy(error, self.where)
            if ours is None:
                raise
            raise ours from error
        except UnicodeDecodeError as error:  # the driver's, where SQLite's own words name something that is damaged
            raise JournalDamaged(self.where, str(error)) from error

    def _require_same_file(self) -> None:
        """What is written to a file that has lost its name is lost with the process."""
        if _identity(self.file) != self._identity:
            raise JournalUnwritable(self.where, "the file was removed or replaced while it was in use")


def _identity(file: str | None) -> tuple[int, int] | None:
    if file is None:
        return None
    try:
        found = os.stat(file)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _begin_on_sqlite(connection: Connection) -> None:
    """A writer takes its lock at once: one that is a reader first could not wait for another's."""
    is_writing = connection.get_execution_options().get("writing", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if is_writing else "BEGIN")
