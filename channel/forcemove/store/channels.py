"""Statements about channels and what is kept with them: saving, each against its version, and reading back."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import cache
from typing import Any

from sqlalchemy import Connection, Row, Select, bindparam, select, update

from forcemove.store.database import driver_of
from forcemove.store.errors import JournalDamaged
from forcemove.store.records import Kept, Saving, Standing
from forcemove.store.schema import CHANNELS, ORIGINS, SEEDS, checksum
from forcemove.store.statements import chunks, insert_for, require_sound, upsert

__all__ = [
    "Known",
    "ids_of",
    "keep_seed",
    "load",
    "load_all",
    "lock",
    "put",
    "raise_versions",
    "save",
    "versions_of",
]

Known = dict[bytes, tuple[int, int]]
"""Version and standing of channels."""
_PLAYABLE = (Standing.ACTIVE, Standing.FINISHED, Standing.BACKUP)

# --------------------------------------------------------------------------------------------------------------- saving


def save(connection: Connection, savings: Sequence[Saving]) -> list[Saving]:
    """Save those whose version is the expected one and that we may still play; returns them."""
    known = lock(connection, [each.channel_id for each in savings if each.version > 0])
    changed = [each for each in savings if each.version > 0 and _may_change(each, known)]
    _update(connection, changed, known)
    new = _insert(connection, [each for each in savings if each.version == 0])
    return changed + new


_LOCKED = (
    select(CHANNELS.c.id, CHANNELS.c.version, CHANNELS.c.standing)
    .where(CHANNELS.c.id.in_(bindparam("ids", expanding=True)))
    .order_by(CHANNELS.c.id)
    .with_for_update()
)


def lock(connection: Connection, ids: Collection[bytes]) -> Known:
    """Version and standing of channels, which no other process changes until the end of the transaction.

    All take these locks in one order, or two could wait for each other.
    """
    known: Known = {}
    for chunk in chunks(sorted(ids)):
        for id_, version, standing in _lock(connection, chunk):
            known[id_] = (version, standing)
    return known


def _lock(connection: Connection, ids: Sequence[bytes]) -> Iterable[Sequence[Any]]:
    """Rows of id, version and standing. On SQLite whoever writes has locked everything."""
    if connection.dialect.name == "sqlite":
        return driver_of(connection).execute(_found(len(ids)), ids)
    return connection.execute(_LOCKED, {"ids": ids})


@cache
def _found(count: int) -> str:
    return f"SELECT id, version, standing FROM channels WHERE id IN ({', '.join('?' * count)})"  # noqa: S608  # marks


def _may_change(saving: Saving, known: Known) -> bool:
    version, standing = known.get(saving.channel_id, (None, None))
    return version == saving.version and standing in _PLAYABLE


# The statement that all speed depends on, in the words of each database: SQLAlchemy would put every row together anew,
# and on SQLite it takes longer than the database.
_UPDATE = {
    "sqlite": "UPDATE channels SET version = ?, standing = ?, snapshot = ?, checksum = ?, reached = ? WHERE id = ?",
    "postgresql": "UPDATE channels SET version = new.version, standing = new.standing, snapshot = new.snapshot,"
    " checksum = new.checksum, reached = new.reached"
    " FROM unnest(%b::bigint[], %b::bigint[], %b::bytea[], %b::bigint[], %b::bytea[], %b::bytea[])"
    " AS new (version, standing, snapshot, checksum, reached, id) WHERE channels.id = new.id",
}


def _update(connection: Connection, savings: Sequence[Saving], known: Known) -> None:
    if not savings:
        return
    rows = [_changed(each, known[each.channel_id][1]) for each in savings]
    statement = _UPDATE[connection.dialect.name]
    if connection.dialect.name == "sqlite":
        driver_of(connection).executemany(statement, rows)
    else:
        connection.exec_driver_sql(statement, tuple(map(list, zip(*rows, strict=True))))


def _changed(saving: Saving, standing: int) -> tuple[int, int, bytes, int, bytes, bytes]:
    """The values of `_UPDATE`."""
    becomes = int(Standing.FINISHED) if saving.finished and standing == Standing.ACTIVE else standing
    seal = _seal(saving.channel_id, becomes, saving.snapshot, saving.reached)
    return (saving.version + 1, becomes, saving.snapshot, seal, saving.reached, saving.channel_id)


def _seal(channel_id: bytes, standing: int, snapshot: bytes, reached: bytes) -> int:
    """Without the last where there is none: so older programs have sealed every row."""
    return checksum(channel_id, standing, snapshot, *((reached,) if reached else ()))


def _insert(connection: Connection, savings: Sequence[Saving]) -> list[Saving]:
    """Those that are not there yet, with what is kept once."""
    if not savings:
        return []
    rows = [_row(each) for each in sorted(savings, key=lambda each: each.channel_id)]
    statement = insert_for(connection.dialect.name, CHANNELS).on_conflict_do_nothing().returning(CHANNELS.c.id)
    inserted = set(connection.scalars(statement, rows))
    new = [each for each in savings if each.channel_id in inserted]
    upsert(connection, ORIGINS, [_origin(each.channel_id, each.about or b"") for each in new])
    return new


def _row(saving: Saving) -> dict[str, object]:
    standing = Standing.FINISHED if saving.finished else Standing.ACTIVE
    return _channel(saving.channel_id, 1, standing, saving.snapshot, saving.reached)


def _channel(
    channel_id: bytes, version: int, standing: Standing, snapshot: bytes, reached: bytes = b""
) -> dict[str, object]:
    return {
        "id": channel_id,
        "version": version,
        "standing": standing,
        "snapshot": snapshot,
        "checksum": _seal(channel_id, standing, snapshot, reached),
        "reached": reached,
    }


def _origin(channel_id: bytes, about: bytes) -> dict[str, object]:
    return {"channel_id": channel_id, "about": about, "checksum": checksum(channel_id, about)}


def raise_versions(connection: Connection, ids: Collection[bytes]) -> None:
    """Let nothing be committed any more by those who know the present versions. Moved channels keep theirs: it says
    which of their exports is the newest."""
    for chunk in chunks(lock(connection, ids)):
        playable = CHANNELS.c.id.in_(chunk) & (CHANNELS.c.standing != Standing.MOVED)
        connection.execute(update(CHANNELS).where(playable).values(version=CHANNELS.c.version + 1))


def put(connection: Connection, kept: Sequence[Kept]) -> None:
    """Write channels as they are given, over what is here. How much of a chain is in them was another journal's."""
    upsert(
        connection, CHANNELS, [_channel(each.channel_id, each.version, each.standing, each.snapshot) for each in kept]
    )
    upsert(connection, ORIGINS, [_origin(each.channel_id, each.about) for each in kept])


