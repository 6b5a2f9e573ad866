"""The tables as statements use them. How they are made, and in which order they changed, is in `migrations`.

There are no foreign keys: seeds, evidence and transactions may belong to channels that are not in the journal. Every
table but `leases` has a checksum over the rest of a row, since neither SQLite nor a disk notices a changed byte in a
body. The checksum leaves out a channel's version: versions are compared and never acted on, and many are raised at
once.
"""

from __future__ import annotations

from typing import Any
from zlib import crc32

import msgspec
from sqlalchemy import BigInteger, Column, MetaData, Table, Text
from sqlalchemy.types import UserDefinedType

METADATA = MetaData()


class Bytes(UserDefinedType[bytes]):
    """Bytes just as the driver takes and gives them: other values, which a damaged file may have, are not converted."""

    cache_ok = True


_encode = msgspec.msgpack.Encoder().encode


def checksum(*values: object) -> int:
    """A CRC-32 of a row's other values, in their order in the table. It finds faults; it keeps nobody out."""
    return crc32(_encode(values))


def _sealed(name: str, *columns: Column[Any]) -> Table:
    """A table whose rows have these columns, and then a checksum."""
    return Table(name, METADATA, *columns, Column("checksum", BigInteger))


VERSIONS = Table("forcemove_journal", METADATA, Column("version", BigInteger))
CHANNELS = Table(
    "channels",
    METADATA,
    Column("id", Bytes, primary_key=True),
    Column("version", BigInteger),
    Column("ownership", BigInteger),
    Column("snapshot", Bytes),
    Column("checksum", BigInteger),
    Column("cursor", Bytes),  # null where an older program has written the row
    Column("summary", Bytes),  # the same; a checksum of its own, for what is damaged in it damages nothing else
    Column("summary_checksum", BigInteger),
)
ORIGINS = Table(
    "origins",
    METADATA,
    Column("channel_id", Bytes, primary_key=True),
    Column("metadata", Bytes),
    Column("checksum", BigInteger),
    Column("profile", Bytes),  # null until a program that knows it has saved the channel; its checksum as above
    Column("profile_checksum", BigInteger),
)
SEEDS = _sealed("seeds", Column("name", Bytes, primary_key=True), Column("seed", Bytes))
EVIDENCE = _sealed(
    "evidence",
    Column("number", BigInteger, primary_key=True),
    Column("channel_id", Bytes),
    Column("kind", Text),
    Column("body", Bytes),
)
HISTORY = _sealed(
    "history",
    Column("channel_id", Bytes, primary_key=True),
    Column("number", BigInteger, primary_key=True),  # of one channel, growing
    Column("kinds", BigInteger),
    Column("body", Bytes),
)
RECENT_HISTORY = _sealed(
    "recent_history",
    Column("number", BigInteger, primary_key=True),
    Column("parts", BigInteger),
    Column("body", Bytes),
)
TRANSACTIONS = _sealed(
    "transactions",
    Column("chain_id", Text, primary_key=True),
    Column("account", Bytes, primary_key=True),
    Column("nonce", BigInteger, primary_key=True),
    Column("body", Bytes),
    Column("channel_id", Bytes),
)
OUTBOX = _sealed(
    "outbox",
    Column("number", BigInteger, primary_key=True),
    Column("chain_id", Text),
    Column("account", Bytes),
    Column("body", Bytes),
    Column("channel_id", Bytes),
)
LEASES = Table(
    "leases",
    METADATA,
    Column("name", Text, primary_key=True),
    Column("owner", Bytes),
    Column("until", BigInteger),  # milliseconds
    Column("lasts", BigInteger),  # milliseconds; null where an older program has written the row
)
APPOINTMENTS = _sealed(
    "appointments",
    Column("chain_id", Text, primary_key=True),
    Column("account", Bytes, primary_key=True),  # the watchtower's
    Column("channel_id", Bytes, primary_key=True),
    Column("client", Bytes, primary_key=True),
    Column("body", Bytes),
)
MEETINGS = _sealed(
    "meetings",
    Column("id", Bytes, primary_key=True),  # of the table
    Column("body", Bytes),
)
SPENT = _sealed(
    "spent",
    Column("chain_id", Text, primary_key=True),
    Column("account", Bytes, primary_key=True),
    Column("nonce", BigInteger, primary_key=True),
    Column("client", Bytes),
    Column("wei", Text),  # decimal digits: it may have 256 bits
)
