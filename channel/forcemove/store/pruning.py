"""Deletes what channels that are over have left in a journal. Which may be pruned, its caller decides; what is open by
the journal's own columns, or has a transaction on its way, is left alone here, too."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlalchemy import Connection, delete, func, select, union, update

from forcemove.store import channels, history
from forcemove.store.records import OVER, ChannelUpdate
from forcemove.store.schema import CHANNELS, EVIDENCE, HISTORY, OUTBOX, TRANSACTIONS, chunks


def leftovers(connection: Connection, ids: Collection[bytes]) -> dict[bytes, tuple[int, int]]:
    """Of those channels that have any, how many rows of history and evidence there are, and of how many bytes."""
    found: dict[bytes, tuple[int, int]] = {}
    for table in (HISTORY, EVIDENCE):
        sizes = select(table.c.channel_id, func.count(), func.sum(func.length(table.c.body))).group_by(
            table.c.channel_id
        )
        for chunk in chunks(ids):
            for id_, rows, size in connection.execute(sizes.where(table.c.channel_id.in_(chunk))):
                before = found.get(id_, (0, 0))
                found[id_] = (before[0] + rows, before[1] + size)
    return found


def prune(connection: Connection, updates: Sequence[ChannelUpdate]) -> frozenset[bytes]:
    """Save these channels as they are to stay, each in its expected version, and delete their histories and evidence.
    Returns the ids of those that were pruned."""
    history.gather_all(connection)
    known = channels.lock(connection, [each.channel_id for each in updates])
    busy = _with_transactions(connection, known)
    pruned: set[bytes] = set()
    for each in updates:
        id_ = each.channel_id
        version, ownership = known.get(id_, (None, None))
        if version != each.version or ownership not in OVER or id_ in busy:
            continue
        seal = channels.seal(id_, ownership, each.snapshot, each.cursor)
        values = {"version": each.version + 1, "snapshot": each.snapshot, "checksum": seal, "cursor": each.cursor}
        connection.execute(update(CHANNELS).where(CHANNELS.c.id == id_).values(**values))
        for table in (HISTORY, EVIDENCE):
            connection.execute(delete(table).where(table.c.channel_id == id_))
        pruned.add(id_)
    return frozenset(pruned)


def _with_transactions(connection: Connection, ids: Collection[bytes]) -> set[bytes]:
    """Those channels for which a transaction is to be sent, or on its way."""
    found: set[bytes] = set()
    for chunk in chunks(ids):
        named = (select(table.c.channel_id).where(table.c.channel_id.in_(chunk)) for table in (OUTBOX, TRANSACTIONS))
        found |= set(connection.scalars(union(*named)))
    return found
