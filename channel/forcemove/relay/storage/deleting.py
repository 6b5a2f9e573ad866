"""Which tables may be deleted, and how: they are unknown at once, and their entries are deleted in small parts, so
that posts wait for no large deletion. Knows no network."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from forcemove.relay.storage.schema import ENTRY_COST, TABLE_COST
from forcemove.relay.storage.space import Space
from forcemove.store.session import SqliteSession

_TABLES, _ENTRIES = 64, 256
"""How many tables one search finds, and how many entries one part has, at most."""
_PART = 2**20
"""Bytes of entries that are deleted at once; one entry may have less or more."""
_COSTS = (
    "SELECT touched, number, logs.id, account,"
    " ? + coalesce(total - dropped + ? * (place + 1 - first), 0) AS cost FROM logs LEFT JOIN entries"
    " ON log = number AND place = (SELECT max(place) FROM entries WHERE log = number)"
)
_HELD = f"SELECT account, count(*), sum(cost) FROM ({_COSTS}) GROUP BY account"  # noqa: S608  # no caller's words
_AFTER = " AND (touched, number) > (?, ?) ORDER BY touched, number LIMIT ?"
START = (0, 0)


@dataclass(frozen=True)
class Idle:
    """A table at which nothing has happened since `touched` (Unix seconds, to the hour). `number`: of its log; `id`:
    the table's; `account`: of whose address it was made; `cost`: bytes of the store."""

    touched: int
    number: int
    id: bytes
    account: bytes
    cost: int

    @property
    def place(self) -> tuple[int, int]:
        """The table's place in the order in which tables are deleted."""
        return self.touched, self.number


class Deleting:
    """The deletions of one store, in the thread that writes to it. Every method may raise a `JournalError`."""

    def __init__(self, session: SqliteSession, space: Space, clock: Callable[[], float]) -> None:
        """`space`: counts what is written; `clock`: Unix seconds."""
        self._session, self._space, self._clock = session, space, clock

    def held(self) -> list[tuple[bytes, int, int]]:
        """Accounts, with the number of their tables, and the bytes that these take. Reads all tables."""
        return self._session.rows(_HELD, (TABLE_COST, ENTRY_COST))

    def idle(self, seconds: float, after: tuple[int, int] = START) -> list[Idle]:
        """The next tables that were not used for this many seconds, after the place of a table, the oldest first."""
        return self._idle(" WHERE touched < ?", (int(self._clock() - seconds), *after))

    def never_used(self, seconds: float, after: tuple[int, int] = START) -> list[Idle]:
        """The next tables that were made this many seconds ago and have no post, as in `idle`."""
        return self._idle(" WHERE is_used = 0 AND touched < ?", (int(self._clock() - seconds), *after))

    def of_account(self, account: bytes, after: tuple[int, int] = START) -> list[Idle]:
        """The next tables of an account, as in `idle`."""
        return self._idle(" WHERE account = ?", (account, *after))

    def forget(self, logs: Sequence[int]) -> None:
        """Make these tables unknown from now on; `sweep` deletes their entries."""
        numbers = [(log,) for log in logs]
        with self._session.writing() as connection:
            connection.executemany("INSERT INTO leaving VALUES (?)", numbers)
            connection.executemany("DELETE FROM logs WHERE number = ?", numbers)

    def sweep(self) -> bool:
        """Delete a part of the entries of forgotten tables; returns whether there may be more."""
        found = self._session.row("SELECT log FROM leaving LIMIT 1")
        if found is None:
            return False
        (log,) = found
        chosen = "SELECT place, total FROM entries WHERE log = ? ORDER BY place LIMIT ?"
        rows = self._session.rows(chosen, (log, _ENTRIES))
        part = [place for place, total in rows if total <= rows[0][1] + _PART]
        with self._session.writing() as connection:
            if part:
                connection.execute("DELETE FROM entries WHERE log = ? AND place <= ?", (log, part[-1]))
            if len(part) == len(rows) < _ENTRIES:
                connection.execute("DELETE FROM leaving WHERE log = ?", (log,))
        self._space.note(len(part), 0)
        return True

    def _idle(self, chosen: str, values: Sequence[object]) -> list[Idle]:
        rows = self._session.rows(_COSTS + chosen + _AFTER, (TABLE_COST, ENTRY_COST, *values, _TABLES))
        return [Idle(*row) for row in rows]
