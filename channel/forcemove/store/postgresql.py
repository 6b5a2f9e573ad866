"""Journals on PostgreSQL. Its tables are in the schema that new tables go to, by default `public`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import URL, create_engine, event, make_url, text
from sqlalchemy.exc import ArgumentError, ProgrammingError

from forcemove.errors import InvalidValue
from forcemove.store.database import Database, UnixClock
from forcemove.store.errors import JournalUnusable, PostgresqlMissing
from forcemove.store.migrations import MigrationStep, bring_up_to_date

CONNECT_SECONDS = 5
"""How long we wait for a server to answer."""
_ONE_AT_A_TIME = 0x464D_4A4C
"""The lock that a process holds while it changes tables."""
_SETTINGS: tuple[str, ...] = (
    "SET lock_timeout = '5s'",
    # A process that is paused within a transaction must not keep others from their channels: the server ends it.
    "SET idle_in_transaction_session_timeout = '10s'",
    # Servers can be set to confirm what is not on their disk yet. What is stricter than `on` may stay.
    "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'",
)


def open_server(url: str, clock: UnixClock, steps: Sequence[MigrationStep]) -> Database:
    """The journal in a database, with tables made if there are none. Raises `opening.open_journal`'s errors."""
    parsed = _parse(url)
    _require_driver()
    engine = create_engine(
        parsed.set(drivername="postgresql+psycopg"),
        connect_args={"client_encoding": "utf8", "application_name": "forcemove"}
        | ({} if "connect_timeout" in parsed.query else {"connect_timeout": CONNECT_SECONDS}),
        hide_parameters=True,  # what is stored is secret, also in a log
        pool_size=1,
        max_overflow=0,
    )
    event.listen(engine, "connect", _set_up)
    database = Database(engine, _shown(parsed), clock)
    try:
        with database.writing() as connection:
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _ONE_AT_A_TIME})
            bring_up_to_date(connection, database.where, steps)
    except ProgrammingError as error:  # an option that the driver does not know
        database.close()
        raise JournalUnusable(database.where, str(error.orig).strip()) from error
    except BaseException:
        database.close()
        raise
    return database


def _parse(url: str) -> URL:
    try:
        return make_url(url)
    except (ArgumentError, ValueError):
        raise InvalidValue("journal", "this URL", "postgresql://user:password@host:port/database") from None


def _require_driver() -> None:
    try:
        import psycopg  # noqa: F401 - SQLAlchemy loads it by name, and says less when it cannot
    except ImportError as error:
        raise PostgresqlMissing(str(error)) from None


def _shown(url: URL) -> str:
    """The address without the password, and without options, which may hold one."""
    return url.set(drivername="postgresql", query={}).render_as_string(hide_password=True)


def _set_up(connection: Any, _record: object) -> None:
    connection.autocommit = True
    for setting in _SETTINGS:
        connection.execute(setting)
    connection.autocommit = False
