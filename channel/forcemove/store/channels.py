"""Statements about channels and what is stored with them: saving, each against its version, and reading back."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from functools import cache
from typing import Any

from sqlalchemy import Connection, Row, Select, bindparam, select, update

from forcemove.store.database import driver_of
from forcemove.store.errors import JournalDamaged
from forcemove.store.records import ChannelUpdate, Ownership, StoredChannel, StoredSummary
from forcemove.store.schema import CHANNELS, ORIGINS, SEEDS, checksum, chunks, insert_for, require_sound, upsert

KnownVersions = dict[bytes, tuple[int, int]]
"""Version and ownership of channels."""
_PLAYABLE = (Ownership.ACTIVE, Ownership.FINISHED, Ownership.BACKUP)

# --------------------------------------------------------------------------------------------------------------- saving


def save(connection: Connection, updates: Sequence[ChannelUpdate]) -> list[ChannelUpdate]:
    """Save those updates whose version is the expected one and whose channel we may still play; returns them."""
    known = lock(connection, [each.channel_id for each in updates if each.version > 0])
    changed = [each for each in updates if each.version > 0 and _may_change(each, known)]
    _update(connection, changed, known)
    new = _insert(connection, [each for each in updates if each.version == 0])
    _keep_profiles(connection, [*changed, *new])
    return changed + new


_LOCKED = (
    select(CHANNELS.c.id, CHANNELS.c.version, CHANNELS.c.ownership)
    .where(CHANNELS.c.id.in_(bindparam("ids", expanding=True)))
    .order_by(CHANNELS.c.id)
    .with_for_update()
)


def lock(connection: Connection, ids: Collection[bytes]) -> KnownVersions:
    """Version and ownership of channels, which no other process changes until the end of the transaction.

    All processes take these locks in one order, or two could wait for each other.
    """
    known: KnownVersions = {}
    for chunk in chunks(sorted(ids)):
        for id_, version, ownership in _lock(connection, chunk):
            known[id_] = (version, ownership)
    return known


def _lock(connection: Connection, ids: Sequence[bytes]) -> Iterable[Sequence[Any]]:
    """Rows of id, version and ownership. On SQLite a writer has locked everything."""
    if connection.dialect.name == "sqlite":
        return driver_of(connection).execute(_found(len(ids)), ids)
    return connection.execute(_LOCKED, {"ids": ids})


@cache
def _found(count: int) -> str:
    return f"SELECT id, version, ownership FROM channels WHERE id IN ({', '.join('?' * count)})"  # noqa: S608  # marks


def _may_change(update_: ChannelUpdate, known: KnownVersions) -> bool:
    version, ownership = known.get(update_.channel_id, (None, None))
    return version == update_.version and ownership in _PLAYABLE


# The statement that all speed depends on, in the SQL of each database: SQLAlchemy would build every row again, and on
# SQLite it takes longer than the database.
_UPDATE = {
    "sqlite": "UPDATE channels SET version = ?, ownership = ?, snapshot = ?, checksum = ?, cursor = ?, summary = ?,"
    " summary_checksum = ? WHERE id = ?",
    "postgresql": "UPDATE channels SET version = new.version, ownership = new.ownership, snapshot = new.snapshot,"
    " checksum = new.checksum, cursor = new.cursor, summary = new.summary, summary_checksum = new.summary_checksum"
    " FROM unnest(%b::bigint[], %b::bigint[], %b::bytea[], %b::bigint[], %b::bytea[], %b::bytea[], %b::bigint[],"
    " %b::bytea[]) AS new (version, ownership, snapshot, checksum, cursor, summary, summary_checksum, id)"
    " WHERE channels.id = new.id",
}


def _update(connection: Connection, updates: Sequence[ChannelUpdate], known: KnownVersions) -> None:
    if not updates:
        return
    rows = [_changed(each, known[each.channel_id][1]) for each in updates]
    statement = _UPDATE[connection.dialect.name]
    if connection.dialect.name == "sqlite":
        driver_of(connection).executemany(statement, rows)
    else:
        connection.exec_driver_sql(statement, tuple(map(list, zip(*rows, strict=True))))


def _changed(update_: ChannelUpdate, ownership: int) -> tuple[int, int, bytes, int, bytes, bytes | None, int, bytes]:
    """The values of `_UPDATE`. What was finished is active again where a reorganisation has undone its end."""
    becomes = ownership if ownership == Ownership.BACKUP else int(_ownership(update_))
    sealed = seal(update_.channel_id, becomes, update_.snapshot, update_.cursor)
    saved = (update_.version + 1, becomes, update_.snapshot, sealed, update_.cursor)
    return (*saved, update_.summary, checksum(update_.channel_id, update_.summary), update_.channel_id)


def _ownership(update_: ChannelUpdate) -> Ownership:
    """Of a channel that we may still play."""
    if update_.finished:
        return Ownership.FINISHED
    return Ownership.PUT_AWAY if update_.put_away else Ownership.ACTIVE


def _keep_profiles(connection: Connection, updates: Iterable[ChannelUpdate]) -> None:
    """Store the profiles that come with channels, which is with few of them."""
    rows = [
        {"of_id": each.channel_id, "new": each.profile, "sealed": checksum(each.channel_id, each.profile)}
        for each in updates
        if each.profile is not None
    ]
    if rows:
        connection.execute(_KEEP_PROFILE, rows)


_KEEP_PROFILE = (
    update(ORIGINS)
    .where(ORIGINS.c.channel_id == bindparam("of_id"))
    .values(profile=bindparam("new"), profile_checksum=bindparam("sealed"))
)


def seal(channel_id: bytes, ownership: int, snapshot: bytes, cursor: bytes) -> int:
    """The checksum of a row, without an empty cursor: older programs have sealed every row so."""
    return checksum(channel_id, ownership, snapshot, *((cursor,) if cursor else ()))


def _insert(connection: Connection, updates: Sequence[ChannelUpdate]) -> list[ChannelUpdate]:
    """Insert the channels that the journal does not have yet, with what is stored once; returns their updates."""
    if not updates:
        return []
    rows = [_row(each) for each in sorted(updates, key=lambda each: each.channel_id)]
    statement = insert_for(connection.dialect.name, CHANNELS).on_conflict_do_nothing().returning(CHANNELS.c.id)
    inserted = set(connection.scalars(statement, rows))
    new = [each for each in updates if each.channel_id in inserted]
    upsert(connection, ORIGINS, [_origin(each.channel_id, each.metadata or b"") for each in new])
    return new


def _row(update_: ChannelUpdate) -> dict[str, object]:
    row = _channel(update_.channel_id, 1, _ownership(update_), update_.snapshot, update_.cursor)
    return row | {"summary": update_.summary, "summary_checksum": checksum(update_.channel_id, update_.summary)}


def _channel(
    channel_id: bytes, version: int, ownership: Ownership, snapshot: bytes, cursor: bytes = b""
) -> dict[str, object]:
    return {
        "id": channel_id,
        "version": version,
        "ownership": ownership,
        "snapshot": snapshot,
        "checksum": seal(channel_id, ownership, snapshot, cursor),
        "cursor": cursor,
        "summary": None,
        "summary_checksum": None,
    }


def _origin(channel_id: bytes, metadata: bytes) -> dict[str, object]:
    row = {"channel_id": channel_id, "metadata": metadata, "checksum": checksum(channel_id, metadata)}
    return row | {"profile": None, "profile_checksum": None}


def raise_versions(connection: Connection, ids: Collection[bytes]) -> None:
    """Let no process that knows the present versions commit any more. Moved channels keep theirs: it says which of
    their exports is the newest."""
    for chunk in chunks(lock(connection, ids)):
        playable = CHANNELS.c.id.in_(chunk) & (CHANNELS.c.ownership != Ownership.MOVED)
        connection.execute(update(CHANNELS).where(playable).values(version=CHANNELS.c.version + 1))


def put(connection: Connection, stored: Sequence[StoredChannel]) -> None:
    """Write channels as they are given, over stored ones. Their cursors are dropped: these belong to another
    journal."""
    upsert(
        connection,
        CHANNELS,
        [_channel(each.channel_id, each.version, each.ownership, each.snapshot) for each in stored],
    )
    upsert(connection, ORIGINS, [_origin(each.channel_id, each.metadata) for each in stored])


def keep_seed(connection: Connection, where: str, table: bytes, seed: bytes) -> bytes:
    """Store the seed of a table that has none; returns the stored one."""
    row = {"name": table, "seed": seed, "checksum": checksum(table, seed)}
    connection.execute(insert_for(connection.dialect.name, SEEDS).on_conflict_do_nothing(), [row])
    found = connection.execute(select(SEEDS).where(SEEDS.c.name == table)).one()
    require_sound(where, "a table's seed", found.checksum, found.name, found.seed)
    stored: bytes = found.seed
    return stored


# --------------------------------------------------------------------------------------------------------- reading back

_STORED = select(CHANNELS, ORIGINS.c.metadata, ORIGINS.c.checksum.label("metadata_checksum")).outerjoin(
    ORIGINS, ORIGINS.c.channel_id == CHANNELS.c.id
)


def load(connection: Connection, where: str, channel_id: bytes) -> StoredChannel | None:
    """A channel, or None. Raises `JournalDamaged`."""
    row = connection.execute(_STORED.where(CHANNELS.c.id == channel_id)).one_or_none()
    return None if row is None else _stored(where, row)


def load_many(connection: Connection, where: str, ids: Collection[bytes]) -> dict[bytes, StoredChannel]:
    """Those of these channels that are there and sound, by their ids."""
    found: dict[bytes, StoredChannel] = {}
    for chunk in chunks(ids):
        for row in connection.execute(_STORED.where(CHANNELS.c.id.in_(chunk))):
            with suppress(JournalDamaged):
                found[row.id] = _stored(where, row)
    return found


def load_all(connection: Connection, where: str, ownerships: Collection[Ownership]) -> tuple[StoredChannel, ...]:
    """The channels of these ownerships, by their ids. Raises `JournalDamaged`."""
    chosen: Select[tuple[object, ...]] = _STORED.where(CHANNELS.c.ownership.in_(ownerships))
    return tuple(_stored(where, row) for row in connection.execute(chosen.order_by(CHANNELS.c.id)))


def _stored(where: str, row: Row[tuple[object, ...]]) -> StoredChannel:
    cursor = row.cursor or b""
    require_sound(where, "a channel", row.checksum, *_sealed(row.id, row.ownership, row.snapshot, cursor))
    require_sound(where, "what a channel is about", row.metadata_checksum, row.id, row.metadata)
    if type(row.version) is not int:
        raise JournalDamaged(where, "a channel's version is not a number")
    return StoredChannel(row.id, row.version, Ownership(row.ownership), row.snapshot, row.metadata, cursor)


def _sealed(id_: object, ownership: object, snapshot: object, cursor: object) -> tuple[object, ...]:
    """The values that a channel's checksum is of."""
    return (id_, ownership, snapshot, cursor) if cursor else (id_, ownership, snapshot)


