"""Whether a relay takes one more table or entry: by the bytes and tables that are kept, in all and for the address
from which a table was made, and by whether the disk takes anything. Addresses with more than an equal share are refused
first. Pure.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from hashlib import blake2b

from forcemove.errors import ForcemoveError
from forcemove.relay.limits import Limits
from forcemove.relay.storage.schema import ENTRY_COST, TABLE_COST
from forcemove.transport.errors import Reason

_LOG = logging.getLogger(__name__)
FULL_DISK = "the disk takes nothing just now"
_NO_BYTES = "the relay keeps as much as it may, or as your address may"
_NO_TABLES = "the relay has as many tables as it may have, or as your address may have"
_MEASURED = 2**20
"""Bytes that may be added before the disk is measured again."""

Fault = tuple[Reason, str]


class Quota:
    """An amount that accounts share, such as the bytes of a store. `used`: how much of `most` all accounts have; it may
    be set by a measurement, since deleted bytes are not free at once."""

    def __init__(self, most: int, most_of_one: int) -> None:
        """`most`: of all accounts; `most_of_one`: of one account, however much is free."""
        self.most, self._most_of_one = most, most_of_one
        self.used = 0
        self._held: Counter[bytes] = Counter()

    @property
    def is_tight(self) -> bool:
        """Whether less than a quarter is free, so that room should be made. With less than an eighth, see `lacks`."""
        return self.used > self.most - self.most // 4

    @property
    def is_full(self) -> bool:
        """Whether nothing is free."""
        return self.used >= self.most

    def lacks(self, account: bytes, amount: int) -> bool:
        """Whether an account may not have this amount more: with less than an eighth free, no account may come to have
        more than an equal share."""
        held, used = self._held[account] + amount, self.used + amount
        is_too_much = used > self.most or held > self._most_of_one
        return is_too_much or (used > self.most - self.most // 8 and held > self._share())

    def greedy(self) -> list[bytes]:
        """Accounts that have more than an equal share, the largest first."""
        share = self._share()
        return [account for account, held in self._held.most_common() if held > share]

    def take(self, account: bytes, amount: int) -> None:
        """Count this amount more for an account."""
        self._held[account] += amount
        self.used += amount

    def give_back(self, account: bytes, amount: int) -> None:
        """Count this amount less for an account."""
        self._held[account] -= amount
        self.used -= amount
        if self._held[account] <= 0:
            del self._held[account]

    def _share(self) -> int:
        return self.most // max(1, len(self._held))


class DiskQuota:
    """The room of one relay. `bytes`, `tables`: how many each account has. `is_shut`: whether the disk has refused a
    write, so that no table and no entry is taken until `open`; `is_wanted`: is set when `Housekeeper` should act."""

    def __init__(self, limits: Limits) -> None:
        self.bytes = Quota(limits.store_bytes, limits.bytes_of_address)
        self.tables = Quota(limits.tables, limits.tables_of_address)
        self.is_shut = False
        self.is_wanted = asyncio.Event()
        self._unmeasured = 0

    def start(self, held: list[tuple[bytes, int, int]]) -> None:
        """Begin with what is kept: accounts, the number of their tables, and their bytes."""
        for account, tables, size in held:
            self.tables.take(account, tables)
            self.bytes.take(account, size)

    def measured(self, used: int, most: int) -> None:
        """The bytes of the store that are in use, and how many there may be. A part stays free, since deleting takes
        disk."""
        self.bytes.used, self.bytes.most = used, most - most // 16
        self._unmeasured = 0
        self._want()

    @property
    def is_unmeasured(self) -> bool:
        """Whether much was added since `measured`."""
        return self._unmeasured > _MEASURED

    def fault_of_table(self, account: bytes) -> Fault | None:
        """Why an account may not make one more table, None if it may."""
        if self.is_shut:
            return Reason.BUSY, FULL_DISK
        if self.tables.lacks(account, 1):
            self.is_wanted.set()
            return Reason.TOO_MANY_TABLES, _NO_TABLES
        return self._fault_of_bytes(account, TABLE_COST)

    def fault_of_entry(self, account: bytes, waiting: int, size: int) -> Fault | None:
        """Why a table of this account may not have one more entry, None if it may. `waiting`: entries of the table that
        wait for the disk; `size`: their bytes, and this entry's."""
        if self.is_shut:
            return Reason.BUSY, FULL_DISK
        return self._fault_of_bytes(account, size + ENTRY_COST * (waiting + 1))

    def _fault_of_bytes(self, account: bytes, cost: int) -> Fault | None:
        if self.bytes.lacks(account, cost):
            self.is_wanted.set()
            return Reason.BUSY, _NO_BYTES
        return None

    def add_table(self, account: bytes) -> None:
        """Count one more table of an account."""
        self.tables.take(account, 1)
        self.change(account, TABLE_COST)
        self._want()

    def remove_table(self, account: bytes, cost: int) -> None:
        """Count a deleted table of an account. `cost`: the bytes that the table has taken."""
        self.tables.give_back(account, 1)
        self.bytes.give_back(account, cost)

    def change(self, account: bytes, cost: int) -> None:
        """Count bytes that an account's tables take more; less where `cost` is below 0."""
        if cost > 0:
            self.bytes.take(account, cost)
            self._unmeasured += cost
        else:
            self.bytes.give_back(account, -cost)

    def shut(self, error: ForcemoveError) -> None:
        """Take nothing from now on: the disk has refused a write."""
        if not self.is_shut:
            _LOG.error("the disk takes nothing", extra={"facts": {"error": str(error)}})
        self.is_shut = True
        self.is_wanted.set()

    def open(self) -> None:
        """Take tables and entries again: the disk takes writes."""
        _LOG.info("the disk takes posts again", extra={"facts": {}})
        self.is_shut = False

    def _want(self) -> None:
        if self.bytes.is_tight or self.tables.is_tight:
            self.is_wanted.set()


def account_id(address: str) -> bytes:
    """The id of an address' account, stored with each table that was made from the address; 8 bytes, or none."""
    return blake2b(address.encode(), digest_size=8).digest() if address else b""
