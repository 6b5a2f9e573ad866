"""How the tables are made and changed: steps forward, each of them made once and never altered afterwards.

A journal's format is the number of steps that it has taken. A new step goes to the end of `STEPS`, and `schema` has the
tables after the last one.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, inspect, select

from forcemove.store.errors import JournalOfNewerProgram, NotAJournal
from forcemove.store.schema import METADATA, VERSIONS

MigrationStep = Sequence[str]
"""Statements; what differs between databases is in braces: the types `{bytes}` and `{number}`, a key that grows by
itself; `{row}`, such a key whose values may come back once its table is empty; and `{postgresql}`, which begins a
statement for PostgreSQL alone: on SQLite it is a comment."""

_TYPES = {
    "sqlite": {
        "bytes": "BLOB",
        "number": "INTEGER PRIMARY KEY AUTOINCREMENT",
        "row": "INTEGER PRIMARY KEY",
        "postgresql": "--",
    },
    "postgresql": {
        "bytes": "BYTEA",
        "number": "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
        "row": "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
        "postgresql": "",
    },
}

_FIRST: MigrationStep = (
    "CREATE TABLE forcemove_journal (version BIGINT NOT NULL)",
    "INSERT INTO forcemove_journal VALUES (0)",
    "CREATE TABLE channels (id {bytes} NOT NULL PRIMARY KEY, version BIGINT NOT NULL, standing BIGINT NOT NULL,"
    " snapshot {bytes} NOT NULL, checksum BIGINT NOT NULL)",
    # Compressing snapshots takes as long as writing them.
    "{postgresql} ALTER TABLE channels ALTER COLUMN snapshot SET STORAGE EXTERNAL",
    "CREATE TABLE origins (channel_id {bytes} NOT NULL PRIMARY KEY, about {bytes} NOT NULL, checksum BIGINT NOT NULL)",
    "CREATE TABLE seeds (name {bytes} NOT NULL PRIMARY KEY, seed {bytes} NOT NULL, checksum BIGINT NOT NULL)",
    "CREATE TABLE evidence (number {number}, channel_id {bytes} NOT NULL, kind TEXT NOT NULL, body {bytes} NOT NULL,"
    " checksum BIGINT NOT NULL)",
    "CREATE INDEX evidence_of_a_kind ON evidence (channel_id, kind, number)",
    "CREATE TABLE cursors (chain_id TEXT NOT NULL, adjudicator {bytes} NOT NULL, body {bytes} NOT NULL,"
    " checksum BIGINT NOT NULL, PRIMARY KEY (chain_id, adjudicator))",
    "CREATE TABLE transactions (chain_id TEXT NOT NULL, account {bytes} NOT NULL, nonce BIGINT NOT NULL,"
    " body {bytes} NOT NULL, channel_id {bytes}, checksum BIGINT NOT NULL, PRIMARY KEY (chain_id, account, nonce))",
    "CREATE TABLE wanted (number {number}, chain_id TEXT NOT NULL, account {bytes} NOT NULL, body {bytes} NOT NULL,"
    " channel_id {bytes}, checksum BIGINT NOT NULL)",
    "CREATE INDEX wanted_of_an_account ON wanted (chain_id, account, number)",
    "CREATE TABLE leases (name TEXT NOT NULL PRIMARY KEY, owner {bytes} NOT NULL, until BIGINT NOT NULL)",
)

_WATCHTOWERS: MigrationStep = (
    "CREATE TABLE hand_overs (chain_id TEXT NOT NULL, account {bytes} NOT NULL, channel_id {bytes} NOT NULL,"
    " client {bytes} NOT NULL, body {bytes} NOT NULL, checksum BIGINT NOT NULL,"
    " PRIMARY KEY (chain_id, account, channel_id, client))",
    "CREATE TABLE spent (chain_id TEXT NOT NULL, account {bytes} NOT NULL, nonce BIGINT NOT NULL,"
    " client {bytes} NOT NULL, wei TEXT NOT NULL, checksum BIGINT NOT NULL, PRIMARY KEY (chain_id, account, nonce))",
)

_CURSORS_AND_CLOCKS: MigrationStep = (
    "ALTER TABLE channels ADD COLUMN reached {bytes}",
    "ALTER TABLE leases ADD COLUMN lasts BIGINT",
)

_MEETINGS: MigrationStep = (
    "CREATE TABLE meetings (id {bytes} NOT NULL PRIMARY KEY, body {bytes} NOT NULL, checksum BIGINT NOT NULL)",
)

_HISTORY: MigrationStep = (
    # A commit appends one row for all its channels; when there is time, it is taken apart into the other table.
    "CREATE TABLE recent_history (number {row}, parts BIGINT NOT NULL, body {bytes} NOT NULL,"
    " checksum BIGINT NOT NULL)",
    "CREATE TABLE history (channel_id {bytes} NOT NULL, number BIGINT NOT NULL, kinds BIGINT NOT NULL,"
    " body {bytes} NOT NULL, checksum BIGINT NOT NULL, PRIMARY KEY (channel_id, number))",
)

_SUMMARIES: MigrationStep = (
    "ALTER TABLE channels ADD COLUMN summary {bytes}",
    "ALTER TABLE channels ADD COLUMN summary_checksum BIGINT",
    "ALTER TABLE origins ADD COLUMN profile {bytes}",
    "ALTER TABLE origins ADD COLUMN profile_checksum BIGINT",
)

_SEATS: MigrationStep = (
    # Offers and joins have other hashes now, so that those who met by older programs would not find each other. A game
    # that has begun in a channel goes on: it is among the channels.
    "DELETE FROM meetings",
)

_CONCLUDED: MigrationStep = ()  # older programs do not know `Record.concluded`, which channels may have

_NAMES: MigrationStep = (
    "ALTER TABLE channels RENAME COLUMN standing TO ownership",
    "ALTER TABLE channels RENAME COLUMN reached TO cursor",
    "ALTER TABLE origins RENAME COLUMN about TO metadata",
    "ALTER TABLE wanted RENAME TO outbox",
    "ALTER TABLE hand_overs RENAME TO appointments",
)

_PLAYERS: MigrationStep = ()  # older programs do not know the names of a channel's players

_PUT_AWAY: MigrationStep = ()  # older programs know no channels that are put away

STEPS: tuple[MigrationStep, ...] = (
    *(_FIRST, _WATCHTOWERS, _CURSORS_AND_CLOCKS, _MEETINGS, _HISTORY, _SUMMARIES, _SEATS, _CONCLUDED, _NAMES, _PLAYERS),
    _PUT_AWAY,
)

_UNUSED = {"cursors"}
"""Tables that the steps make, and nothing is kept in any more."""


def format_of(connection: Connection, where: str) -> int:
    """The number of steps that a journal has taken, 0 where there is none yet.

    Raises `NotAJournal` where our tables are there without a version: they are somebody else's.
    """
    tables = set(inspect(connection).get_table_names())
    if VERSIONS.name not in tables:
        foreign = sorted(tables & (METADATA.tables.keys() | _UNUSED))
        if foreign:
            raise NotAJournal(where, f"it has tables of another program: {', '.join(foreign)}")
        return 0
    versions = connection.scalars(select(VERSIONS.c.version)).all()
    if len(versions) != 1 or type(versions[0]) is not int:
        raise NotAJournal(where, "its table forcemove_journal does not have one version")
    return versions[0]


def bring_up_to_date(connection: Connection, where: str, steps: Sequence[MigrationStep] = STEPS) -> None:
    """Take the steps that a journal has not taken yet; the caller commits. Raises `JournalOfNewerProgram`."""
    taken = format_of(connection, where)
    if taken > len(steps):
        raise JournalOfNewerProgram(where, taken, len(steps))
    for step in steps[taken:]:
        for statement in step:
            connection.exec_driver_sql(statement.format_map(_TYPES[connection.dialect.name]))
    if taken < len(steps):
        connection.execute(VERSIONS.update().values(version=len(steps)))
