"""Channels as a file and back: a move takes them away from this journal, a backup is a copy that signs nothing.

The file is MessagePack: an array of "forcemove journal", the format's version, the SHA-256 of the rest, and the rest, a
`Parcel`. The channels have their players' secrets. Transactions in flight stay with the account that sends them; a move
takes the requests that have no nonce yet along.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import Connection

from forcemove.errors import ForcemoveError, MalformedBytes
from forcemove.protocol.codec.depth import require_shallow
from forcemove.protocol.codec.json_text import require_version
from forcemove.store import channels, evidence, history, transactions
from forcemove.store.channels import KnownVersions
from forcemove.store.errors import AlreadyMoved, ChannelNotStored, ImportRefused
from forcemove.store.records import OVER, Evidence, ExportKind, HistoryRow, OutboxRequest, Ownership, StoredChannel

VERSION = 2
"""The version of the format that this program writes. It reads version 1, too, in which no channel was put away."""
_OLDER = 1
_WHAT = "export of a journal"
_MARK = "forcemove journal"


class Packed(Struct, frozen=True, rename={"stored": "kept", "outbox": "wanted"}):
    """A channel with all that was stored with it. `history`: none where an older program has written it, or where
    none was wanted."""

    stored: StoredChannel
    evidence: tuple[Evidence, ...]
    outbox: tuple[OutboxRequest, ...]
    history: tuple[HistoryRow, ...] = ()


class Parcel(Struct, frozen=True):
    """What is in a file."""

    kind: ExportKind
    channels: tuple[Packed, ...]


def export(connection: Connection, where: str, ids: Sequence[bytes], kind: ExportKind, *, has_history: bool) -> bytes:
    """The bytes of a file with these channels; a move marks them in the same transaction.

    - `connection`: within the transaction.
    - `where`: of the journal, for errors.
    - `ids`: of the channels.
    - `kind`: what the file is for.
    - `has_history`: whether it has their histories, too.

    Raises `ChannelNotStored`, and `AlreadyMoved` where a channel to be moved is elsewhere already.
    """
    chosen = tuple(dict.fromkeys(ids))
    known = channels.lock(connection, chosen)
    for id_ in chosen:
        _require_here(id_, known, kind)
    if kind is ExportKind.MOVE:
        channels.raise_versions(connection, chosen)
    packed = tuple(_pack(connection, where, id_, has_history=has_history) for id_ in chosen)
    if kind is ExportKind.MOVE:
        channels.put(connection, [replace(each.stored, ownership=Ownership.MOVED) for each in packed])
        transactions.drop_outbox(connection, chosen)
    return _encode(Parcel(kind, packed))


def _require_here(channel_id: bytes, known: KnownVersions, kind: ExportKind) -> None:
    if channel_id not in known:
        raise ChannelNotStored(channel_id)
    if kind is ExportKind.MOVE and known[channel_id][1] == Ownership.MOVED:
        raise AlreadyMoved(channel_id)


def _pack(connection: Connection, where: str, channel_id: bytes, *, has_history: bool) -> Packed:
    stored = channels.load(connection, where, channel_id)
    if stored is None:
        raise ChannelNotStored(channel_id)
    return Packed(
        replace(stored, cursor=b""),
        tuple(each.evidence for each in evidence.load(connection, where, channel_id)),
        transactions.outbox_of(connection, where, channel_id),
        tuple(history.rows_of(connection, channel_id)[0]) if has_history else (),
    )


def import_(connection: Connection, data: bytes) -> tuple[bytes, ...]:
    """Take all channels of a file, or none; returns their ids.

    Channels of a move may be played on; those of a backup, and those that were a backup before they were moved, sign
    nothing. Raises `ImportRefused` where the journal has one in a version that is not older, `UnknownVersion`,
    `MalformedBytes`.
    """
    parcel = read_parcel(data)
    ids = tuple(each.stored.channel_id for each in parcel.channels)
    here = channels.lock(connection, ids)
    for each in parcel.channels:
        _require_older(each.stored, here)
    channels.put(connection, [_received(each.stored, parcel.kind) for each in parcel.channels])
    for each in parcel.channels:
        evidence.put(connection, [(each.stored.channel_id, piece) for piece in each.evidence])
        if each.history:  # there may be none
            history.put(connection, each.stored.channel_id, each.history)
        if parcel.kind is ExportKind.MOVE:
            transactions.insert_outbox(connection, each.outbox)
    return ids


def _require_older(theirs: StoredChannel, here: KnownVersions) -> None:
    """Refuse channels that are not newer than ours. The version of a moved channel is that of the file that it went
    with: that file is refused, too."""
    ours, _ = here.get(theirs.channel_id, (0, None))
    if ours >= theirs.version:
        raise ImportRefused(theirs.channel_id, ours, theirs.version)


def _received(stored: StoredChannel, kind: ExportKind) -> StoredChannel:
    """An imported channel: a backup stays one, however it comes."""
    if kind is ExportKind.MOVE or stored.ownership in OVER:
        return stored
    return replace(stored, ownership=Ownership.BACKUP)


# ---------------------------------------------------------------------------------------------------------------- bytes


def _encode(parcel: Parcel) -> bytes:
    body = msgspec.msgpack.encode(parcel)
    return msgspec.msgpack.encode((_MARK, VERSION, sha256(body).digest(), body))


def read_parcel(data: bytes) -> Parcel:
    """What is in a file. Raises `UnknownVersion` and `MalformedBytes`."""
    require_shallow(data, _WHAT)
    if not data:
        raise MalformedBytes(_WHAT, "it is empty")
    try:
        outer = _as(Any, data)
    except MalformedBytes:
        raise MalformedBytes(_WHAT, "it is something else, or was cut off") from None
    if not isinstance(outer, list) or len(outer) != 4 or outer[0] != _MARK:
        raise MalformedBytes(_WHAT, "it is something else")
    if outer[1] != _OLDER:
        require_version(outer[1], _WHAT, VERSION)
    _, _, digest, body = outer
    if not isinstance(body, bytes) or sha256(body).digest() != digest:
        raise MalformedBytes(_WHAT, "it was damaged: it does not fit its checksum")
    require_shallow(body, _WHAT)
    parcel: Parcel = _as(Parcel, body)
    if len({each.stored.channel_id for each in parcel.channels}) < len(parcel.channels):
        raise MalformedBytes(_WHAT, "it has a channel twice")
    return parcel


def _as(type_: Any, data: bytes) -> Any:
    try:
        return msgspec.msgpack.decode(data, type=type_)
    except (msgspec.DecodeError, ForcemoveError, ValueError) as error:
        raise MalformedBytes(_WHAT, f"{error!s:.200}") from None
