"""What can go wrong with a journal. `where` is its path, or its server and database, never with a password."""

from __future__ import annotations

from forcemove.errors import JournalError, JournalUnavailable, LocalError

# ------------------------------------------------------------------------------------------------------------- opening


class JournalUnusable(JournalError):
    """There can be no journal at this place: its folder is missing, or we have no permission."""

    where: str
    reason: str


class NotAJournal(JournalError):
    """Another program's file or database is at this place. It was left as it is."""

    where: str
    reason: str


class JournalDamaged(JournalError):
    """The journal was damaged: a disk fault, or a copy that is not whole. It was left as it is."""

    where: str
    reason: str


class JournalOfNewerProgram(JournalError):
    """A newer program has written the journal, in format `version`; this one knows formats up to `known`."""

    where: str
    version: int
    known: int


class JournalFileLost(JournalError):
    """A `file` that SQLite keeps beside the journal was removed or replaced while it was in use: what is written from
    now on would be lost with the process. Nothing that was not kept is sent."""

    where: str
    file: str


class PostgresqlMissing(LocalError):
    """The journal is on PostgreSQL, but Python's driver for it, psycopg, cannot be loaded."""

    reason: str


# ------------------------------------------------------------------------------------------------------------- passing


class JournalUnreachable(JournalUnavailable):
    """The database server does not answer, or has ended the connection."""

    where: str
    reason: str


class JournalBusy(JournalUnavailable):
    """Another process has been writing for longer than we wait."""

    where: str
    reason: str


class JournalUnwritable(JournalUnavailable):
    """The journal cannot be written just now: the disk is full, read-only or failing."""

    where: str
    reason: str


# ----------------------------------------------------------------------------------------------------------------- use


class ChannelNotStored(LocalError):
    """The journal has no channel of this id."""

    channel_id: bytes


class AlreadyMoved(LocalError):
    """The channel was moved to another journal: this one signs nothing more in it, and cannot move it again."""

    channel_id: bytes


class ImportRefused(LocalError):
    """The journal has this channel in version `ours`, not older than the file's, which is `theirs`. Nothing of the
    file was taken."""

    channel_id: bytes
    ours: int
    theirs: int


class LeaseNotHeld(LocalError):
    """The lease of this name is not ours: another process has taken it over, or we have never taken it."""

    name: str


class NonceTaken(LocalError):
    """The account has a transaction in flight with this nonce already; only replacing it is possible."""

    account: bytes
    nonce: int


class NotInOutbox(LocalError):
    """The outbox has no request of this number, or not of this account: it has its nonce already."""

    number: int


class NotInFlight(LocalError):
    """The account has no transaction with this nonce in flight that could be replaced."""

    account: bytes
    nonce: int
