"""The tables as statements use them, and what statements about all of them share. How the tables are made, and in which
order they changed, is in `migrations`.

There are no foreign keys: seeds, evidence and transactions may belong to channels that are not in the journal. Every
table but `leases` has a checksum over the rest of a row, since neither SQLite nor a disk notices a changed byte in a
body. The checksum leaves out a channel's version: versions are compared and never acted on, and many are raised at
once.

SQLAlchemy has a separate `ON CONFLICT` for each database. A frequent statement is built once, with `bindparam` for its
values: SQLAlchemy takes longer to build it than to run it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar
from zlib import crc32

import msgspec
from sqlalchemy import BigInteger, Column, ColumnElement, Connection, Insert, MetaData, Table, Text
from sqlalchemy.dialects import sqlite
from sqlalchemy.types import UserDefinedType

from forcemove.store.errors import JournalDamaged
from forcemove.store.records import Account

if TYPE_CHECKING:
    from sqlalchemy.dialects import postgresql

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


# ----------------------------------------------------------------------------------------------------------- statements

Value = TypeVar("Value", bytes, str)
TableRow = Mapping[str, Any]
_MOST_PARAMETERS = 1_000
"""Values in one list of a statement: databases take a limited number."""


def chunks(values: Iterable[Value]) -> Iterator[list[Value]]:
    """The values in lists that a statement has room for."""
    remaining = iter(values)
    while chunk := list(islice(remaining, _MOST_PARAMETERS)):
        yield chunk


def insert_for(dialect: str, table: Table) -> sqlite.Insert | postgresql.Insert:
    """An insertion that may say what happens to rows that exist. `dialect`: a connection's, by its name."""
    if dialect == "sqlite":
        return sqlite.insert(table)
    from sqlalchemy.dialects import postgresql  # with all of its drivers: a tenth of what a command imports

    return postgresql.insert(table)


def upsert(connection: Connection, table: Table, rows: Sequence[TableRow]) -> None:
    """Insert rows; a row whose primary key exists replaces that row."""
    if rows:
        connection.execute(_upserting(connection.dialect.name, table), rows)


@cache
def _upserting(dialect: str, table: Table) -> Insert:
    statement = insert_for(dialect, table)
    values = {column.name: statement.excluded[column.name] for column in table.c if not column.primary_key}
    return statement.on_conflict_do_update(index_elements=list(table.primary_key), set_=values)


def of_account(table: Table, account: Account) -> ColumnElement[bool]:
    """Chooses an account's rows of a table."""
    return (table.c.chain_id == str(account.chain_id)) & (table.c.account == account.address)


def sealed(account: Account, **values: object) -> dict[str, object]:
    """An account's row, with its checksum. `values`: in the order of the table's columns."""
    row = {"chain_id": str(account.chain_id), "account": account.address, **values}
    return row | {"checksum": checksum(*row.values())}


def require_sound(where: str, what: str, expected: object, *values: object) -> None:
    """Raise `JournalDamaged` unless the checksum of a row, a `what`, is that of its values."""
    if checksum(*values) != expected:
        raise JournalDamaged(where, f"{what} does not fit its checksum")
