"""Exceptions of SQLite and PostgreSQL as our errors. Exceptions that only our mistake can cause are left as
they are.

Knows no statement and no table.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

from sqlalchemy.exc import DBAPIError

from forcemove.errors import JournalError
from forcemove.store.errors import (
    JournalBusy,
    JournalDamaged,
    JournalUnreachable,
    JournalUnusable,
    JournalUnwritable,
    NotAJournal,
)

__all__ = ["of_sqlalchemy", "of_sqlite"]

_Kind = Callable[[str, str], JournalError]
"""Makes an error from the place and the reason."""

_OF_SQLITE: dict[int, _Kind] = {
    sqlite3.SQLITE_BUSY: JournalBusy,
    sqlite3.SQLITE_LOCKED: JournalBusy,
    sqlite3.SQLITE_CORRUPT: JournalDamaged,
    sqlite3.SQLITE_NOTADB: NotAJournal,
    sqlite3.SQLITE_PERM: JournalUnusable,
    sqlite3.SQLITE_FULL: JournalUnwritable,
    sqlite3.SQLITE_IOERR: JournalUnwritable,
    sqlite3.SQLITE_READONLY: JournalUnwritable,
    sqlite3.SQLITE_CANTOPEN: JournalUnwritable,
    sqlite3.SQLITE_NOMEM: JournalUnwritable,
}
"""By the low byte of an extended result code."""

_OF_POSTGRESQL: dict[str, _Kind] = {
    "55P03": JournalBusy,  # waited for a lock for too long
    "57014": JournalBusy,  # ... or for a statement
    "40": JournalBusy,  # a deadlock
    "08": JournalUnreachable,
    "57": JournalUnreachable,  # the server was stopped
    "25P03": JournalUnreachable,  # we were paused in a transaction, and the server ended it
    "28": JournalUnusable,  # no such user, or a wrong password
    "3D": JournalUnusable,  # no such database
    "3F": JournalUnusable,  # no such schema
    "42501": JournalUnusable,  # no permission
    "25006": JournalUnwritable,  # a server that is read-only
    "53": JournalUnwritable,  # the disk is full, or too many connections
    "58": JournalUnwritable,
    "XX": JournalDamaged,
}
"""By SQLSTATE, or by its first two characters."""


def of_sqlite(error: sqlite3.Error, where: str) -> JournalError | None:
    """An exception of SQLite as our error, or None."""
    kind = _OF_SQLITE.get(getattr(error, "sqlite_errorcode", -1) & 0xFF)
    return kind(where, str(error)) if kind else None


def of_sqlalchemy(error: DBAPIError, where: str) -> JournalError | None:
    """An exception of a driver as our error, or None."""
    if isinstance(error.orig, sqlite3.Error):
        return of_sqlite(error.orig, where)
    state = getattr(error.orig, "sqlstate", None)
    if state is None:
        return JournalUnreachable(where, _first_line(error)) if _is_about_the_line(error) else None
    kind = _OF_POSTGRESQL.get(state) or _OF_POSTGRESQL.get(state[:2])
    return kind(where, _first_line(error)) if kind else None


def _is_about_the_line(error: DBAPIError) -> bool:
    return error.connection_invalidated or type(error.orig).__name__ in {"OperationalError", "ConnectionTimeout"}


def _first_line(error: DBAPIError) -> str:
    return str(error.orig).strip().partition("\n")[0]
