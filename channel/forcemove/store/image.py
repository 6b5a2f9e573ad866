"""Journals as images: SQLite in memory, whose bytes somebody else keeps, where there are no files.

An image is checked as a file is before it is used. Nobody else has it at the same time: its keeper sees to that.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing

from sqlalchemy import update

from forcemove.store.database import Database, UnixClock
from forcemove.store.errors import JournalDamaged
from forcemove.store.migrations import MigrationStep, bring_up_to_date
from forcemove.store.schema import LEASES
from forcemove.store.sqlite import APPLICATION_ID, connect_bare, explained, memory_engine, require_header, require_sound

__all__ = ["open_database"]

_WHERE = "image"


def open_database(
    read: Callable[[], bytes], write: Callable[[bytes], object], clock: UnixClock, steps: Sequence[MigrationStep]
) -> Database:
    """See `opening.open_image`."""
    connection = connect_bare(":memory:")
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    with explained(_WHERE):
        image = read()
        if image:
            _take_in(image, connection, steps)
    connection.execute(f"PRAGMA user_version = {len(steps)}")
    database = Database(memory_engine(connection), _WHERE, clock, write=write)
    with database.writing() as opened:
        bring_up_to_date(opened, _WHERE, steps)
        opened.execute(update(LEASES).values(until=0))
    return database


def _take_in(image: bytes, connection: sqlite3.Connection, steps: Sequence[MigrationStep]) -> None:
    """Fill a database with what an image has. A copy: of one that is deserialized, SQLite would give the bytes of
    before a transaction as those within it."""
    require_header(_WHERE, image, len(steps), APPLICATION_ID)
    with closing(connect_bare(":memory:")) as found:
        found.deserialize(image)
        require_sound(_WHERE, found, steps, was_closed=False)
        pages, size = (found.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size"))
        if len(image) != pages * size:
            raise JournalDamaged(_WHERE, f"it has {len(image):,} bytes in place of {pages * size:,}")
        found.backup(connection)