def keep_seed(connection: Connection, where: str, table: bytes, seed: bytes) -> bytes:
    """Keep the seed of a table that has none; returns the one that is kept."""
    row = {"name": table, "seed": seed, "checksum": checksum(table, seed)}
    connection.execute(insert_for(connection.dialect.name, SEEDS).on_conflict_do_nothing(), [row])
    found = connection.execute(select(SEEDS).where(SEEDS.c.name == table)).one()
    require_sound(where, "a table's seed", found.checksum, found.name, found.seed)
    kept: bytes = found.seed
    return kept


# --------------------------------------------------------------------------------------------------------- reading back

_KEPT = select(CHANNELS, ORIGINS.c.about, ORIGINS.c.checksum.label("about_checksum")).outerjoin(
    ORIGINS, ORIGINS.c.channel_id == CHANNELS.c.id
)


def load(connection: Connection, where: str, channel_id: bytes) -> Kept | None:
    """A channel, or None. Raises `JournalDamaged`."""
    row = connection.execute(_KEPT.where(CHANNELS.c.id == channel_id)).one_or_none()
    return None if row is None else _kept(where, row)


def load_all(connection: Connection, where: str, standings: Collection[Standing]) -> tuple[Kept, ...]:
    """The channels of these standings, by their ids. Raises `JournalDamaged`."""
    chosen: Select[tuple[object, ...]] = _KEPT.where(CHANNELS.c.standing.in_(standings))
    return tuple(_kept(where, row) for row in connection.execute(chosen.order_by(CHANNELS.c.id)))


def _kept(where: str, row: Row[tuple[object, ...]]) -> Kept:
    reached = row.reached or b""
    require_sound(
        where, "a channel", row.checksum, row.id, row.standing, row.snapshot, *((reached,) if reached else ())
    )
    require_sound(where, "what a channel is about", row.about_checksum, row.id, row.about)
    if type(row.version) is not int:
        raise JournalDamaged(where, "a channel's version is no number")
    return Kept(row.id, row.version, Standing(row.standing), row.snapshot, row.about, reached)


def ids_of(connection: Connection, standings: Collection[Standing]) -> tuple[bytes, ...]:
    """The ids of the channels of these standings, in order."""
    chosen = select(CHANNELS.c.id).where(CHANNELS.c.standing.in_(standings))
    return tuple(connection.scalars(chosen.order_by(CHANNELS.c.id)))


def versions_of(connection: Connection, ids: Collection[bytes]) -> dict[bytes, int]:
    """The versions of those channels that are here."""
    versions: dict[bytes, int] = {}
    for chunk in chunks(ids):
        chosen = select(CHANNELS.c.id, CHANNELS.c.version).where(CHANNELS.c.id.in_(chunk))
        versions |= {row.id: row.version for row in connection.execute(chosen)}
    return versions
