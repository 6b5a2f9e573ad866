"""Tables' logs on disk: SQLite as the journal uses it, in a file of its own. For one thread; knows no network.

An entry has its running hash beside it (`flow.history`), which is checked when it is read: neither SQLite nor a disk
notices a changed byte.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from typing import IO, Any

import msgspec

from forcemove.channel.errors import ForcemoveError, JournalError
from forcemove.channel.flow.history import NOTHING_READ, running_hash
from forcemove.channel.line.terms import Table
from forcemove.channel.relay.errors import NotARelayStore, RelayStoreInUse, RelayStoreUnusable
from forcemove.channel.store.database import Database
from forcemove.channel.store.errors import JournalDamaged, NotAJournal
from forcemove.channel.store.migrations import Step
from forcemove.channel.store.sqlite import open_file, open_memory

__all__ = ["MEMORY", "STEPS", "Entry", "Kept", "RelayStore", "open_store"]

MEMORY = ":memory:"
APPLICATION_ID = 0x464D_524C
"""In the header of every relay's store: "FMRL"."""

_FIRST: Step = (
    "CREATE TABLE forcemove_journal (version BIGINT NOT NULL)",
    "INSERT INTO forcemove_journal VALUES (0)",
    "CREATE TABLE logs (number {number}, id {bytes} NOT NULL UNIQUE, terms {bytes} NOT NULL, first BIGINT NOT NULL,"
    " dropped BIGINT NOT NULL, touched BIGINT NOT NULL)",
    "CREATE INDEX logs_by_use ON logs (touched)",
    "CREATE TABLE entries (log BIGINT NOT NULL, place BIGINT NOT NULL, author {bytes} NOT NULL, id {bytes} NOT NULL,"
    " entry {bytes} NOT NULL, hash {bytes} NOT NULL, total BIGINT NOT NULL)",
    "CREATE UNIQUE INDEX entries_in_order ON entries (log, place)",
    "CREATE TABLE offers (hash {bytes} NOT NULL PRIMARY KEY, offer {bytes} NOT NULL, signature {bytes} NOT NULL)",
)
STEPS: tuple[Step, ...] = (_FIRST,)
"""How the tables come to be, see `store.migrations`."""

_INSERT = "INSERT INTO entries (log, place, author, id, entry, hash, total) VALUES "
_TOUCH = "UPDATE logs SET touched = ? WHERE number = ?"
_HASH = "SELECT hash FROM entries WHERE log = ? AND place = ?"
_TOGETHER = (64, 8, 1)
"""Rows that one statement inserts: a thread that executes many small ones waits for Python's lock again and again."""
_CHUNK = 256

Entry = tuple[int, int, bytes, bytes, bytes, bytes, int]
"""The log's number, the entry's place in it, its author's address, its id, its bytes, the running hash, and how many
bytes there have been in the log, this entry's among them."""


@dataclass
class Kept:
    """A log as it is on disk. `number`: the store's own of it; `id`: the table's; `first`: its oldest entry that is
    kept; `length`: how many entries there have been; `dropped`, `total`: the bytes of those that are not kept any more,
    and of all; `hash`: over all; `touched`: Unix seconds, when it was last used, to the hour."""

    number: int
    id: bytes
    table: Table
    first: int
    dropped: int
    touched: int
    length: int = 0
    total: int = 0
    hash: bytes = NOTHING_READ

    @property
    def size(self) -> int:
        """The bytes of the entries that are kept."""
        return self.total - self.dropped


