"""What each address has used of a relay: accounts, bounded in number, and forgotten when they are as good as new."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

from forcemove.relay.limits import Limits
from forcemove.serving.addresses import account_of
from forcemove.serving.rate import Bucket

MOST_ACCOUNTS = 20_000
"""Accounts that are remembered besides those with a connection. Then the oldest are forgotten."""
_CONNECTS_AT_ONCE = 25
_HOUR = 3_600
_MOST_WEIGHT = 100
_LOOKED_AT = 4
"""Accounts that are checked, whenever one is used, whether they can be forgotten."""


class AddressAccount:
    """What one `address`, see `account_of`, has used. `connections`: how many it has; `players`: those of them that
    take part at a table; `seats`: tables that are open on them; `unread`: bytes that were received from the address and
    not read yet. The buckets hold what the address may still use."""

    __slots__ = (
        "address",
        "bytes",
        "connections",
        "connects",
        "joins",
        "messages",
        "players",
        "seats",
        "tables",
        "unread",
    )

    def __init__(self, address: str, limits: Limits, now: float) -> None:
        self.address = address
        self.connections = self.players = self.seats = self.unread = 0
        self.messages = Bucket(limits.messages_per_second * limits.address_share, now)
        self.bytes = Bucket(limits.bytes_per_second * limits.address_share, now)
        self.connects = Bucket(limits.connects_per_second, now, limits.connects_per_second * _CONNECTS_AT_ONCE)
        self.tables = Bucket(limits.tables_per_hour / _HOUR, now, limits.tables_per_hour)
        self.joins = Bucket(limits.joins_per_hour / _HOUR, now, limits.joins_per_hour)

    @property
    def weight(self) -> int:
        """How many others' share the address has where work waits: one for each of its players, so that forty players
        behind one address are not treated as one."""
        return max(1, min(self.players, _MOST_WEIGHT))

    def is_new(self, now: float) -> bool:
        """Whether the account has nothing that would have to be remembered."""
        buckets = (self.messages, self.bytes, self.connects, self.tables, self.joins)
        return not self.connections and all(bucket.is_full(now) for bucket in buckets)


class Accounts:
    """The accounts of all addresses. `connections`, `seats`, `unread`: of all of them together."""

    def __init__(self, limits: Limits, clock: Callable[[], float], most: int = MOST_ACCOUNTS) -> None:
        """`clock`: seconds that do not go back; `most`: accounts that are remembered."""
        self._limits, self._clock, self._most = limits, clock, most
        self._known: OrderedDict[str, AddressAccount] = OrderedDict()
        self.connections = self.seats = self.unread = 0

    def __len__(self) -> int:
        return len(self._known)

    def of(self, host: str) -> AddressAccount:
        """The account of an IP address."""
        self._forget_some()
        name = account_of(host)
        account = self._known.get(name)
        if account is None:
            account = self._known[name] = AddressAccount(name, self._limits, self._clock())
        else:
            self._known.move_to_end(name)
        return account

    def fault(self, account: AddressAccount, slack: int = 0) -> str | None:
        """Why an address' newest connection is refused, None if it is not: an address may have no more connections than
        are still free, so that others find some, too. `slack`: connections beyond that which are let in, to be answered
        so."""
        limits = self._limits
        free = limits.connections - self.connections
        if free + slack < 0:
            return "the relay has as many connections as it may have"
        if account.connections > min(limits.per_address, free + 1) + slack:
            return "your address has as many connections as it may have"
        return None

    def has_room(self, account: AddressAccount) -> bool:
        """Whether an address has no more unread bytes than the others may still have."""
        return account.unread <= self._limits.unread_bytes - self.unread

    def sit(self, account: AddressAccount) -> bool:
        """Let an address have one more table open; False where it has more than others may still have."""
        if account.seats > self._limits.open_tables - self.seats:
            return False
        account.seats += 1
        self.seats += 1
        return True

    def rise(self, account: AddressAccount) -> None:
        """Count one open table less of an address."""
        account.seats -= 1
        self.seats -= 1

    def connect(self, account: AddressAccount) -> None:
        """Count one more connection of an address."""
        account.connections += 1
        self.connections += 1

    def disconnect(self, account: AddressAccount) -> None:
        """Count one connection less of an address."""
        account.connections -= 1
        self.connections -= 1

    def _forget_some(self) -> None:
        """Forget the oldest accounts that are as good as new, and where there are too many, any without a
        connection."""
        now = self._clock()
        for _ in range(min(_LOOKED_AT, len(self._known))):
            name, oldest = next(iter(self._known.items()))
            is_crowded = len(self._known) >= self._most and not oldest.connections
            if is_crowded or oldest.is_new(now):
                del self._known[name]
            elif oldest.connections:
                self._known.move_to_end(name)
            else:
                return
