"""Tables' logs on disk: SQLite, in a file of its own. Writing is for one thread, `reader` for another. Knows
no network."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import IO

import msgspec

from forcemove.errors import JournalError
from forcemove.relay.errors import NotARelayStore, RelayStoreInUse, RelayStoreUnusable
from forcemove.relay.storage.deleting import Deleting
from forcemove.relay.storage.reader import LogReader
from forcemove.relay.storage.schema import APPLICATION_ID, STEPS, Entry, StoredLog
from forcemove.relay.storage.space import Space
from forcemove.store.errors import NotAJournal
from forcemove.store.migrations import MigrationStep
from forcemove.store.session import SqliteSession
from forcemove.store.sqlite import connect_file, connect_memory, open_file
from forcemove.transport.terms import TableTerms

__all__ = ["MEMORY", "RelayStore", "open_store"]

MEMORY = ":memory:"

_INSERT = "INSERT INTO entries (log, place, author, id, entry, hash, total) VALUES "
_INSERTS = [_INSERT + ", ".join(["(?, ?, ?, ?, ?, ?, ?)"] * count) for count in range(65)]
"""Statements by the number of their rows: a thread with many small ones waits for Python's lock each time."""
_TOUCH = "UPDATE logs SET touched = ?, is_used = 1 WHERE number = ?"


class RelayStore:
    """What a relay keeps on disk. Every method may raise a `JournalError`; then nothing is half-written. `reader`:
    reads logs; `deleting`: deletes tables; `space`: the disk that the store takes."""

    def __init__(self, session: SqliteSession, lock: IO[bytes] | None, clock: Callable[[], float]) -> None:
        """See `open_store`."""
        self._session, self._lock, self._clock = session, lock, clock
        reading = session.open_reader()
        self.reader, self.space = LogReader(reading), Space(session, reading)
        self.deleting = Deleting(session, self.space, clock)

    def close(self) -> None:
        """Close the store; then another relay may open it."""
        self.reader.close()
        self._session.close()
        if self._lock is not None:
            self._lock.close()

    def count(self) -> int:
        """How many tables there are."""
        return int(self._session.row("SELECT count(*) FROM logs")[0])

    def create(self, table: TableTerms, account: bytes = b"") -> StoredLog:
        """Make an empty log for a table that has none. `account`: of the address from which it is made."""
        now = int(self._clock())
        with self._session.writing() as connection:
            added = (
                "INSERT INTO logs (id, terms, first, dropped, touched, account, is_used) VALUES (?, ?, 0, 0, ?, ?, 0)"
            )
            number = connection.execute(added, (table.id, msgspec.msgpack.encode(table), now, account)).lastrowid
        return StoredLog(number or 0, table.id, table, 0, 0, 0, account=account)

    def commit(self, entries: Sequence[Entry], touched: Sequence[tuple[int, int]]) -> None:
        """Add entries, and say when logs were used (Unix seconds and number), in one transaction that is on disk when
        this returns."""
        most = len(_INSERTS) - 1
        with self._session.writing() as connection:
            for at in range(0, len(entries), most):
                rows = entries[at : at + most]
                connection.execute(_INSERTS[len(rows)], tuple(chain.from_iterable(rows)))
            if touched:
                connection.executemany(_TOUCH, touched)
        self.space.note(len(entries), sum(len(row[4]) for row in entries))

    def has(self, log: int, place: int, id_: bytes) -> bool:
        """Whether the entry at `place` of a log has this id: after a commit has raised, its entries may be on disk."""
        chosen = "SELECT 1 FROM entries WHERE log = ? AND place = ? AND id = ?"
        return self._session.row(chosen, (log, place, id_)) is not None

    def drop_oldest(self, log: int, entries: int, most_bytes: int) -> tuple[int, int]:
        """Shorten a log until it has at most this many entries and bytes; returns its first place, and the bytes of all
        entries that were ever dropped. A quarter of the log is dropped at a time, so that this is rarely done. The
        newest entry stays, whatever its size."""
        with self._session.writing() as connection:
            bounds = "SELECT min(place), max(place), max(total) FROM entries WHERE log = ?"
            first, last, total = connection.execute(bounds, (log,)).fetchone()
            before = "SELECT total - length(entry) FROM entries WHERE log = ? AND place = ?"
            (dropped,) = connection.execute(before, (log, first)).fetchone()
            while first < last and (last - first + 1 > entries or total - dropped > most_bytes):
                first = min(last, first + (last - first) // 4 + 1)
                (dropped,) = connection.execute(before, (log, first)).fetchone()
            connection.execute("DELETE FROM entries WHERE log = ? AND place < ?", (log, first))
            connection.execute("UPDATE logs SET first = ?, dropped = ? WHERE number = ?", (first, dropped, log))
        return first, dropped

    def offers(self) -> list[tuple[bytes, bytes]]:
        """All offers of the lobby, each with its signature."""
        return self._session.rows("SELECT offer, signature FROM offers ORDER BY hash")

    def keep_offer(self, hash_: bytes, offer: bytes, signature: bytes) -> None:
        """Keep an offer, instead of one with this hash if there is one."""
        with self._session.writing() as connection:
            connection.execute("INSERT OR REPLACE INTO offers VALUES (?, ?, ?)", (hash_, offer, signature))

    def drop_offer(self, hash_: bytes) -> None:
        """Forget an offer."""
        with self._session.writing() as connection:
            connection.execute("DELETE FROM offers WHERE hash = ?", (hash_,))


def open_store(
    where: str, *, clock: Callable[[], float] = time.time, steps: Sequence[MigrationStep] = STEPS
) -> RelayStore:
    """The store at a path, made if there is none; `:memory:` for a store that ends with the process. `clock`: Unix
    seconds.

    Raises `RelayStoreInUse`, `NotARelayStore` and `RelayStoreUnusable`.
    """
    if where == MEMORY:
        return RelayStore(SqliteSession(connect_memory(steps), MEMORY, None), None, clock)
    with _explained(where):
        lock = _lock(where)
        try:
            open_file(where, clock, steps, APPLICATION_ID).close()
            path = os.path.abspath(where)
            return RelayStore(SqliteSession(connect_file(path), path, path), lock, clock)
        except BaseException:
            lock.close()
            raise


def _lock(where: str) -> IO[bytes]:
    """Lock a file next to the store, which the system unlocks when the process ends, however it ends."""
    path = os.path.abspath(where) + ".lock"
    file = open(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600), "rb")  # noqa: SIM115  # kept open
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        raise RelayStoreInUse(where) from None
    return file


@contextmanager
def _explained(where: str) -> Iterator[None]:
    try:
        yield
    except NotAJournal as error:
        raise NotARelayStore(where, error.reason) from error
    except JournalError as error:
        reason = getattr(error, "reason", None) or "a newer version of Forcemove has written it"
        raise RelayStoreUnusable(where, reason) from error
    except OSError as error:
        raise RelayStoreUnusable(where, error.strerror or str(error)) from error
