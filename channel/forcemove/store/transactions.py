"""Transactions of accounts: those in flight, by nonce, and those that are wanted and have no nonce yet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import assert_never

from sqlalchemy import BindParameter, ColumnElement, Connection, Row, bindparam, delete, insert, select, update

from forcemove.store import leases
from forcemove.store.database import Database
from forcemove.store.errors import LeaseNotHeld, NonceTaken, NoSuchWish, NotInFlight
from forcemove.store.records import (
    Account,
    Assign,
    Change,
    Dismiss,
    Forget,
    Put,
    Replace,
    Transaction,
    Wanted,
    Wish,
)
from forcemove.store.schema import TRANSACTIONS, WANTED, checksum
from forcemove.store.statements import chunks, insert_for, require_sound

__all__ = ["Transactions", "drop_wanted", "insert_wanted", "wanted_of"]


_CHAIN: BindParameter[str] = bindparam("of_chain")
_ACCOUNT: BindParameter[bytes] = bindparam("of_account")
_WISHES = select(WANTED).where(WANTED.c.chain_id == _CHAIN, WANTED.c.account == _ACCOUNT).order_by(WANTED.c.number)
_IN_FLIGHT = (
    select(TRANSACTIONS)
    .where(TRANSACTIONS.c.chain_id == _CHAIN, TRANSACTIONS.c.account == _ACCOUNT)
    .order_by(TRANSACTIONS.c.nonce)
)


class Transactions:
    """What senders keep. Changes are made by the holder of the account's lease alone; anybody may add wishes."""

    def __init__(self, database: Database, owner: bytes) -> None:
        self._database, self._owner = database, owner

    def want(self, wanted: Sequence[Wanted]) -> None:
        """Add wishes, in one commit. What follows from a channel's state belongs into its `Saving` instead."""
        with self._database.writing() as connection:
            insert_wanted(connection, wanted)

    def wishes(self, account: Account) -> tuple[Wish, ...]:
        """What an account is to send, oldest first."""
        with self._database.reading() as connection:
            rows = connection.execute(_WISHES, _named(account))
            return tuple(_wish(self._database.where, row) for row in rows)

    def in_flight(self, account: Account) -> tuple[Transaction, ...]:
        """The transactions of an account, in the order of their nonces."""
        with self._database.reading() as connection:
            rows = connection.execute(_IN_FLIGHT, _named(account)).all()
        for row in rows:
            require_sound(self._database.where, "a transaction", row.checksum, *_values(row))
        return tuple(Transaction(row.nonce, row.body, row.channel_id) for row in rows)

    def commit(self, account: Account, changes: Sequence[Change]) -> None:
        """Make changes in their order, in one commit: all of them or, where one is refused, none.

        Raises `LeaseNotHeld`, `NonceTaken`, `NotInFlight` and `NoSuchWish`.
        """
        with self._database.writing() as connection:
            if not leases.is_held(connection, account, self._owner):
                raise LeaseNotHeld(leases.text_of(account))
            for change in changes:
                _make(connection, account, change)


def _make(connection: Connection, account: Account, change: Change) -> None:
    match change:
        case Put(transaction):
            _put(connection, account, transaction)
        case Replace(transaction):
            _replace(connection, account, transaction)
        case Assign(number, transaction):
            _take_wish(connection, account, number)
            _put(connection, account, transaction)
        case Forget(nonce):
            connection.execute(delete(TRANSACTIONS).where(_at(account, nonce)))
        case Dismiss(number):
            _take_wish(connection, account, number)
        case _:
            assert_never(change)


def _put(connection: Connection, account: Account, transaction: Transaction) -> None:
    statement = (
        insert_for(connection.dialect.name, TRANSACTIONS).on_conflict_do_nothing().returning(TRANSACTIONS.c.nonce)
    )
    if connection.scalar(statement, _row(account, transaction)) is None:
        raise NonceTaken(account.address, transaction.nonce)


def _replace(connection: Connection, account: Account, transaction: Transaction) -> None:
    statement = update(TRANSACTIONS).where(_at(account, transaction.nonce)).values(**_row(account, transaction))
    if connection.execute(statement).rowcount == 0:
        raise NotInFlight(account.address, transaction.nonce)


def _take_wish(connection: Connection, account: Account, number: int) -> None:
    taken = delete(WANTED).where(_wanted_of(account) & (WANTED.c.number == number)).returning(WANTED.c.number)
    if connection.scalar(taken) is None:
        raise NoSuchWish(number)


def insert_wanted(connection: Connection, wanted: Iterable[Wanted]) -> None:
    """Add wishes, in their order."""
    for each in wanted:
        values = (str(each.account.chain_id), each.account.address, each.body, each.channel_id)
        names = ("chain_id", "account", "body", "channel_id")
        connection.execute(insert(WANTED).values(**dict(zip(names, values, strict=True)), checksum=checksum(*values)))


def wanted_of(connection: Connection, where: str, channel_id: bytes) -> tuple[Wanted, ...]:
    """The wishes for a channel, oldest first."""
    chosen = select(WANTED).where(WANTED.c.channel_id == channel_id).order_by(WANTED.c.number)
    return tuple(_wish(where, row).wanted for row in connection.execute(chosen))


def drop_wanted(connection: Connection, ids: Iterable[bytes]) -> None:
    """Forget the wishes for channels."""
    for chunk in chunks(ids):
        connection.execute(delete(WANTED).where(WANTED.c.channel_id.in_(chunk)))


def _wish(where: str, row: Row[tuple[object, ...]]) -> Wish:
    require_sound(where, "a wanted transaction", row.checksum, row.chain_id, row.account, row.body, row.channel_id)
    return Wish(row.number, Wanted(Account(int(row.chain_id), row.account), row.body, row.channel_id))


def _row(account: Account, transaction: Transaction) -> dict[str, object]:
    values = {
        "chain_id": str(account.chain_id),
        "account": account.address,
        "nonce": transaction.nonce,
        "body": transaction.body,
        "channel_id": transaction.channel_id,
    }
    return values | {"checksum": checksum(*values.values())}


def _named(account: Account) -> dict[str, object]:
    return {"of_chain": str(account.chain_id), "of_account": account.address}


def _at(account: Account, nonce: int) -> ColumnElement[bool]:
    return (
        (TRANSACTIONS.c.chain_id == str(account.chain_id))
        & (TRANSACTIONS.c.account == account.address)
        & (TRANSACTIONS.c.nonce == nonce)
    )


def _wanted_of(account: Account) -> ColumnElement[bool]:
    return (WANTED.c.chain_id == str(account.chain_id)) & (WANTED.c.account == account.address)


def _values(row: Row[tuple[object, ...]]) -> tuple[object, ...]:
    return (row.chain_id, row.account, row.nonce, row.body, row.channel_id)
