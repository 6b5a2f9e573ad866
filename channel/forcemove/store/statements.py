"""What statements about all tables share. SQLAlchemy has a separate `ON CONFLICT` for each database.

A frequent statement is built once, with `bindparam` for its values: SQLAlchemy takes longer to build it than to run it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import ColumnElement, Connection, Insert, Table
from sqlalchemy.dialects import sqlite

from forcemove.store.errors import JournalDamaged
from forcemove.store.records import Account
from forcemove.store.schema import checksum

if TYPE_CHECKING:
    from sqlalchemy.dialects import postgresql

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
