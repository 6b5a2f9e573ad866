"""Leases: who may drive a channel, or send for an account, and until when. A lost lease is harmless, since versions
refuse its former holder's commits.

On PostgreSQL times are the server's, so that clocks of several machines need not agree; on SQLite, which is on one
machine, those of the clock that the journal was opened with.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import cache, lru_cache

from sqlalchemy import BigInteger, Connection, Row, bindparam, select, update
from sqlalchemy.sql.dml import ReturningInsert

from forcemove.errors import InvalidValue
from forcemove.store import channels
from forcemove.store.database import Database
from forcemove.store.errors import JournalDamaged, LeaseNotHeld
from forcemove.store.presence import Presence
from forcemove.store.records import Account, ChannelLease, LeaseName, LeaseRefusal, TakenLeases
from forcemove.store.schema import LEASES, chunks, insert_for

MAX_SECONDS = 24 * 60 * 60
"""The longest lease; nobody could wait for a longer one."""
_RELEASED = 0


_Lease = Row[tuple[str, bytes, int, int | None, bool | None]]
"""A row of the table, and whether it ends later than if it were renewed now."""
_AMONG = LEASES.c.name.in_(bindparam("names", expanding=True))
_LATEST = bindparam("now", type_=BigInteger) + LEASES.c.lasts
_FOUND = select(LEASES).where(_AMONG).order_by(LEASES.c.name)
_LOCKED = _FOUND.with_for_update()
_COMPARED = _LOCKED.add_columns((LEASES.c.until > _LATEST).label("is_ahead"))
_SHORTENED = update(LEASES).where(_AMONG).values(until=_LATEST)
_IS_HELD = (LEASES.c.owner == bindparam("ours")) & (LEASES.c.until > _RELEASED)
_HELD = select(LEASES.c.name).where(_IS_HELD)
_RENEWED = update(LEASES).where(_IS_HELD).values(until=bindparam("ends"), lasts=bindparam("duration"))


@cache
def _taking(dialect: str) -> ReturningInsert[tuple[str]]:
    """Takes free leases: the end of each new row less its duration is now."""
    statement = insert_for(dialect, LEASES)
    new = statement.excluded
    may = (LEASES.c.until <= new.until - new.lasts) | (LEASES.c.owner == new.owner)
    values = {name: new[name] for name in ("owner", "until", "lasts")}
    taking = statement.on_conflict_do_update(index_elements=["name"], set_=values, where=may)
    return taking.returning(LEASES.c.name)


class Leases:
    """The leases of one owner in a journal."""

    def __init__(self, database: Database, owner: bytes) -> None:
        self._database, self._owner = database, owner
        self._presence = Presence(database.file, owner) if database.file is not None else None
        self._held: set[LeaseName] | None = None
        self._renewed: frozenset[LeaseName] | None = None

    def take(self, names: Iterable[LeaseName], seconds: float) -> TakenLeases:
        """Take those leases that are free or expired, and renew those that are ours, from now on for this many seconds.
        The leases of a process on this machine that has died are free, where the journal is a file.

        A channel whose lease had another owner gets a new version: a process that knows the old one, paused and
        unaware, can commit nothing for the channel. So load a channel after its lease was taken.
        """
        _require_duration(seconds)
        if self._presence is not None:
            self._presence.show()
        wanted = {text_of(name): name for name in names}
        taking = self._take_free(wanted, seconds)
        if taking.refused and self._free_the_dead({each.owner for each in taking.refused.values()}):
            taking = self._take_free(wanted, seconds)
        return taking

    def _free_the_dead(self, owners: Collection[bytes]) -> bool:
        """Free the leases of owners whose process has died; whether there were any."""
        presence = self._presence
        dead = [owner for owner in owners if presence is not None and presence.is_gone(owner)]
        if dead:
            with self._database.writing() as connection:
                connection.execute(update(LEASES).where(LEASES.c.owner.in_(dead)).values(until=_RELEASED))
        return bool(dead)

    def close(self) -> None:
        """Free what belongs to this owner but its leases, which stay until they expire."""
        if self._presence is not None:
            self._presence.close()

    def _take_free(self, wanted: Mapping[str, LeaseName], seconds: float) -> TakenLeases:
        known, self._held, self._renewed = self._held, None, None
        with self._database.writing() as connection:
            now = self._database.now(connection)
            before = _locked(connection, wanted, now)
            _shorten(connection, before, now)
            ours = self._take(connection, wanted, now, int(seconds * 1000))
            inherited = [wanted[name] for name in ours if name in before and before[name].owner != self._owner]
            ids = [name.channel_id for name in inherited if isinstance(name, ChannelLease)]
            channels.raise_versions(connection, ids)
            others = _locked(connection, wanted.keys() - ours, now)
            held = self._read_held(connection) if known is None else known
        granted = frozenset(wanted[name] for name in ours)
        held |= granted
        self._held = held
        refused = {wanted[name]: _refusal(row, now) for name, row in others.items()}
        return TakenLeases(granted, refused)

    def _take(self, connection: Connection, wanted: Mapping[str, LeaseName], now: int, lasts: int) -> set[str]:
        """Take leases in one statement, so that of two owners that come at once one is refused; returns the names that
        are ours then."""
        row = {"owner": self._owner, "until": now + lasts, "lasts": lasts}
        rows = [{"name": name, **row} for name in sorted(wanted)]
        return set(connection.scalars(_taking(connection.dialect.name), rows)) if rows else set()

    def renew(self, seconds: float) -> frozenset[LeaseName]:
        """Renew all leases that are ours, from now on for this many seconds, in one statement. Returns them: a channel
        whose lease is not among them was taken over, and must not be driven any more. Where they are those of the last
        time the very same value is returned."""
        _require_duration(seconds)
        with self._database.writing() as connection:
            lasts, held = int(seconds * 1000), self._held
            values = {"ours": self._owner, "ends": self._database.now(connection) + lasts, "duration": lasts}
            count = connection.execute(_RENEWED, values).rowcount
            if held is None or count != len(held):
                held, self._renewed = self._read_held(connection), None
        self._held, self._renewed = held, self._renewed or frozenset(held)
        return self._renewed

    def _read_held(self, connection: Connection) -> set[LeaseName]:
        names = connection.scalars(_HELD, {"ours": self._owner})
        return {_name_of(name, self._database.where) for name in names}

    def release(self, names: Iterable[LeaseName]) -> None:
        """Give leases back; those that are not ours are left alone."""
        given, known = frozenset(names), self._held
        self._held = self._renewed = None
        with self._database.writing() as connection:
            for chunk in chunks(map(text_of, given)):
                is_ours = LEASES.c.name.in_(chunk) & (LEASES.c.owner == self._owner)
                connection.execute(update(LEASES).where(is_ours).values(until=_RELEASED))
        if known is not None:
            known -= given
        self._held = known

    def holder(self, name: LeaseName) -> LeaseRefusal | None:
        """The holder of a lease now, ourselves included; None where the lease is free."""
        with self._database.reading() as connection:
            now = self._database.now(connection)
            row = connection.execute(_FOUND, {"names": [text_of(name)]}).one_or_none()
        return None if row is None or row.until <= now else _refusal(row, now)


def require_held(connection: Connection, name: LeaseName, owner: bytes) -> None:
    """Raise `LeaseNotHeld` unless a lease is the owner's; nobody can take it over before the transaction ends.

    An expired lease is still its owner's until another process takes it.
    """
    row = connection.execute(_LOCKED, {"names": [text_of(name)]}).one_or_none()
    if row is None or row.owner != owner or row.until <= _RELEASED:
        raise LeaseNotHeld(text_of(name))


def _locked(connection: Connection, names: Collection[str], now: int) -> dict[str, _Lease]:
    """The leases that have or had a holder, which nobody changes until the end of the transaction."""
    found: dict[str, _Lease] = {}
    for chunk in chunks(sorted(names)):
        found |= {row.name: row for row in connection.execute(_COMPARED, {"names": chunk, "now": now})}
    return found


def _shorten(connection: Connection, known: Mapping[str, _Lease], now: int) -> None:
    """Let a lease that ends later than one that is renewed now count as renewed now: a clock that was ahead has renewed
    it. Its holder may live and renew it again; else others wait for the lease's duration, and no longer."""
    for chunk in chunks(name for name, row in known.items() if row.is_ahead):
        connection.execute(_SHORTENED, {"names": chunk, "now": now})


def _refusal(row: _Lease, now: int) -> LeaseRefusal:
    return LeaseRefusal(row.owner, row.until / 1000, now / 1000)


def text_of(name: LeaseName) -> str:
    """A lease's name as it is in the table."""
    match name:
        case ChannelLease(channel_id):
            return f"channel:{channel_id.hex()}"
        case Account(chain_id, address):
            return f"account:{chain_id}:{address.hex()}"


@lru_cache(maxsize=100_000)
def _name_of(text: str, where: str) -> LeaseName:
    try:
        match text.split(":"):
            case ["channel", channel_id]:
                return ChannelLease(bytes.fromhex(channel_id))
            case ["account", chain_id, address]:
                return Account(int(chain_id), bytes.fromhex(address))
    except ValueError:
        pass
    raise JournalDamaged(where, "a lease is of nothing that we know")


def _require_duration(seconds: float) -> None:
    if not 0 < seconds <= MAX_SECONDS:
        raise InvalidValue("seconds", seconds, f"more than 0, and at most {MAX_SECONDS}")
