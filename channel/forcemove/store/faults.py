"""Exceptions of SQLite and PostgreSQL as our errors. Exceptions that only our mistake can cause are left as
they are.

Knows no statement and no table.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

from sqlalchemy.exc import DBAPIError

from forcemove.errors import JournalError
from forcemove.store import errors

_Kind = Callable[[str, str], JournalError]
"""Makes an error from the place and the reason."""

_OF_SQLITE: dict[int, _Kind] = {
    sqlite3.SQLITE_BUSY: errors.JournalBusy,
    sqlite3.SQLITE_LOCKED: errors.JournalBusy,
    sqlite3.SQLITE_PROTOCOL: errors.JournalBusy,  # many processes have begun at once, again and again
    sqlite3.SQLITE_CORRUPT: errors.JournalDamaged,
    sqlite3.SQLITE_NOTADB: errors.NotAJournal,
    sqlite3.SQLITE_PERM: errors.JournalUnusable,
    sqlite3.SQLITE_FULL: errors.JournalUnwritable,
    sqlite3.SQLITE_IOERR: errors.JournalUnwritable,
    sqlite3.SQLITE_READONLY: errors.JournalUnwritable,
    sqlite3.SQLITE_CANTOPEN: errors.JournalUnwritable,
    sqlite3.SQLITE_NOMEM: errors.JournalUnwritable,
}
"""By the low byte of an extended result code."""

_OF_POSTGRESQL: dict[str, _Kind] = {
    "55P03": errors.JournalBusy,  # waited for a lock for too long
    "57014": errors.JournalBusy,  # ... or for a statement
    "40": errors.JournalBusy,  # a deadlock
    "08": errors.JournalUnreachable,
    "57": errors.JournalUnreachable,  # the server was stopped
    "25P03": errors.JournalUnreachable,  # we were paused in a transaction, and the server ended it
    "28": errors.JournalUnusable,  # no such user, or a wrong password
    "3D": errors.JournalUnusable,  # no such database
    "3F": errors.JournalUnusable,  # no such schema
    "42501": errors.JournalUnusable,  # no permission
    "25006": errors.JournalUnwritable,  # a server that is read-only
    "53": errors.JournalUnwritable,  # the disk is full, or too many connections
    "58": errors.JournalUnwritable,
    "XX": errors.JournalDamaged,
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
        return errors.JournalUnreachable(where, _first_line(error)) if _is_about_the_line(error) else None
    kind = _OF_POSTGRESQL.get(state) or _OF_POSTGRESQL.get(state[:2])
    return kind(where, _first_line(error)) if kind else None


def _is_about_the_line(error: DBAPIError) -> bool:
    return error.connection_invalidated or type(error.orig).__name__ in {"OperationalError", "ConnectionTimeout"}


def _first_line(error: DBAPIError) -> str:
    return str(error.orig).strip().partition("\n")[0]
