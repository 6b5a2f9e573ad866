"""The players that we have met, and the agreed terms, from the meeting until the game is over."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import delete, select

from forcemove.protocol.types import require_bytes
from forcemove.store.database import Database
from forcemove.store.schema import MEETINGS, checksum, upsert


class Meetings:
    """Meetings by the ids of their tables (32 bytes). Bodies are bytes, which only the caller can read."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def keep(self, table: bytes, body: bytes) -> None:
        """Store a meeting in place of the table's earlier one; it is on disk when this returns."""
        require_bytes("table", table, 32)
        with self._database.writing() as connection:
            upsert(connection, MEETINGS, [{"id": table, "body": body, "checksum": checksum(table, body)}])

    def forget(self, table: bytes) -> None:
        """Delete the meeting of a table: its game is over."""
        with self._database.writing() as connection:
            connection.execute(delete(MEETINGS).where(MEETINGS.c.id == table))

    def all(self) -> Sequence[tuple[bytes, bytes]]:
        """Tables and bodies, by tables; without those that are damaged: nobody has paid into a game that is a meeting
        still, and there are channels to play and to defend."""
        with self._database.reading() as connection:
            rows = connection.execute(select(MEETINGS).order_by(MEETINGS.c.id)).all()
        return [(row.id, row.body) for row in rows if checksum(row.id, row.body) == row.checksum]
