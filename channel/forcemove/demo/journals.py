"""The journals of a demonstration's players, one for each, as if each were at home: a run that was cut off loses no
money.

On a chain that outlives the run they are files in the address book's folder, and are deleted when no channel is left in
them.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from forcemove.demo.errors import AlreadyPlaying
from forcemove.game import Game
from forcemove.inspect.journal_channel import JournalChannel, read_journal_channel
from forcemove.node.metadata import ChannelMetadata
from forcemove.protocol.agreement import Agreement
from forcemove.protocol.types import MAX_PARTICIPANTS
from forcemove.store.journal import Journal
from forcemove.store.opening import MEMORY, open_journal
from forcemove.store.private_file import write_private
from forcemove.store.records import (
    OWNER_LENGTH,
    Account,
    Batch,
    ChannelUpdate,
    ExportKind,
    Ownership,
    StoredChannel,
)

__all__ = ["Journals", "UnfinishedChannel", "journal_path"]

_LEASE = 60.0
_ENDINGS = ("", "-wal", "-shm")


def journal_path(book: Path, payer: bytes, seat: int) -> Path:
    """The path of a player's journal: in the address book's folder, other ones for each payer."""
    return book.with_name(f"{book.stem}.demo-{payer[:4].hex()}-{seat}.journal")


@dataclass(frozen=True, slots=True)
class UnfinishedChannel:
    """A channel that is not over. `seats`: the channel in each player's journal, by seat."""

    seats: dict[int, JournalChannel]

    @property
    def first(self) -> JournalChannel:
        """The channel in one of the journals."""
        return next(iter(self.seats.values()))

    @property
    def agreement(self) -> Agreement:
        """What the players have agreed on."""
        return self.first.channel.agreement

    @property
    def metadata(self) -> ChannelMetadata:
        """How the channel is assembled again."""
        return self.first.metadata


class Journals:
    """The journals of one payer and its throw-away counterparties on one chain, or in memory."""

    def __init__(self, book: Path | None = None, account: Account | None = None, games: Sequence[Game] = ()) -> None:
        """`book`: the address book, in whose folder the journals are; None for memory. `account`: the payer's, which no
        other demonstration may use until `close`. `games`: that unfinished channels may be of.

        Raises `AlreadyPlaying`, `JournalError`, and errors of the stored channels.
        """
        self._book, self._account, self._games = book, account, games
        self._opened: dict[int, Journal] = {}
        self.path = journal_path(book, account.address, 0) if book and account else None
        try:
            for seat in range(MAX_PARTICIPANTS):
                if (path := self._path(seat)) is not None and path.exists():
                    self.of(seat)
            self._take()
        except BaseException:
            self._close_all()
            raise

    def _path(self, seat: int) -> Path | None:
        return journal_path(self._book, self._account.address, seat) if self._book and self._account else None

    def _take(self) -> None:
        if self._account is not None and self.path is not None and 0 in self._opened:
            taking = self._opened[0].leases.take([self._account], _LEASE)
            if taking.refused:
                raise AlreadyPlaying(str(self.path))

    def of(self, seat: int) -> Journal:
        """The journal of a seat, made if there is none. Raises `JournalError`, and `AlreadyPlaying`."""
        if seat not in self._opened:
            path = self._path(seat)
            self._opened[seat] = open_journal(str(path) if path else MEMORY, owner=secrets.token_bytes(OWNER_LENGTH))
            if seat == 0:
                self._take()
        return self._opened[seat]

    @property
    def channels(self) -> tuple[UnfinishedChannel, ...]:
        """The channels that are not over, oldest first."""
        found: dict[bytes, dict[int, JournalChannel]] = {}
        for seat, journal in sorted(self._opened.items()):
            for stored in journal.channels(Ownership.ACTIVE):
                found.setdefault(stored.channel_id, {})[seat] = read_journal_channel(stored, self._games)
        return tuple(sorted(map(UnfinishedChannel, found.values()), key=lambda left: left.metadata.from_block))

    def finish(self, channel_id: bytes) -> None:
        """Mark a channel as over: nothing is left in it."""
        for journal, stored in self._having(channel_id):
            journal.commit(Batch((ChannelUpdate(channel_id, stored.version, stored.snapshot, finished=True),)))

    def set_aside(self, channel_id: bytes) -> list[tuple[Path, Path]]:
        """Move a channel, which is not of this chain, to a file for each player; returns each journal with its file."""
        return [_move(journal, channel_id) for journal, _ in self._having(channel_id)]

    def _having(self, channel_id: bytes) -> list[tuple[Journal, StoredChannel]]:
        """The journals in which a channel is not over, each with what it has of it."""
        found = ((journal, journal.load(channel_id)) for journal in self._opened.values())
        return [(journal, stored) for journal, stored in found if stored and stored.ownership is Ownership.ACTIVE]

    def close(self) -> None:
        """Release the journals for the next demonstration; files without open channels are deleted."""
        is_over = not self.channels
        self._close_all()
        if is_over:
            for path in filter(None, map(self._path, range(MAX_PARTICIPANTS))):
                for end in _ENDINGS:
                    path.with_name(path.name + end).unlink(missing_ok=True)

    def _close_all(self) -> None:
        for journal in self._opened.values():
            with contextlib.suppress(Exception):
                journal.leases.release(journal.leases.renew(_LEASE))
            journal.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _move(journal: Journal, channel_id: bytes) -> tuple[Path, Path]:
    place = Path(os.path.relpath(journal.where))
    path = place.with_name(f"{place.stem}.{channel_id[:4].hex()}.export")
    journal.export([channel_id], ExportKind.MOVE, lambda data: write_private(path, data))
    return place, path
