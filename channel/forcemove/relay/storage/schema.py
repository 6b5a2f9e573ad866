"""The tables of a relay's store, and the steps that make them."""

from __future__ import annotations

from dataclasses import dataclass

from forcemove.flow.history import NOTHING_READ
from forcemove.store.migrations import MigrationStep
from forcemove.transport.terms import TableTerms

APPLICATION_ID = 0x464D_524C
"""In the header of every relay's store: "FMRL"."""
ENTRY_COST, TABLE_COST = 160, 1_024
"""Bytes of the store that an entry takes besides its own, and that a table without entries takes."""

_FIRST: MigrationStep = (
    "CREATE TABLE forcemove_journal (version BIGINT NOT NULL)",
    "INSERT INTO forcemove_journal VALUES (0)",
    "CREATE TABLE logs (number {number}, id {bytes} NOT NULL UNIQUE, terms {bytes} NOT NULL, first BIGINT NOT NULL,"
    " dropped BIGINT NOT NULL, touched BIGINT NOT NULL)",
    "CREATE INDEX logs_by_use ON logs (touched)",
    "CREATE TABLE entries (log BIGINT NOT NULL, place BIGINT NOT NULL, author {bytes} NOT NULL, id {bytes} NOT NULL,"
    " entry {bytes} NOT NULL, hash {bytes} NOT NULL, total BIGINT NOT NULL)",
    "CREATE UNIQUE INDEX entries_in_order ON entries (log, place)",
    "CREATE TABLE offers (hash {bytes} NOT NULL PRIMARY KEY, offer {bytes} NOT NULL, signature {bytes} NOT NULL)",
)
_ACCOUNTS: MigrationStep = (
    "ALTER TABLE logs ADD COLUMN account {bytes} NOT NULL DEFAULT x''",
    "ALTER TABLE logs ADD COLUMN is_used BIGINT NOT NULL DEFAULT 1",
    "CREATE INDEX logs_by_account ON logs (account, touched)",
    "CREATE INDEX logs_never_used ON logs (touched) WHERE is_used = 0",
    # Logs whose entries are being deleted, a part at a time.
    "CREATE TABLE leaving (log BIGINT NOT NULL PRIMARY KEY)",
)
_SEATS: MigrationStep = (
    # Offers of older programs name no seats, so that nobody can join them any more.
    "DELETE FROM offers",
)
STEPS: tuple[MigrationStep, ...] = (_FIRST, _ACCOUNTS, _SEATS)
"""The steps that make the SQL tables, see `store.migrations`."""

Entry = tuple[int, int, bytes, bytes, bytes, bytes, int]
"""The log's number, the entry's place in it, its author's address, its id, its bytes, the running hash, and how many
bytes the log has ever had, this entry's among them."""


@dataclass
class StoredLog:
    """A log as it is on disk. `number`: the log's number in the store; `id`: the table's; `first`: the place of the
    oldest entry that is kept; `length`: how many entries there have ever been; `dropped`, `total`: the bytes of those
    that are not kept any more, and of all; `hash`: the running hash over all; `touched`: Unix seconds, when the log was
    last used, to the hour, 0 where it never was; `account`: of the address from which the table was made, empty where
    an older program has made it."""

    number: int
    id: bytes
    table: TableTerms
    first: int
    dropped: int
    touched: int
    length: int = 0
    total: int = 0
    hash: bytes = NOTHING_READ
    account: bytes = b""

    @property
    def size(self) -> int:
        """The bytes of the entries that are kept."""
        return self.total - self.dropped

    @property
    def cost(self) -> int:
        """The bytes of the store that the log takes, about."""
        return TABLE_COST + self.size + ENTRY_COST * (self.length - self.first)
