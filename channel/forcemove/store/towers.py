"""The appointments that a watchtower was given, and what it has spent. Only the holder of its account's lease changes
them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection, delete, select

from forcemove.store import leases
from forcemove.store.database import Database
from forcemove.store.records import Account, AppointmentRecord, Spent
from forcemove.store.schema import APPOINTMENTS, SPENT, chunks, of_account, require_sound, sealed, upsert


class Towers:
    """The data of watchtowers, each known by its account. Changes raise `LeaseNotHeld` where the account's lease is not
    ours."""

    def __init__(self, database: Database, owner: bytes) -> None:
        self._database, self._owner = database, owner

    def keep(self, account: Account, *appointments: AppointmentRecord) -> None:
        """Store appointments in place of their clients' earlier ones for the same channels, in one commit."""
        rows = [
            sealed(account, channel_id=each.channel_id, client=each.client, body=each.body) for each in appointments
        ]
        with self._changing(account) as connection:
            upsert(connection, APPOINTMENTS, rows)

    def forget(self, account: Account, *channel_ids: bytes) -> None:
        """Delete the appointments of these channels, in one commit. What was spent for them stays spent."""
        with self._changing(account) as connection:
            for chunk in chunks(channel_ids):
                of_them = of_account(APPOINTMENTS, account) & APPOINTMENTS.c.channel_id.in_(chunk)
                connection.execute(delete(APPOINTMENTS).where(of_them))

    def appointments(self, account: Account) -> tuple[AppointmentRecord, ...]:
        """All stored appointments, by channels and clients. Raises `JournalDamaged`."""
        chosen = select(APPOINTMENTS).where(of_account(APPOINTMENTS, account))
        with self._database.reading() as connection:
            rows = connection.execute(chosen.order_by(APPOINTMENTS.c.channel_id, APPOINTMENTS.c.client)).all()
        for row in rows:
            values = (row.chain_id, row.account, row.channel_id, row.client, row.body)
            require_sound(self._database.where, "an appointment", row.checksum, *values)
        return tuple(AppointmentRecord(row.channel_id, row.client, row.body) for row in rows)

    def charge(self, account: Account, *spent: Spent) -> None:
        """Store the costs of the transactions with these nonces, in place of earlier ones, in one commit."""
        rows = [sealed(account, nonce=each.nonce, client=each.client, wei=str(each.wei)) for each in spent]
        with self._changing(account) as connection:
            upsert(connection, SPENT, rows)

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
