"""Statements about evidence, which counterparties can make without end: the newest of every kind is kept, up to
limits."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import ColumnElement, Connection, delete, insert, select, true

from forcemove.store.records import Evidence, StoredEvidence
from forcemove.store.schema import EVIDENCE, checksum, require_sound

MAX_OF_A_KIND = 10
"""Pieces of one kind in one channel: a flood of one kind drowns no other."""
MAX_OF_A_CHANNEL = 50
"""Pieces of all kinds in one channel: a flood in one channel drowns no other."""
MAX_OF_ALL = 1_000
"""Pieces of all channels: 64 MiB at the most."""


def put(connection: Connection, new: Sequence[tuple[bytes, Evidence]]) -> None:
    """Add pieces of evidence, each with its channel's id, and delete the oldest beyond the limits."""
    if not new:
        return
    connection.execute(insert(EVIDENCE), [_row(channel_id, evidence) for channel_id, evidence in new])
    for channel_id, kind in {(channel_id, evidence.kind) for channel_id, evidence in new}:
        _trim(connection, (EVIDENCE.c.channel_id == channel_id) & (EVIDENCE.c.kind == kind), MAX_OF_A_KIND)
    for channel_id in {channel_id for channel_id, _ in new}:
        _trim(connection, EVIDENCE.c.channel_id == channel_id, MAX_OF_A_CHANNEL)
    _trim(connection, true(), MAX_OF_ALL)


def _row(channel_id: bytes, evidence: Evidence) -> dict[str, object]:
    seal = checksum(channel_id, evidence.kind, evidence.body)
    return {"channel_id": channel_id, "kind": evidence.kind, "body": evidence.body, "checksum": seal}


def _trim(connection: Connection, group: ColumnElement[bool], most: int) -> None:
    too_old = select(EVIDENCE.c.number).where(group).order_by(EVIDENCE.c.number.desc()).limit(1).offset(most)
    newest_of_those = connection.scalar(too_old)
    if newest_of_those is not None:
        connection.execute(delete(EVIDENCE).where(group & (EVIDENCE.c.number <= newest_of_those)))


def load(connection: Connection, where: str, channel_id: bytes | None) -> tuple[StoredEvidence, ...]:
    """The evidence of a channel, or of all, oldest first. Raises `JournalDamaged`."""
    chosen = select(EVIDENCE).order_by(EVIDENCE.c.number)
    rows = connection.execute(chosen if channel_id is None else chosen.where(EVIDENCE.c.channel_id == channel_id)).all()
    for row in rows:
        require_sound(where, "a piece of evidence", row.checksum, row.channel_id, row.kind, row.body)
    return tuple(StoredEvidence(row.number, row.channel_id, Evidence(row.kind, row.body)) for row in rows)