_SUMMARIES = (
    select(*(CHANNELS.c[name] for name in ("id", "ownership", "snapshot", "cursor", "checksum")))
    .add_columns(CHANNELS.c.summary, CHANNELS.c.summary_checksum, ORIGINS.c.metadata, ORIGINS.c.checksum)
    .add_columns(ORIGINS.c.profile, ORIGINS.c.profile_checksum)
    .outerjoin(ORIGINS, ORIGINS.c.channel_id == CHANNELS.c.id)
    .order_by(CHANNELS.c.id)
)


def summaries(connection: Connection) -> tuple[StoredSummary, ...]:
    """All channels for a list, by their ids. None is decoded, and a damaged one is among them."""
    return tuple(_summary(*row) for row in connection.execute(_SUMMARIES))


def _summary(id_: Any, ownership: Any, snapshot: Any, cursor: Any, sealed: Any, *rest: Any) -> StoredSummary:
    """One channel; the parameters are the columns of `_SUMMARIES`, which may be damaged."""
    summary, summary_sealed, metadata, metadata_sealed, profile, profile_sealed = rest
    is_sound = checksum(*_sealed(id_, ownership, snapshot, cursor)) == sealed
    is_sound = is_sound and checksum(id_, metadata) == metadata_sealed
    return StoredSummary(
        id_,
        Ownership(ownership) if is_sound else Ownership.ACTIVE,
        profile if checksum(id_, profile) == profile_sealed else None,
        summary if checksum(id_, summary) == summary_sealed else None,
        is_sound,
    )


def ids_of(connection: Connection, ownerships: Collection[Ownership]) -> tuple[bytes, ...]:
    """The ids of the channels of these ownerships, in order."""
    chosen = select(CHANNELS.c.id).where(CHANNELS.c.ownership.in_(ownerships))
    return tuple(connection.scalars(chosen.order_by(CHANNELS.c.id)))


def versions_of(connection: Connection, ids: Collection[bytes]) -> dict[bytes, int]:
    """The versions of those channels that the journal has."""
    versions: dict[bytes, int] = {}
    for chunk in chunks(ids):
        chosen = select(CHANNELS.c.id, CHANNELS.c.version).where(CHANNELS.c.id.in_(chunk))
        versions |= {row.id: row.version for row in connection.execute(chosen)}
    return versions
