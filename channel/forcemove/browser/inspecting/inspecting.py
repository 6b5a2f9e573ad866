"""Inspects what a person asks for, in the games, the chain and the address book of one command."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from forcemove.browser.inspecting.subjects import Subject
from forcemove.chain.book import AddressBook
from forcemove.chain.chain import Chain, answering
from forcemove.errors import LocalError
from forcemove.game import Game
from forcemove.inspect.bare import inspect_bytes, inspect_call, is_call
from forcemove.inspect.deployments import DeploymentReport, inspect_deployment
from forcemove.inspect.game_record import GameRecordFile
from forcemove.inspect.inspection import AnyFile, inspect_channel, inspect_file, inspect_record
from forcemove.inspect.journal_channel import read_journal_channel
from forcemove.protocol.codec.wire import SignedStateFile
from forcemove.store.records import StoredChannel
from forcemove.text.reports import ReportPart, report_parts

_ID = 32


class NoChainNamed(LocalError):
    """32 bytes are a channel's id or a hash, and by themselves say nothing; this command was given no chain."""


class NothingSigned(LocalError):
    """The channel `channel_id` (32 bytes) of an export has no state that was signed yet."""

    channel_id: bytes


class Inspecting:
    """What can be inspected. Its questions to a chain take some seconds where an endpoint hangs."""

    def __init__(self, games: Sequence[Game], chains: Sequence[Chain] = (), book: AddressBook | None = None) -> None:
        """`games`: those that are installed; `chains`: the chain through each endpoint, none without a chain; `book`:
        the chain's address book."""
        self._games, self._chains, self._book = tuple(games), tuple(chains), book

    @property
    def chain_id(self) -> int | None:
        """The chain's id; None without a chain."""
        return self._chains[0].chain_id if self._chains else None

    def inspect(self, subject: Subject) -> tuple[ReportPart, ...]:
        """What can be said of a subject. A file of another chain is inspected without asking a chain. Raises
        `NoChainNamed`, `NothingSigned`, and what the functions of `forcemove.inspect` raise."""
        match subject:
            case SignedStateFile() | GameRecordFile():
                return self._file(subject)
            case bytes() if len(subject) == _ID:
                if not self._chains:
                    raise NoChainNamed()
                return report_parts(inspect_channel(subject, self._games, self._chain(), self._book))
            case bytes():
                return report_parts((inspect_call if is_call(subject) else inspect_bytes)(subject, self._games))
            case _:
                return tuple(self._export(subject))

    def verify(self) -> DeploymentReport:
        """How the address book compares with the chain. Raises `NoChainNamed`, and as `inspect_deployment`."""
        if not self._chains or self._book is None:
            raise NoChainNamed()
        return inspect_deployment(self._chain(), self._book, self._games)

    def _file(self, file: AnyFile) -> tuple[ReportPart, ...]:
        is_here = file.domain.chain_id == self.chain_id
        chain, book = (self._chain(), self._book) if is_here else (None, None)
        inspect_any = (
            partial(inspect_file, file) if isinstance(file, SignedStateFile) else partial(inspect_record, file)
        )
        return report_parts(inspect_any(self._games, chain, book))

    def _export(self, channels: Sequence[StoredChannel]) -> Iterator[ReportPart]:
        """The newest state of each channel; the players' secrets in the file are not shown."""
        for stored in channels:
            found = read_journal_channel(stored, self._games)
            if found.newest_file is None:
                raise NothingSigned(found.id)
            yield from self._file(found.newest_file)

    def _chain(self) -> Chain:
        return answering(self._chains)[0]
