"""Statements about channels' histories. A commit appends one row for all its channels, to a table that has no index:
ten rows take ten times as long. When there is time, the rows are taken apart and moved to another table, where each
channel's are together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec
from sqlalchemy import Connection, bindparam, delete, func, insert, select, text

from forcemove.store.database import driver_of
from forcemove.store.records import HistoryRow, StoredHistory
from forcemove.store.schema import HISTORY, RECENT_HISTORY, checksum, chunks

ALL_KINDS = 2**63 - 1
MAX_ROWS = 10_000
"""The newest rows of a channel that are kept."""
_AT_ONCE = 256
"""Parts that are moved in one transaction: it takes some milliseconds, and a channel's commit may wait for it."""
_LOCK = 0x464D_4849
"""The lock that a process holds on PostgreSQL while it moves rows."""
_APPEND = {
    "sqlite": "INSERT INTO recent_history (parts, body, checksum) VALUES (?, ?, ?)",
    "postgresql": "INSERT INTO recent_history (parts, body, checksum) VALUES (%s, %s, %s)",
}
Part = tuple[bytes, int, bytes]
"""A channel's id, and the kinds and the body of a row."""
_DAMAGED = HistoryRow(ALL_KINDS, b"")
"""In place of a row that cannot be believed."""
_MOVED = select(HISTORY).where(HISTORY.c.channel_id == bindparam("channel_id")).order_by(HISTORY.c.number)
_MOVED = _MOVED.where(HISTORY.c.kinds.op("&")(bindparam("kinds")) != 0)
_RECENT = select(RECENT_HISTORY).order_by(RECENT_HISTORY.c.number)
"""Made once: a node that resumes asks for each channel."""
_ENCODER = msgspec.msgpack.Encoder()
_DECODER: msgspec.msgpack.Decoder[list[Part]] = msgspec.msgpack.Decoder(list[Part])

# ------------------------------------------------------------------------------------------------------------ appending


def append(connection: Connection, new: Sequence[tuple[bytes, HistoryRow]]) -> None:
    """Append rows of channels, each with its channel's id."""
    if not new:
        return
    body = _ENCODER.encode([(id_, each.kinds, each.body) for id_, each in new])
    row = (len(new), body, checksum(len(new), body))
    if connection.dialect.name == "sqlite":
        driver_of(connection).execute(_APPEND["sqlite"], row)
    else:
        connection.exec_driver_sql(_APPEND["postgresql"], row)


def _parts_of(body: Any) -> list[Part]:
    """What was appended together; nothing where the body is damaged so that it cannot be told."""
    try:
        return _DECODER.decode(body)
    except (msgspec.DecodeError, TypeError):
        return []


# ------------------------------------------------------------------------------------------------------ moving together


def gather(connection: Connection) -> bool:
    """Take the oldest rows that were appended apart, some hundred parts of them; returns whether there are more. Does
    nothing while another process does it."""
    if connection.dialect.name == "postgresql" and not connection.scalar(
        text("SELECT pg_try_advisory_xact_lock(:key)"), {"key": _LOCK}
    ):
        return False
    return _move_some(connection)


def gather_all(connection: Connection) -> None:
    """Take all rows that were appended apart, once no other process does it."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
    while _move_some(connection):
        pass


def _move_some(connection: Connection) -> bool:
    numbers, has_more = _oldest(connection)
    if not numbers:
        return False
    chosen = RECENT_HISTORY.c.number <= numbers[-1]
    moved: dict[bytes, list[tuple[HistoryRow, bool]]] = {}
    for row in connection.execute(select(RECENT_HISTORY).where(chosen).order_by(RECENT_HISTORY.c.number)):
        is_sound = checksum(row.parts, row.body) == row.checksum
        for id_, kinds, body in _parts_of(row.body):
            moved.setdefault(id_, []).append((HistoryRow(kinds, body) if is_sound else _DAMAGED, is_sound))
    _insert(connection, moved)
    connection.execute(delete(RECENT_HISTORY).where(chosen))
    return has_more


def _oldest(connection: Connection) -> tuple[list[int], bool]:
    """The numbers of the oldest appended rows, with as many parts as are moved at once, and whether there are more."""
    oldest = select(RECENT_HISTORY.c.number, RECENT_HISTORY.c.parts).order_by(RECENT_HISTORY.c.number)
    numbers, parts = list[int](), 0
    for row in connection.execute(oldest.limit(_AT_ONCE + 1)).all():
        if parts >= _AT_ONCE:
            return numbers, True
        numbers.append(row.number)
        parts += max(row.parts, 1)
    return numbers, False


def _insert(connection: Connection, moved: dict[bytes, list[tuple[HistoryRow, bool]]]) -> None:
    """Add rows to their channels' others. One that was damaged gets a checksum that shows it."""
    last = _last_numbers(connection, moved)
    rows = [
        _values(id_, last[id_] + place, each) | ({} if is_sound else {"checksum": ~_seal(id_, each)})
        for id_, of_channel in moved.items()
        for place, (each, is_sound) in enumerate(of_channel, start=1)
    ]
    if rows:
        connection.execute(insert(HISTORY), rows)
    for id_, of_channel in moved.items():
        _trim(connection, id_, last[id_] + len(of_channel))


