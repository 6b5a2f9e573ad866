"""Whom we have met to play with, and on which terms, from the meeting until what was agreed on is over."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import delete, select

from forcemove.protocol.types import require_bytes
from forcemove.store.database import Database
from forcemove.store.schema import MEETINGS, checksum
from forcemove.store.statements import require_sound, upsert

__all__ = ["Meetings"]


class Meetings:
    """By the ids of the tables (32 bytes) at which we have met. Bodies are bytes, and whoever gives them reads them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def keep(self, table: bytes, body: bytes) -> None:
        """Keep it, on disk when this returns, instead of what was kept of this table before."""
        require_bytes("table", table, 32)
        with self._database.writing() as connection:
            upsert(connection, MEETINGS, [{"id": table, "body": body, "checksum": checksum(table, body)}])

    def forget(self, table: bytes) -> None:
        """What was agreed on there is over."""
        with self._database.writing() as connection:
            connection.execute(delete(MEETINGS).where(MEETINGS.c.id == table))

    def all(self) -> Sequence[tuple[bytes, bytes]]:
        """Tables and bodies, by tables. Raises `JournalDamaged`."""
        with self._database.reading() as connection:
            rows = connection.execute(select(MEETINGS).order_by(MEETINGS.c.id)).all()
        for row in rows:
            require_sound(self._database.where, "a meeting", row.checksum, row.id, row.body)
        return [(row.id, row.body) for row in rows]
