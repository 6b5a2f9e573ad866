"""Opens a journal: a path, `:memory:` or a PostgreSQL URL. What is not a journal is not touched."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from forcemove.errors import InvalidValue
from forcemove.protocol.types import require_bytes
from forcemove.store import image, postgresql, sqlite
from forcemove.store.database import Database, UnixClock
from forcemove.store.journal import Journal
from forcemove.store.migrations import STEPS, MigrationStep
from forcemove.store.records import OWNER_LENGTH

__all__ = ["MEMORY", "open_image", "open_journal"]

MEMORY = ":memory:"
_POSTGRESQL = ("postgresql://", "postgres://")


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
    return Journal(image.open_database(read, write, clock, steps), owner)


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