class RelayStore:
    """What a relay keeps. Every method may raise a `JournalError`; then nothing is half-written."""

    def __init__(self, database: Database, lock: IO[bytes] | None, clock: Callable[[], float]) -> None:
        """See `open_store`."""
        self._database, self._lock, self._clock = database, lock, clock

    def close(self) -> None:
        """Let another relay have it."""
        self._database.close()
        if self._lock is not None:
            self._lock.close()

    def count(self) -> int:
        """How many tables there are."""
        with self._database.reading() as connection:
            return int(connection.exec_driver_sql("SELECT count(*) FROM logs").scalar_one())

    def load(self, table: bytes) -> Kept | None:
        """A table's log, or None."""
        with self._database.reading() as connection:
            chosen = "SELECT number, terms, first, dropped, touched FROM logs WHERE id = ?"
            row = connection.exec_driver_sql(chosen, (table,)).one_or_none()
            if row is None:
                return None
            kept = Kept(row.number, table, self._terms(table, row.terms), row.first, row.dropped, row.touched)
            newest = "SELECT place, total, hash FROM entries WHERE log = ? ORDER BY place DESC LIMIT 1"
            last = connection.exec_driver_sql(newest, (row.number,)).one_or_none()
        if last is not None:
            kept.length, kept.total, kept.hash = last.place + 1, last.total, last.hash
        return kept

    def create(self, table: Table) -> Kept:
        """An empty log for a table that has none."""
        now = int(self._clock())
        with self._database.writing() as connection:
            added = "INSERT INTO logs (id, terms, first, dropped, touched) VALUES (?, ?, 0, 0, ?)"
            number = connection.exec_driver_sql(added, (table.id, msgspec.msgpack.encode(table), now)).lastrowid
        return Kept(number, table.id, table, 0, 0, now)

    def commit(self, entries: Sequence[Entry], touched: Sequence[tuple[int, int]]) -> None:
        """Add entries, and say when logs were used (Unix seconds and number), in one transaction that is on disk when
        this returns."""
        with self._database.writing() as connection:
            for statement, rows in _statements(entries):
                connection.exec_driver_sql(statement, tuple(chain.from_iterable(rows)))
            if touched:
                connection.exec_driver_sql(_TOUCH, list(touched))

    def has(self, log: int, place: int, id_: bytes) -> bool:
        """Whether entry number `place` of a log has this id: a commit that has failed at its end may be there."""
        with self._database.reading() as connection:
            chosen = "SELECT 1 FROM entries WHERE log = ? AND place = ? AND id = ?"
            return connection.exec_driver_sql(chosen, (log, place, id_)).one_or_none() is not None

    def find(self, log: int, since: int, author: bytes, id_: bytes) -> int | None:
        """The place, from `since` on, of what somebody has posted under an id, or None. There is no index for it, since
        that would be written with every entry: it looks at all from there on."""
        with self._database.reading() as connection:
            chosen = "SELECT min(place) FROM entries WHERE log = ? AND place >= ? AND id = ? AND author = ?"
            place: int | None = connection.exec_driver_sql(chosen, (log, since, id_, author)).scalar_one()
        return place

    def hash_before(self, log: int, place: int) -> bytes | None:
        """The running hash over the entries before a place, or None where the last of them is not kept."""
        if place == 0:
            return NOTHING_READ
        with self._database.reading() as connection:
            hash_: bytes | None = connection.exec_driver_sql(_HASH, (log, place - 1)).scalar_one_or_none()
        return hash_

    def read(self, log: int, start: int, most_bytes: int) -> tuple[int, list[bytes]]:
        """Entries from a place on, or from the oldest one on where that is later, up to so many bytes but at least one;
        and the place of the first of them. Raises `JournalDamaged`."""
        with self._database.reading() as connection:
            first = connection.exec_driver_sql("SELECT first FROM logs WHERE number = ?", (log,)).scalar_one_or_none()
            start = max(start, first or 0)
            before = connection.exec_driver_sql(_HASH, (log, start - 1)).scalar_one_or_none() if start else NOTHING_READ
            chosen = "SELECT place, entry, hash FROM entries WHERE log = ? AND place >= ? ORDER BY place LIMIT ?"
            rows = connection.exec_driver_sql(chosen, (log, start, _CHUNK)).all()
        if not rows:
            raise JournalDamaged(self._database.where, f"a log has no entry {start}")
        return start, list(self._sound(rows, before, start, most_bytes))

    def drop_oldest(self, log: int, entries: int, most_bytes: int) -> tuple[int, int]:
        """Shorten a log until it has at most so many entries and bytes; returns its first place, and the bytes of all
        that was ever dropped. A quarter goes at a time, so that this is seldom done. The newest entry stays, whatever
        its size."""
        with self._database.writing() as connection:
            bounds = "SELECT min(place), max(place), max(total) FROM entries WHERE log = ?"
            first, last, total = connection.exec_driver_sql(bounds, (log,)).one()
            before = "SELECT total - length(entry) FROM entries WHERE log = ? AND place = ?"
            dropped = connection.exec_driver_sql(before, (log, first)).scalar_one()
            while first < last and (last - first + 1 > entries or total - dropped > most_bytes):
                first = min(last, first + (last - first) // 4 + 1)
                dropped = connection.exec_driver_sql(before, (log, first)).scalar_one()
            connection.exec_driver_sql("DELETE FROM entries WHERE log = ? AND place < ?", (log, first))
            connection.exec_driver_sql("UPDATE logs SET first = ?, dropped = ? WHERE number = ?", (first, dropped, log))
        return first, dropped

    def idle(self, seconds: float) -> list[tuple[int, bytes]]:
        """Numbers and ids of the tables at which nothing has happened for so long."""
        with self._database.reading() as connection:
            chosen = "SELECT number, id FROM logs WHERE touched < ? ORDER BY touched LIMIT ?"
            rows = connection.exec_driver_sql(chosen, (int(self._clock() - seconds), _CHUNK)).all()
        return [(row.number, row.id) for row in rows]

    def delete(self, logs: Sequence[int]) -> None:
        """Forget tables, with all that was said there."""
        with self._database.writing() as connection:
            for log in logs:
                connection.exec_driver_sql("DELETE FROM entries WHERE log = ?", (log,))
                connection.exec_driver_sql("DELETE FROM logs WHERE number = ?", (log,))

    def offers(self) -> list[tuple[bytes, bytes]]:
        """All offers of the lobby, each with its signature."""
        with self._database.reading() as connection:
            rows = connection.exec_driver_sql("SELECT offer, signature FROM offers ORDER BY hash").all()
        return [(row.offer, row.signature) for row in rows]

    def keep_offer(self, hash_: bytes, offer: bytes, signature: bytes) -> None:
        """Keep an offer, in the place of one with this hash if there is one."""
        with self._database.writing() as connection:
            connection.exec_driver_sql("INSERT OR REPLACE INTO offers VALUES (?, ?, ?)", (hash_, offer, signature))

    def drop_offer(self, hash_: bytes) -> None:
        """Forget an offer."""
        with self._database.writing() as connection:
            connection.exec_driver_sql("DELETE FROM offers WHERE hash = ?", (hash_,))

    def _terms(self, id_: bytes, terms: bytes) -> Table:
        try:
            table = msgspec.msgpack.decode(terms, type=Table)
        except (msgspec.DecodeError, ForcemoveError) as error:
            raise JournalDamaged(self._database.where, f"a table's terms cannot be read: {error!s:.100}") from error
        if table.id != id_:
            raise JournalDamaged(self._database.where, "a table's terms are not those of its id")
        return table

    def _sound(self, rows: Any, hash_: bytes | None, start: int, most_bytes: int) -> Iterator[bytes]:
        """The entries of rows, each with the hash that follows from the one before it."""
        size = 0
        for place, (at, entry, stored) in enumerate(rows, start):
            expected = stored if hash_ is None else running_hash(hash_, entry)
            if at != place or stored != expected:
                raise JournalDamaged(self._database.where, f"entry {place} of a log does not fit its hash")
            size, hash_ = size + len(entry), stored
            if size > most_bytes and place > start:
                return
            yield entry


def _statements(entries: Sequence[Entry]) -> Iterator[tuple[str, Sequence[Entry]]]:
    """Insertions, and the rows of each."""
    at = 0
    for count in _TOGETHER:
        statement = _INSERT + ", ".join(["(?, ?, ?, ?, ?, ?, ?)"] * count)
        while len(entries) - at >= count:
            yield statement, entries[at : at + count]
            at += count


def open_store(where: str, *, clock: Callable[[], float] = time.time, steps: Sequence[Step] = STEPS) -> RelayStore:
    """The store at a path, made if there is nothing yet; `:memory:` for one that is gone with the process. `clock`:
    Unix seconds.

    Raises `RelayStoreInUse`, `NotARelayStore` and `RelayStoreUnusable`.
    """
    if where == MEMORY:
        return RelayStore(open_memory(clock, steps), None, clock)
    with _explained(where):
        lock = _lock(where)
        try:
            return RelayStore(open_file(where, clock, steps, APPLICATION_ID), lock, clock)
        except BaseException:
            lock.close()
            raise


def _lock(where: str) -> IO[bytes]:
    """A file beside the store, which the system unlocks when the process ends, however it does."""
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
