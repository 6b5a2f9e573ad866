"""The journal: one commit for what many channels must not forget, and what is read back after a restart."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from types import TracebackType

from forcemove.errors import InvalidValue
from forcemove.protocol.types import require_bytes
from forcemove.store import channels, evidence, history, pruning, records, transfer
from forcemove.store.database import Database
from forcemove.store.leases import Leases
from forcemove.store.meetings import Meetings
from forcemove.store.towers import Towers
from forcemove.store.transactions import Transactions

MAX_TABLE_NAME = 128


class Journal:
    """What a process must not forget. Threads may use a journal at once: they take turns. `owner`: of the leases that
    this process takes.

    Every method may raise a `JournalError`. After a `JournalUnavailable` no commit is half-written, but it may be there
    or not: `versions` tells, before the next commit.
    """

    def __init__(self, database: Database, owner: bytes) -> None:
        """See `opening.open_journal`."""
        self._database, self.owner = database, owner
        self.leases = Leases(database, owner)
        self.transactions = Transactions(database, owner)
        self.towers = Towers(database, owner)
        self.meetings = Meetings(database)

    @property
    def where(self) -> str:
        """The journal's path, or its server and database."""
        return self._database.where

    def close(self) -> None:
        """Give the connection back. Leases stay until they expire: release them first."""
        self.leases.close()
        self._database.close()

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def commit(self, batch: records.Batch) -> frozenset[bytes]:
        """Commit a batch, in one transaction that is on disk when this returns.

        Returns the ids of channels that were dropped, with all that belongs to them: they have another version by now,
        or were moved away. The driver of such a channel has to stop, and to load the channel again once its lease is
        taken again.
        """
        with self._database.writing() as connection:
            saved = channels.save(connection, batch.channels)
            evidence.put(connection, [(each.channel_id, piece) for each in saved for piece in each.evidence])
            history.append(connection, [(each.channel_id, each.history) for each in saved if each.history is not None])
        return frozenset(each.channel_id for each in batch.channels) - {each.channel_id for each in saved}

    def load(self, channel_id: bytes) -> records.StoredChannel | None:
        """A channel as it was saved last, or None."""
        with self._database.reading() as connection:
            return channels.load(connection, self.where, channel_id)

    def load_many(self, ids: Collection[bytes]) -> dict[bytes, records.StoredChannel]:
        """Those of these channels that the journal has, by their ids, in a few queries. A damaged one is left out:
        `load` says so."""
        with self._database.reading() as connection:
            return channels.load_many(connection, self.where, ids)

    def channels(self, *ownerships: records.Ownership) -> tuple[records.StoredChannel, ...]:
        """The channels of these ownerships, of all where none is given, by their ids.

        One that is damaged raises: `ids` and `load` reach the others.
        """
        with self._database.reading() as connection:
            return channels.load_all(connection, self.where, ownerships or tuple(records.Ownership))

    def summaries(self) -> tuple[records.StoredSummary, ...]:
        """All channels as a list needs them, by their ids: without decoding them, and with those that are damaged."""
        with self._database.reading() as connection:
            return channels.summaries(connection)

    def ids(self, *ownerships: records.Ownership) -> tuple[bytes, ...]:
        """The ids of the channels of these ownerships, of all where none is given, in order."""
        with self._database.reading() as connection:
            return channels.ids_of(connection, ownerships or tuple(records.Ownership))

    def versions(self, ids: Collection[bytes]) -> dict[bytes, int]:
        """The present versions of those channels that the journal has."""
        with self._database.reading() as connection:
            return channels.versions_of(connection, ids)

    def keep_seed(self, table: bytes, seed: bytes) -> bytes:
        """Store the seed (32 random bytes) of a table that is not a channel; returns the one that counts, which is an
        earlier one if there is one. `table`: its name, 1 to 128 bytes."""
        if not 0 < len(table) <= MAX_TABLE_NAME:
            raise InvalidValue("table", table, f"1 to {MAX_TABLE_NAME} bytes")
        require_bytes("seed", seed, records.SEED_LENGTH)
        with self._database.writing() as connection:
            return channels.keep_seed(connection, self.where, table, seed)

    def export(
        self,
        ids: Sequence[bytes],
        kind: records.ExportKind,
        write: Callable[[bytes], object] = lambda _: None,
        *,
        has_history: bool = True,
    ) -> bytes:
        """The bytes of a file with these channels and players' secrets: keep it as private as the journal itself.

        A move marks the channels as moved before this returns: nothing is committed for them here any more. `write`: is
        called with the bytes before that; an error that it raises undoes the export. `has_history`: whether what has
        happened in the channels goes with them: it defends nothing. Raises `ChannelNotStored`, and `AlreadyMoved`.
        """
        with self._database.writing() as connection:
            data = transfer.export(connection, self.where, ids, kind, has_history=has_history)
            write(data)
            return data

    def import_(self, data: bytes) -> tuple[bytes, ...]:
        """Take the channels of a file, all or none; returns their ids.

        Channels of a move may be played on. Those of a backup sign nothing: later states are not known here. Raises
        `ImportRefused` where the journal has one in a version that is not older, `MalformedBytes`, `UnknownVersion`.
        """
        with self._database.writing() as connection:
            return transfer.import_(connection, data)

    def evidence(self, channel_id: bytes | None = None) -> tuple[records.StoredEvidence, ...]:
        """The evidence of a channel, or of all, oldest first."""
        with self._database.reading() as connection:
            return evidence.load(connection, self.where, channel_id)

    def history(self, channel_id: bytes, kinds: int = history.ALL_KINDS) -> records.StoredHistory:
        """What has happened in a channel, oldest first: the newest 10,000 rows. `kinds`: as of `HistoryRow`; only rows
        that have any of these are given."""
        with self._database.reading() as connection:
            return history.load(connection, channel_id, kinds)

    def leftovers(self, ids: Collection[bytes]) -> dict[bytes, tuple[int, int]]:
        """Of those of these channels that have any, how many rows of history and evidence there are, and how many bytes
        they have."""
        with self._database.reading() as connection:
            return pruning.leftovers(connection, ids)

    def prune(self, updates: Sequence[records.ChannelUpdate]) -> frozenset[bytes]:
        """Save finished channels as they are to stay, and delete their histories and evidence. Returns the ids of those
        that were pruned: one of another version, or with a transaction to be sent, is left as it is."""
        with self._database.writing() as connection:
            return pruning.prune(connection, updates)

    def compact(self) -> None:
        """Give the room of what was deleted back to the system, where the journal is a file; servers do so themselves.
        Raises `JournalBusy` where another process is in the way."""
        self._database.compact()

    def gather_history(self) -> bool:
        """Move some of what commits have appended to histories to where it is found quickly; returns whether there is
        more. It takes some milliseconds."""
        with self._database.writing() as connection:
            return history.gather(connection)
