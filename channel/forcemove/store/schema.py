"""The tables as statements use them. How they come to be, and in which order they changed, is in `migrations`.

There are no foreign keys: seeds, evidence and transactions may belong to channels that are not here. Every table but
`leases` has a checksum over the rest of a row, since neither SQLite nor a disk notices a changed byte in a body. A
channel's version is left out of it: versions are compared and never acted on, and many are raised at once.
"""

from __future__ import annotations

from zlib import crc32

import msgspec
from sqlalchemy import BigInteger, Column, MetaData, Table, Text
from sqlalchemy.types import UserDefinedType

__all__ = [
    "CHANNELS",
    "EVIDENCE",
    "APPOINTMENTS",
    "LEASES",
    "MEETINGS",
    "METADATA",
    "ORIGINS",
    "SEEDS",
    "SPENT",
    "TRANSACTIONS",
    "VERSIONS",
    "OUTBOX",
    "checksum",
]

METADATA = MetaData()


class Bytes(UserDefinedType[bytes]):
    """Bytes just as the driver takes and gives them: what a damaged file has in their place is not converted."""

    cache_ok = True


_encode = msgspec.msgpack.Encoder().encode


def checksum(*values: object) -> int:
    """A CRC-32 of a row's other values, in their order in the table. It finds faults; it keeps nobody out."""
    return crc32(_encode(values))


VERSIONS = Table("forcemove_journal", METADATA, Column("version", BigInteger))
CHANNELS = Table(
    "channels",
    METADATA,
    Column("id", Bytes, primary_key=True),
    Column("version", BigInteger),
    Column("standing", BigInteger),
    Column("snapshot", Bytes),
    Column("checksum", BigInteger),
    Column("reached", Bytes),  # null where an older program has written the row
)
ORIGINS = Table(
    "origins",
    METADATA,
    Column("channel_id", Bytes, primary_key=True),
    Column("about", Bytes),
    Column("checksum", BigInteger),
)
SEEDS = Table(
    "seeds",
    METADATA,
    Column("name", Bytes, primary_key=True),
    Column("seed", Bytes),
    Column("checksum", BigInteger),
)
EVIDENCE = Table(
    "evidence",
    METADATA,
    Column("number", BigInteger, primary_key=True),
    Column("channel_id", Bytes),
    Column("kind", Text),
    Column("body", Bytes),
    Column("checksum", BigInteger),
)
TRANSACTIONS = Table(
    "transactions",
    METADATA,
    Column("chain_id", Text, primary_key=True),
    Column("account", Bytes, primary_key=True),
    Column("nonce", BigInteger, primary_key=True),
    Column("body", Bytes),
    Column("channel_id", Bytes),
    Column("checksum", BigInteger),
)
OUTBOX = Table(
    "wanted",
    METADATA,
    Column("number", BigInteger, primary_key=True),
    Column("chain_id", Text),
    Column("account", Bytes),
    Column("body", Bytes),
    Column("channel_id", Bytes),
    Column("checksum", BigInteger),
)
LEASES = Table(
    "leases",
    METADATA,
    Column("name", Text, primary_key=True),
    Column("owner", Bytes),
    Column("until", BigInteger),  # milliseconds
    Column("lasts", BigInteger),  # milliseconds; null where an older program has written the row
)
APPOINTMENTS = Table(
    "hand_overs",
    METADATA,
    Column("chain_id", Text, primary_key=True),
    Column("account", Bytes, primary_key=True),  # the tower's
    Column("channel_id", Bytes, primary_key=True),
    Column("client", Bytes, primary_key=True),
    Column("body", Bytes),
    Column("checksum", BigInteger),
)
MEETINGS = Table(
    "meetings",
    METADATA,
    Column("id", Bytes, primary_key=True),  # of the table
    Column("body", Bytes),
    Column("checksum", BigInteger),
)
SPENT = Table(
    "spent",
    METADATA,
    Column("chain_id", Text, primary_key=True),
    Column("account", Bytes, primary_key=True),
    Column("nonce", BigInteger, primary_key=True),
    Column("client", Bytes),
    Column("wei", Text),  # decimal digits: it may have 256 bits
    Column("checksum", BigInteger),
)
