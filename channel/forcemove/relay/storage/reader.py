"""What a relay reads from its store, over a connection of its own, so that reading delays no post. For one thread.

An entry is stored with its running hash (`flow.history`), which is checked when the entry is read: neither SQLite nor a
disk notices a changed byte.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from forcemove.errors import ForcemoveError
from forcemove.flow.history import NOTHING_READ, running_hash
from forcemove.relay.storage.schema import StoredLog
from forcemove.store.errors import JournalDamaged
from forcemove.store.session import SqliteSession
from forcemove.transport.terms import TableTerms

__all__ = ["LogReader"]

_LOG = "SELECT number, terms, first, dropped, touched * is_used, account FROM logs WHERE id = ?"
_NEWEST = "SELECT place, total, hash FROM entries WHERE log = ? ORDER BY place DESC LIMIT 1"
_HASH = "SELECT hash FROM entries WHERE log = ? AND place = ?"
_ENTRIES = "SELECT place, entry, hash FROM entries WHERE log = ? AND place >= ? ORDER BY place LIMIT ?"
_FIND = "SELECT min(place) FROM entries WHERE log = ? AND place >= ? AND id = ? AND author = ?"
_AT_ONCE = 256


class LogReader:
    """Reads one store. Every method may raise a `JournalError`."""

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
