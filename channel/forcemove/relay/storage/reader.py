"""What a relay reads from its store, over a connection of its own: who reads holds up nobody who posts. For one thread.

An entry has its running hash beside it (`flow.history`), which is checked when it is read: neither SQLite nor a disk
notices a changed byte.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from forcemove.errors import ForcemoveError
from forcemove.flow.history import NOTHING_READ, running_hash
from forcemove.relay.storage.schema import Kept
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
    """Every method may raise a `JournalError`."""

    def __init__(self, session: SqliteSession) -> None:
        """`session`: of this reader alone."""
        self._session = session

    def close(self) -> None:
        """End the connection."""
        self._session.close()

    def load(self, table: bytes) -> Kept | None:
        """A table's log, or None."""
        with self._session.reading() as at_once:
            row = at_once.row(_LOG, (table,))
            if row is None:
                return None
            number, terms, first, dropped, touched, account = row
            newest = at_once.row(_NEWEST, (number,))
        kept = Kept(number, table, self._terms(table, terms), first, dropped, touched, account=account)
        if newest is not None:
            kept.length, kept.total, kept.hash = newest[0] + 1, newest[1], newest[2]
        return kept

    def find(self, log: int, since: int, author: bytes, id_: bytes) -> int | None:
        """The place, from `since` on, of what somebody has posted under an id, or None. There is no index for it, since
        that would be written with every entry: it looks at all from there on."""
        place: int | None = self._session.row(_FIND, (log, since, id_, author))[0]
        return place

    def hash_before(self, log: int, place: int) -> bytes | None:
        """The running hash over the entries before a place, or None where the last of them is not kept."""
        if place == 0:
            return NOTHING_READ
        row = self._session.row(_HASH, (log, place - 1))
        return None if row is None else row[0]

    def read(self, log: int, start: int, most_bytes: int) -> tuple[int, list[bytes]]:
        """Entries from a place on, or from the oldest one on where that is later, up to so many bytes but at least one;
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
        """Write what is in the write-ahead log to its places in the file, while others write on; see `Space`."""
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
