"""Transactions of accounts: those in flight, by nonce, and the requests for transactions, which have no nonce yet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import assert_never

from sqlalchemy import BindParameter, ColumnElement, Connection, Row, bindparam, delete, insert, select, update

from forcemove.store import history, leases, records
from forcemove.store.database import Database
from forcemove.store.errors import NonceTaken, NotInFlight, NotInOutbox
from forcemove.store.schema import OUTBOX, TRANSACTIONS, chunks, insert_for, of_account, require_sound, sealed

_CHAIN: BindParameter[str] = bindparam("of_chain")
_ACCOUNT: BindParameter[bytes] = bindparam("of_account")
_OUTBOX = select(OUTBOX).where(OUTBOX.c.chain_id == _CHAIN, OUTBOX.c.account == _ACCOUNT).order_by(OUTBOX.c.number)
_IN_FLIGHT = (
    select(TRANSACTIONS)
    .where(TRANSACTIONS.c.chain_id == _CHAIN, TRANSACTIONS.c.account == _ACCOUNT)
    .order_by(TRANSACTIONS.c.nonce)
)


class Transactions:
    """What senders store. Only the holder of the account's lease makes changes; anybody may add requests."""

    def __init__(self, database: Database, owner: bytes) -> None:
        self._database, self._owner = database, owner
        self._read: dict[records.Account, tuple[object, tuple[records.QueuedRequest, ...]]] = {}

    def add_to_outbox(self, requests: Sequence[records.OutboxRequest]) -> None:
        """Add requests, in one commit."""
        with self._database.writing() as connection:
            insert_outbox(connection, requests)

    def outbox(self, account: records.Account) -> tuple[records.QueuedRequest, ...]:
        """The requests of an account, oldest first. They are asked for every second, and read where anything was
        written since."""
        version = self._database.version()
        read, found = self._read.get(account, (None, ()))
        if version is None or version != read:
            with self._database.reading() as connection:
                rows = connection.execute(_OUTBOX, _named(account))
                found = tuple(_queued(self._database.where, row) for row in rows)
            self._read[account] = version, found
        return found

    def in_flight(self, account: records.Account) -> tuple[records.InFlightTransaction, ...]:
        """The transactions of an account, in the order of their nonces."""
        with self._database.reading() as connection:
            rows = connection.execute(_IN_FLIGHT, _named(account)).all()
        for row in rows:
            values = (row.chain_id, row.account, row.nonce, row.body, row.channel_id)
            require_sound(self._database.where, "a transaction", row.checksum, *values)
        return tuple(records.InFlightTransaction(row.nonce, row.body, row.channel_id) for row in rows)

    def commit(
        self,
        account: records.Account,
        changes: Sequence[records.Change],
        entries: Sequence[tuple[bytes, records.HistoryRow]] = (),
    ) -> None:
        """Make changes in their order, in one commit: all of them or, where one is refused, none. `entries`: what they
        add to the histories of channels, each with its channel's id.

        Raises `LeaseNotHeld`, `NonceTaken`, `NotInFlight` and `NotInOutbox`.
        """
        with self._database.writing() as connection:
            leases.require_held(connection, account, self._owner)
            for change in changes:
                _make(connection, account, change)
            history.append(connection, entries)


def _make(connection: Connection, account: records.Account, change: records.Change) -> None:
    match change:
        case records.Put(transaction):
            _put(connection, account, transaction)
        case records.Replace(transaction):
            _replace(connection, account, transaction)
        case records.Assign(number, transaction):
            _take_from_outbox(connection, account, number)
            _put(connection, account, transaction)
        case records.Forget(nonce):
            connection.execute(delete(TRANSACTIONS).where(_at(account, nonce)))
        case records.Dismiss(number):
            _take_from_outbox(connection, account, number)
        case _:
            assert_never(change)


def _put(connection: Connection, account: records.Account, transaction: records.InFlightTransaction) -> None:
    statement = (
        insert_for(connection.dialect.name, TRANSACTIONS).on_conflict_do_nothing().returning(TRANSACTIONS.c.nonce)
    )
    if connection.scalar(statement, _row(account, transaction)) is None:
        raise NonceTaken(account.address, transaction.nonce)


def _replace(connection: Connection, account: records.Account, transaction: records.InFlightTransaction) -> None:
    statement = update(TRANSACTIONS).where(_at(account, transaction.nonce)).values(**_row(account, transaction))
    if connection.execute(statement).rowcount == 0:
        raise NotInFlight(account.address, transaction.nonce)


def _take_from_outbox(connection: Connection, account: records.Account, number: int) -> None:
    chosen = of_account(OUTBOX, account) & (OUTBOX.c.number == number)
    taken = delete(OUTBOX).where(chosen).returning(OUTBOX.c.number)
    if connection.scalar(taken) is None:
        raise NotInOutbox(number)


def insert_outbox(connection: Connection, requests: Iterable[records.OutboxRequest]) -> None:
    """Add requests, in their order."""
    for each in requests:
        row = sealed(each.account, body=each.body, channel_id=each.channel_id)
        connection.execute(insert(OUTBOX).values(**row))


def outbox_of(connection: Connection, where: str, channel_id: bytes) -> tuple[records.OutboxRequest, ...]:
    """The requests of a channel, oldest first."""
    chosen = select(OUTBOX).where(OUTBOX.c.channel_id == channel_id).order_by(OUTBOX.c.number)
    return tuple(_queued(where, row).request for row in connection.execute(chosen))


def drop_outbox(connection: Connection, ids: Iterable[bytes]) -> None:
    """Delete the requests of channels."""
    for chunk in chunks(ids):
        connection.execute(delete(OUTBOX).where(OUTBOX.c.channel_id.in_(chunk)))


def _queued(where: str, row: Row[tuple[object, ...]]) -> records.QueuedRequest:
    require_sound(where, "a wanted transaction", row.checksum, row.chain_id, row.account, row.body, row.channel_id)
    return records.QueuedRequest(
        row.number, records.OutboxRequest(records.Account(int(row.chain_id), row.account), row.body, row.channel_id)
    )


def _row(account: records.Account, transaction: records.InFlightTransaction) -> dict[str, object]:
    nonce, body, channel_id = transaction.nonce, transaction.body, transaction.channel_id
    return sealed(account, nonce=nonce, body=body, channel_id=channel_id)


def _named(account: records.Account) -> dict[str, object]:
    return {"of_chain": str(account.chain_id), "of_account": account.address}


def _at(account: records.Account, nonce: int) -> ColumnElement[bool]:
    return of_account(TRANSACTIONS, account) & (TRANSACTIONS.c.nonce == nonce)
