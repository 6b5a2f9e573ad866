"""Statements about channels' histories. A commit appends to a table that has no index; when there is time, what was
appended is moved to another table, where each channel's rows are together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlalchemy import Connection, Row, delete, func, insert, select, text

from forcemove.store.database import driver_of
from forcemove.store.records import ChannelUpdate, HistoryRow, StoredHistory
from forcemove.store.schema import HISTORY, RECENT_HISTORY, checksum
from forcemove.store.statements import chunks

__all__ = ["ALL_KINDS", "AT_ONCE", "MAX_ROWS", "append", "append_updates", "gather", "load", "put", "rows_of"]

ALL_KINDS = 2**63 - 1
AT_ONCE = 256
"""Rows that are moved in one transaction: it takes some milliseconds, and a channel's commit may wait for it."""
MAX_ROWS = 10_000
"""The newest rows of a channel that are kept."""
_LOCK = 0x464D_4849
"""The lock that a process holds on PostgreSQL while it moves rows."""

# The statement that every commit waits for, in the SQL of each database, as in `channels`.
_APPEND = {
    "sqlite": "INSERT INTO recent_history (channel_id, kinds, body, checksum) VALUES (?, ?, ?, ?)",
    "postgresql": "INSERT INTO recent_history (channel_id, kinds, body, checksum)"
    " SELECT * FROM unnest(%b::bytea[], %b::bigint[], %b::bytea[], %b::bigint[])",
}


def append_updates(connection: Connection, updates: Iterable[ChannelUpdate]) -> None:
    """Append what comes with channels."""
    append(connection, [(each.channel_id, each.history) for each in updates if each.history is not None])


def append(connection: Connection, new: Sequence[tuple[bytes, HistoryRow]]) -> None:
    """Append rows, each with its channel's id."""
    if not new:
        return
    rows = [(id_, each.kinds, each.body, _seal(id_, each)) for id_, each in new]
    statement = _APPEND[connection.dialect.name]
    if connection.dialect.name == "sqlite":
        driver_of(connection).executemany(statement, rows)
    else:
        connection.exec_driver_sql(statement, tuple(map(list, zip(*rows, strict=True))))


def _seal(channel_id: bytes, row: HistoryRow) -> int:
    """The checksum of a row, which moves with it: its number is no part of it."""
    return checksum(channel_id, row.kinds, row.body)


def gather(connection: Connection, limit: int = AT_ONCE) -> int:
    """Move the oldest rows that were appended, at most `limit`, to their channels' others; returns how many were moved.
    0 also where another process is doing it."""
    if not _may_gather(connection):
        return 0
    rows = connection.execute(select(RECENT_HISTORY).order_by(RECENT_HISTORY.c.number).limit(limit)).all()
    if not rows:
        return 0
    numbers = _last_numbers(connection, {row.channel_id for row in rows})
    connection.execute(insert(HISTORY), [_numbered(row, numbers) for row in rows])
    connection.execute(delete(RECENT_HISTORY).where(RECENT_HISTORY.c.number <= rows[-1].number))
    for channel_id in numbers:
        _trim(connection, channel_id)
    return len(rows)


def _may_gather(connection: Connection) -> bool:
    """Whether no other process moves rows. On SQLite a writer is alone."""
    if connection.dialect.name == "sqlite":
        return True
    return bool(connection.scalar(text("SELECT pg_try_advisory_xact_lock(:key)"), {"key": _LOCK}))


def _last_numbers(connection: Connection, ids: Iterable[bytes]) -> dict[bytes, int]:
    """The number of each channel's newest row, 0 where it has none."""
    found: dict[bytes, int] = {}
    for chunk in chunks(ids):
        found |= dict.fromkeys(chunk, 0)
        newest = select(HISTORY.c.channel_id, func.max(HISTORY.c.number).label("newest")).group_by(HISTORY.c.channel_id)
        rows = connection.execute(newest.where(HISTORY.c.channel_id.in_(chunk)))
        found |= {row.channel_id: row.newest for row in rows}
    return found


def _numbered(row: Row[tuple[object, ...]], numbers: dict[bytes, int]) -> dict[str, object]:
    """The row as its channel's next one. A damaged one stays as it is: its checksum shows it."""
    numbers[row.channel_id] += 1
    moved = {"channel_id": row.channel_id, "number": numbers[row.channel_id]}
    return moved | {"kinds": row.kinds, "body": row.body, "checksum": row.checksum}


def _trim(connection: Connection, channel_id: bytes) -> None:
    """Delete a channel's oldest rows beyond `MAX_ROWS`. Numbers have no gaps, so the newest one tells how many."""
    of_channel = HISTORY.c.channel_id == channel_id
    newest = connection.scalar(select(func.max(HISTORY.c.number)).where(of_channel)) or 0
    if newest > MAX_ROWS:
        connection.execute(delete(HISTORY).where(of_channel & (HISTORY.c.number <= newest - MAX_ROWS)))


def put(connection: Connection, channel_id: bytes, rows: Sequence[HistoryRow]) -> None:
    """Let a channel have these rows, oldest first, instead of any that it has."""
    for table in (HISTORY, RECENT_HISTORY):
        connection.execute(delete(table).where(table.c.channel_id == channel_id))
    numbered = enumerate(rows[-MAX_ROWS:], start=1)
    new = [
        {"channel_id": channel_id, "number": number, "kinds": each.kinds, "body": each.body}
        | {"checksum": _seal(channel_id, each)}
        for number, each in numbered
    ]
    if new:
        connection.execute(insert(HISTORY), new)


def load(connection: Connection, channel_id: bytes, kinds: int = ALL_KINDS) -> StoredHistory:
    """The rows of a channel that are of any of these kinds. Damaged rows are counted, and the others are there."""
    rows, damaged = rows_of(connection, channel_id, kinds)
    return StoredHistory(tuple(each.body for each in rows), damaged)


def rows_of(connection: Connection, channel_id: bytes, kinds: int = ALL_KINDS) -> tuple[list[HistoryRow], int]:
    """The sound rows of a channel that are of any of these kinds, oldest first, and how many are damaged."""
    sound: list[HistoryRow] = []
    damaged = 0
    for table in (HISTORY, RECENT_HISTORY):
        chosen = select(table.c.kinds, table.c.body, table.c.checksum).where(table.c.channel_id == channel_id)
        for row in connection.execute(chosen.where(table.c.kinds.op("&")(kinds) != 0).order_by(table.c.number)):
            if checksum(channel_id, row.kinds, row.body) == row.checksum:
                sound.append(HistoryRow(row.kinds, row.body))
            else:
                damaged += 1
    return sound[-MAX_ROWS:], damaged