def _last_numbers(connection: Connection, ids: Iterable[bytes]) -> dict[bytes, int]:
    """The number of each channel's newest row, 0 where it has none."""
    found: dict[bytes, int] = {}
    for chunk in chunks(ids):
        found |= dict.fromkeys(chunk, 0)
        newest = select(HISTORY.c.channel_id, func.max(HISTORY.c.number).label("newest")).group_by(HISTORY.c.channel_id)
        rows = connection.execute(newest.where(HISTORY.c.channel_id.in_(chunk)))
        found |= {row.channel_id: row.newest for row in rows}
    return found


def _trim(connection: Connection, channel_id: bytes, newest: int) -> None:
    """Delete a channel's oldest rows beyond `MAX_ROWS`. Numbers have no gaps, so the newest one tells how many."""
    if newest > MAX_ROWS:
        too_old = HISTORY.c.number <= newest - MAX_ROWS
        connection.execute(delete(HISTORY).where((HISTORY.c.channel_id == channel_id) & too_old))


def _values(channel_id: bytes, number: int, row: HistoryRow) -> dict[str, object]:
    values = {"channel_id": channel_id, "number": number, "kinds": row.kinds, "body": row.body}
    return values | {"checksum": _seal(channel_id, row)}


def _seal(channel_id: bytes, row: HistoryRow) -> int:
    return checksum(channel_id, row.kinds, row.body)


def put(connection: Connection, channel_id: bytes, rows: Sequence[HistoryRow]) -> None:
    """Let a channel have these rows, oldest first, instead of any that it has."""
    gather_all(connection)
    connection.execute(delete(HISTORY).where(HISTORY.c.channel_id == channel_id))
    _insert(connection, {channel_id: [(each, True) for each in rows[-MAX_ROWS:]]})


# --------------------------------------------------------------------------------------------------------- reading back


def load(connection: Connection, channel_id: bytes, kinds: int = ALL_KINDS) -> StoredHistory:
    """The rows of a channel that are of any of these kinds. Damaged rows are counted, and the others are there."""
    rows, damaged = rows_of(connection, channel_id, kinds)
    return StoredHistory(tuple(each.body for each in rows), damaged)


def rows_of(connection: Connection, channel_id: bytes, kinds: int = ALL_KINDS) -> tuple[list[HistoryRow], int]:
    """The sound rows of a channel that are of any of these kinds, oldest first, and how many are damaged."""
    sound: list[HistoryRow] = []
    damaged = 0
    for row, is_sound in (*_moved(connection, channel_id, kinds), *_recent(connection, channel_id)):
        if not is_sound:
            damaged += 1
        elif row.kinds & kinds:
            sound.append(row)
    return sound[-MAX_ROWS:], damaged


def _moved(connection: Connection, channel_id: bytes, kinds: int) -> Iterator[tuple[HistoryRow, bool]]:
    for row in connection.execute(_MOVED, {"channel_id": channel_id, "kinds": kinds}):
        is_sound = checksum(channel_id, row.kinds, row.body) == row.checksum
        yield HistoryRow(row.kinds, row.body) if is_sound else _DAMAGED, is_sound


def _recent(connection: Connection, channel_id: bytes) -> Iterator[tuple[HistoryRow, bool]]:
    for row in connection.execute(_RECENT):
        is_sound = checksum(row.parts, row.body) == row.checksum
        for id_, kinds, body in _parts_of(row.body):
            if id_ == channel_id:
                yield HistoryRow(kinds, body) if is_sound else _DAMAGED, is_sound
