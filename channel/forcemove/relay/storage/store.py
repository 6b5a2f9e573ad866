"""Tables' logs on disk: SQLite, in a file of its own. Writing is for one thread. Reading is for another, over a
connection of its own, so that it delays no post. Knows no network.

An entry is stored with its running hash (`flow.history`), which is checked when the entry is read: neither SQLite nor a
disk notices a changed byte.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import IO, Any

import msgspec

from forcemove.errors import ForcemoveError, JournalError
from forcemove.flow.history import NOTHING_READ, running_hash
from forcemove.relay.errors import NotARelayStore, RelayStoreInUse, RelayStoreUnusable
from forcemove.relay.storage.deleting import Deleting
from forcemove.relay.storage.schema import APPLICATION_ID, STEPS, Entry, StoredLog
from forcemove.relay.storage.space import Space
from forcemove.store.errors import JournalDamaged, NotAJournal
from forcemove.store.session import SqliteSession
from forcemove.store.sqlite import connect_file, connect_memory, open_file
from forcemove.transport.terms import TableTerms

MEMORY = ":memory:"
_INSERT = "INSERT INTO entries (log, place, author, id, entry, hash, total) VALUES "
_INSERTS = [_INSERT + ", ".join(["(?, ?, ?, ?, ?, ?, ?)"] * count) for count in range(65)]
"""Statements by the number of their rows: a thread with many small ones waits for Python's lock each time."""
_TOUCH = "UPDATE logs SET touched = ?, is_used = 1 WHERE number = ?"
_LOG = "SELECT number, terms, first, dropped, touched * is_used, account FROM logs WHERE id = ?"
_NEWEST = "SELECT place, total, hash FROM entries WHERE log = ? ORDER BY place DESC LIMIT 1"
_HASH = "SELECT hash FROM entries WHERE log = ? AND place = ?"
_ENTRIES = "SELECT place, entry, hash FROM entries WHERE log = ? AND place >= ? ORDER BY place LIMIT ?"
_FIND = "SELECT min(place) FROM entries WHERE log = ? AND place >= ? AND id = ? AND author = ?"
_AT_ONCE = 256


class RelayStore:
    """What a relay keeps on disk. Every method may raise a `JournalError`; then nothing is half-written. `reader`:
    reads logs; `deleting`: deletes tables; `space`: the disk that the store takes."""

    def __init__(self, session: SqliteSession, lock: IO[bytes] | None, clock: Callable[[], float]) -> None:
        """See `open_store`."""
        self._session, self._lock, self._clock = session, lock, clock
        reading = session.open_reader()
        self.reader, self.space = _LogReader(reading), Space(session, reading)
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


def open_store(where: str, *, clock: Callable[[], float] = time.time) -> RelayStore:
    """The store at a path, made if there is none; `:memory:` for a store that ends with the process. `clock`: Unix
    seconds.

    Raises `RelayStoreInUse`, `NotARelayStore` and `RelayStoreUnusable`.
    """
    if where == MEMORY:
        return RelayStore(SqliteSession(connect_memory(STEPS), MEMORY, None), None, clock)
    with _explained(where):
        lock = _lock(where)
        try:
            open_file(where, clock, STEPS, APPLICATION_ID).close()
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


class _LogReader:
    """Reads one store, for one thread. Every method may raise a `JournalError`."""

    def __init__(self, session: SqliteSession) -> None:
        """`session`: of this reader alone."""
        self._session = session

    def close(self) -> None:
        """End the connection."""
        self._session.close()

    def load(self, table: bytes) -> StoredLog | None:
        """A table's log, or None."""
        with self._session.reading() as at_once:
            row = at_once.row(_LOG, (table,))
            if row is None:
                return None
            number, terms, first, dropped, touched, account = row
            newest = at_once.row(_NEWEST, (number,))
        kept = StoredLog(number, table, self._terms(table, terms), first, dropped, touched, account=account)
        if newest is not None:
            kept.length, kept.total, kept.hash = newest[0] + 1, newest[1], newest[2]
        return kept

    def find(self, log: int, since: int, author: bytes, id_: bytes) -> int | None:
        """The place, from `since` on, of the entry that an author has posted under an id, or None. There is no index of
        ids, since it would be written with every entry: this reads all entries from there on."""
        place: int | None = self._session.row(_FIND, (log, since, id_, author))[0]
        return place

    def hash_before(self, log: int, place: int) -> bytes | None:
        """The running hash over the entries before a place, or None where the last of them is not kept."""
        if place == 0:
            return NOTHING_READ
        row = self._session.row(_HASH, (log, place - 1))
        return None if row is None else row[0]

    def read(self, log: int, start: int, most_bytes: int) -> tuple[int, list[bytes]]:
        """Entries from a place on, or from the oldest one on where that is later, up to `most_bytes` but at least one;
        and the place of the first of them. Raises `JournalDamaged`."""
        with self._session.reading() as at_once:
            first = at_once.row("SELECT first FROM logs WHERE number = ?", (log,))
            start = max(start, 0 if first is None else first[0])
            before = at_once.row(_HASH, (log, start - 1)) if start else (NOTHING_READ,)
            rows = at_once.rows(_ENTRIES, (log, start, _AT_ONCE))
        if not rows:
            raise JournalDamaged(self._session.where, f"a log has no entry {start}")
        return start, list(self._sound(rows, None if before is None else before[0], start, most_bytes))

    def put_back(self) -> None:
        """Copy the write-ahead log into the store's file, while the other thread writes on; see `Space`."""
        self._session.rows("PRAGMA wal_checkpoint(PASSIVE)")

    def _terms(self, id_: bytes, terms: bytes) -> TableTerms:
        try:
            table = msgspec.msgpack.decode(terms, type=TableTerms)
        except (msgspec.DecodeError, ForcemoveError) as error:
            raise JournalDamaged(self._session.where, f"a table's terms cannot be read: {error!s:.100}") from error
        if table.id != id_:
            raise JournalDamaged(self._session.where, "a table's terms are not those of its id")
        return table

    def _sound(self, rows: Any, hash_: bytes | None, start: int, most_bytes: int) -> Iterator[bytes]:
        """The entries of rows, each with the hash that follows from the one before it."""
        size = 0
        for place, (at, entry, stored) in enumerate(rows, start):
            expected = stored if hash_ is None else running_hash(hash_, entry)
            if at != place or stored != expected:
                raise JournalDamaged(self._session.where, f"entry {place} of a log does not fit its hash")
            size, hash_ = size + len(entry), stored
            if size > most_bytes and place > start:
                return
            yield entry
