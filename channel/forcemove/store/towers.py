"""The appointments that a watchtower was given, and what it has spent. Only the holder of its account's lease changes
them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection, delete, select

from forcemove.store import leases
from forcemove.store.database import Database
from forcemove.store.records import Account, AppointmentRecord, Spent
from forcemove.store.schema import APPOINTMENTS, SPENT
from forcemove.store.statements import of_account, require_sound, sealed, upsert

__all__ = ["Towers"]


class Towers:
    """The data of watchtowers, each known by its account. Changes raise `LeaseNotHeld` where the account's lease is not
    ours."""

    def __init__(self, database: Database, owner: bytes) -> None:
        self._database, self._owner = database, owner

    def keep(self, account: Account, appointment: AppointmentRecord) -> None:
        """Store an appointment in place of the client's earlier one for the same channel."""
        channel_id, client, body = appointment.channel_id, appointment.client, appointment.body
        with self._changing(account) as connection:
            upsert(connection, APPOINTMENTS, [sealed(account, channel_id=channel_id, client=client, body=body)])

    def forget(self, account: Account, channel_id: bytes) -> None:
        """Delete the appointments of this channel. What was spent for it stays spent."""
        with self._changing(account) as connection:
            of_it = of_account(APPOINTMENTS, account) & (APPOINTMENTS.c.channel_id == channel_id)
            connection.execute(delete(APPOINTMENTS).where(of_it))

    def appointments(self, account: Account) -> tuple[AppointmentRecord, ...]:
        """All stored appointments, by channels and clients. Raises `JournalDamaged`."""
        chosen = select(APPOINTMENTS).where(of_account(APPOINTMENTS, account))
        with self._database.reading() as connection:
            rows = connection.execute(chosen.order_by(APPOINTMENTS.c.channel_id, APPOINTMENTS.c.client)).all()
        for row in rows:
            values = (row.chain_id, row.account, row.channel_id, row.client, row.body)
            require_sound(self._database.where, "a hand-over", row.checksum, *values)
        return tuple(AppointmentRecord(row.channel_id, row.client, row.body) for row in rows)

    def charge(self, account: Account, spent: Spent) -> None:
        """Store the cost of a nonce's transaction, in place of an earlier one."""
        row = sealed(account, nonce=spent.nonce, client=spent.client, wei=str(spent.wei))
        with self._changing(account) as connection:
            upsert(connection, SPENT, [row])

    def give_back(self, account: Account, from_nonce: int) -> None:
        """Delete the costs of the transactions from this nonce on: a reorganisation has removed these."""
        with self._changing(account) as connection:
            connection.execute(delete(SPENT).where(of_account(SPENT, account) & (SPENT.c.nonce >= from_nonce)))

    def spent(self, account: Account) -> tuple[Spent, ...]:
        """All costs, in the order of nonces. Raises `JournalDamaged`."""
        chosen = select(SPENT).where(of_account(SPENT, account)).order_by(SPENT.c.nonce)
        with self._database.reading() as connection:
            rows = connection.execute(chosen).all()
        for row in rows:
            values = (row.chain_id, row.account, row.nonce, row.client, row.wei)
            require_sound(self._database.where, "what was spent", row.checksum, *values)
        return tuple(Spent(row.nonce, row.client, int(row.wei)) for row in rows)

    @contextmanager
    def _changing(self, account: Account) -> Iterator[Connection]:
        with self._database.writing() as connection:
            leases.require_held(connection, account, self._owner)
            yield connection
