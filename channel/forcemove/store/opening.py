"""Opens a journal: a path, `:memory:`, a PostgreSQL URL, or an image, whose bytes somebody else keeps where there are
no files. What is not a journal is not touched; an image is checked as a file is.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import closing

from sqlalchemy import update

from forcemove.errors import InvalidValue
from forcemove.protocol.types import require_bytes
from forcemove.store import postgresql, sqlite
from forcemove.store.database import Database, UnixClock
from forcemove.store.errors import JournalDamaged
from forcemove.store.journal import Journal
from forcemove.store.migrations import STEPS, MigrationStep, bring_up_to_date
from forcemove.store.records import OWNER_LENGTH
from forcemove.store.schema import LEASES

MEMORY = ":memory:"
_POSTGRESQL = ("postgresql://", "postgres://")
_IMAGE = "image"


def open_journal(
    where: str, *, owner: bytes, clock: UnixClock = time.time, steps: Sequence[MigrationStep] = STEPS
) -> Journal:
    """The journal at `where`, made if there is nothing yet, and brought up to this program's format.

    `where`: a path; `:memory:` for one that is gone with the process; or `postgresql://user:password@host/database`,
    which wants the extra `forcemove[postgresql]`. `owner`: 16 random bytes, new for every process, under which it takes
    leases. `clock`: Unix seconds for leases on SQLite; PostgreSQL goes by its own. `steps`: the format's, see
    `migrations`.

    Raises `JournalUnusable`, `NotAJournal`, `JournalDamaged`, `JournalOfNewerProgram`, `PostgresqlMissing`, and what
    may pass: `JournalUnreachable`, `JournalBusy`, `JournalUnwritable`.
    """
    require_bytes("owner", owner, OWNER_LENGTH)
    return Journal(_open_database(where, clock, steps), owner)


def open_image(
    read: Callable[[], bytes],
    write: Callable[[bytes], object],
    *,
    owner: bytes,
    clock: UnixClock = time.time,
    steps: Sequence[MigrationStep] = STEPS,
) -> Journal:
    """A journal in memory whose bytes somebody else keeps, who lets nobody else have them meanwhile: the leases that an
    earlier owner has taken are void.

    - `read`: returns the bytes that were kept last, empty for none.
    - `write`: keeps bytes, and returns when they are kept. It is called in each transaction that has changed anything:
      an `OSError` of it undoes the transaction, and is raised as `JournalUnwritable`.
    - `owner`: see `open_journal`.
    - `clock`: Unix seconds for leases.
    - `steps`: see `open_journal`.

    Raises as `open_journal`.
    """
    require_bytes("owner", owner, OWNER_LENGTH)
    connection = sqlite.connect_bare(":memory:")
    connection.execute(f"PRAGMA application_id = {sqlite.APPLICATION_ID}")
    with sqlite.explained(_IMAGE):
        image = read()
        if image:
            _take_in(image, connection, steps)
    connection.execute(f"PRAGMA user_version = {len(steps)}")
    database = Database(sqlite.memory_engine(connection), _IMAGE, clock, write=write)
    with database.writing() as opened:
        bring_up_to_date(opened, _IMAGE, steps)
        opened.execute(update(LEASES).values(until=0))
    return Journal(database, owner)


def _open_database(where: str, clock: UnixClock, steps: Sequence[MigrationStep]) -> Database:
    if where == MEMORY:
        return sqlite.open_memory(clock, steps)
    if where.startswith(_POSTGRESQL):
        return postgresql.open_server(where, clock, steps)
    if not where or "\0" in where or "://" in where:
        raise InvalidValue(
            "journal", where.partition("://")[0], "a path, :memory: or postgresql://user:password@host/database"
        )
    return sqlite.open_file(where, clock, steps)


def _take_in(image: bytes, connection: sqlite3.Connection, steps: Sequence[MigrationStep]) -> None:
    """Fill a database with what an image has. A copy: of one that is deserialized, SQLite would give the bytes of
    before a transaction as those within it."""
    sqlite.require_header(_IMAGE, image, len(steps), sqlite.APPLICATION_ID)
    with closing(sqlite.connect_bare(":memory:")) as found:
        found.deserialize(image)
        sqlite.require_sound(_IMAGE, found, steps, was_closed=False)
        pages, size = (found.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size"))
        if len(image) != pages * size:
            raise JournalDamaged(_IMAGE, f"it has {len(image):,} bytes in place of {pages * size:,}")
        found.backup(connection)
