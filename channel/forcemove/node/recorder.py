"""Collects what happens in one channel until the commit that saves the channel takes it along.

Nothing that fails here keeps a channel from being driven: the error is reported, and the history lacks an entry.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from forcemove.chain.adjudicator import PlacedLog
from forcemove.chain.chain import LogPlace, Receipt
from forcemove.errors import ForcemoveError
from forcemove.follower.endpoint_quorum import ShownLogs
from forcemove.history import derivation
from forcemove.history.entries import (
    ConnectionLost,
    ConnectionRestored,
    Entry,
    FaultFound,
    LogIncluded,
    LogPosition,
    LogReorged,
    SignatureAdded,
    StateAccepted,
    TxMined,
    TxRefused,
    kinds_of,
)
from forcemove.history.index import HistoryIndex
from forcemove.history.packing import pack
from forcemove.node import events
from forcemove.protocol.errors import MessageRefused
from forcemove.protocol.machine.channel import Channel
from forcemove.protocol.machine.effects import Submission, operation_name
from forcemove.protocol.machine.inputs import Input, StateReceived
from forcemove.protocol.types import SignedState
from forcemove.store.records import HistoryRow
from forcemove.workers.outbox import evidence_of

_ENTERED = (events.Mined, events.SubmissionRefused, events.CounterpartyFault)
"""The events that come into the history."""
_MAX_FAULTS = 100
"""Faults of one channel that one process enters: many of them drive nothing else out of the history."""


class ChannelRecorder:
    """Of one channel. `has_entries`: whether anything waits for a commit."""

    def __init__(
        self,
        load_index: Callable[[], HistoryIndex],
        on_event: Callable[[events.Event], None],
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`load_index`: the index of the history that the journal has, asked for when it is needed first. `on_event`:
        the owner's. `clock`: our own, Unix seconds."""
        self._load_index, self._on_event, self._clock = load_index, on_event, clock
        self._require_save: Callable[[], None] = lambda: None
        self._wake: Callable[[], None] = lambda: None
        self._loaded: HistoryIndex | None = None
        self._channel: Channel | None = None
        self._entries: list[Entry] = []
        self._written = self._faults = 0
        self._is_connected: bool | None = None
        self._errors: list[Exception] = []

    def attach(self, channel: Channel, require_save: Callable[[], None], wake: Callable[[], None]) -> None:
        """Record for this channel. `require_save`: has it saved though nothing in it has changed; `wake`: has it looked
        at."""
        self._channel, self._require_save, self._wake = channel, require_save, wake

    # ---------------------------------------------------------------------------------------------------- what happens

    def on_step(self, before: Channel, after: Channel, input_: Input) -> None:
        """The machine has taken in an input."""
        self._channel = after
        if before is not after:
            self._attempt(self._enter_step, before, after, input_)

    def on_logs(self, shown: ShownLogs) -> None:
        """Endpoints agree on these logs of the channel; the owner is notified of those that are new, and of those that
        are gone."""
        self._attempt(self._enter_logs, shown)

    def on_event(self, event: events.Event) -> None:
        """Enter what the owner is notified of, and notify the owner. Raises what the owner raises."""
        if isinstance(event, _ENTERED):
            self._attempt(self._enter_event, event)
        self._on_event(event)

    def on_connection(self, connection: Callable[[], tuple[str, bool] | None]) -> None:
        """Look at the messenger's address and whether it is connected, and enter what has changed; before its first
        connection nothing is lost."""
        self._attempt(lambda: self._enter_connection(connection()))

    def is_changed(self, connection: Callable[[], tuple[str, bool] | None]) -> bool:
        """Whether the connection, as of `on_connection`, is not as it was at the last look, or cannot be asked for."""
        try:
            found = connection()
        except Exception:  # reported by `on_connection`
            return True
        return found is not None and found[1] != bool(self._is_connected)

    def _enter_connection(self, connection: tuple[str, bool] | None) -> None:
        if connection is None:
            return
        url, is_connected = connection
        if self._is_connected is False and is_connected:
            self.add(ConnectionRestored(self.now(), url))
        elif self._is_connected and not is_connected:
            self.add(ConnectionLost(self.now(), url))
        if is_connected or self._is_connected is not None:
            self._is_connected = is_connected

    def add(self, entry: Entry) -> None:
        """Enter something that happened around the channel; the journal has it a second later at the latest."""
        self._entries.append(entry)
        self._wake()

    def _enter_step(self, before: Channel, after: Channel, input_: Input) -> None:
        now = self.now()
        states = derivation.state_entries(before, after, now, from_chain=not isinstance(input_, StateReceived))
        self._entries += states  # of which the index knows nothing
        if after.requested is not before.requested and after.requested:
            self._enter(derivation.request_entries(self._index, before, after, now))
        if isinstance(input_, StateReceived) and any(_is_theirs(each, after.index) for each in states):
            self._on_event(events.Received(input_.signed))

    def _enter_logs(self, shown: ShownLogs) -> None:
        placed = [(each.log, _position_of(each.place)) for each in shown.logs]
        found = derivation.log_entries(self._index, placed, shown.after_block, self.now())
        self._enter(found)
        if found:
            self._require_save()
        for each in found:
            match each:
                case LogIncluded(log=log, position=position):
                    self._on_event(events.LogAdded(log, position))
                case LogReorged(log=log, position=position):
                    self._on_event(events.LogRemoved(log, position))

    def _enter_event(self, event: events.Event) -> None:
        match event:
            case events.Mined(submission, receipt):
                self._enter_at_once(derivation.mined_entries(self._index, _mined(self.now(), submission, receipt)))
            case events.SubmissionRefused(submission, error, cost):
                named = (derivation.request_of(submission), operation_name(submission))
                refused = TxRefused(self.now(), *named, type(error).__name__, _facts_of(error), cost)
                self._enter_at_once(derivation.refused_entries(self._index, refused))
            case events.CounterpartyFault(error):
                self._enter_fault(error)

    def _enter_fault(self, error: ForcemoveError) -> None:
        if self._faults >= _MAX_FAULTS:
            return
        self._faults += 1
        message = error.evidence if isinstance(error, MessageRefused) else None
        refused = message if isinstance(message, SignedState) else None
        kind = evidence_of(error).kind
        author = None if self._channel is None else derivation.author_of(self._channel, refused)
        self._enter([FaultFound(self.now(), author, kind, _facts_of(error), refused)])

    # ------------------------------------------------------------------------------------------------- what is written

    @property
    def has_entries(self) -> bool:
        """Whether anything waits for a commit."""
        return bool(self._entries)

    def row(self) -> HistoryRow | None:
        """What the next commit is to add to the history, None for nothing."""
        self._written = len(self._entries)
        if not self._entries:
            return None
        try:
            return HistoryRow(kinds_of(self._entries), pack(self._entries))
        except Exception as error:  # the channel is saved all the same
            self._errors.append(error)
            return None

    def on_written(self) -> None:
        """The last `row` is on disk."""
        del self._entries[: self._written]
        self._written = 0

    def take_errors(self) -> list[Exception]:
        """What has failed since the last call."""
        errors, self._errors = self._errors, []
        return errors

    @property
    def _index(self) -> HistoryIndex:
        if self._loaded is None:
            self._loaded = self._load_index()
        return self._loaded

    def now(self) -> int:
        """The time that entries have: Unix seconds of our own clock."""
        return int(self._clock())

    def _enter_at_once(self, entries: list[Entry]) -> None:
        """Enter what no change of the channel comes with."""
        self._enter(entries)
        if entries:
            self._require_save()
            self._wake()

    def _enter(self, entries: list[Entry]) -> None:
        self._entries += entries
        if self._loaded is not None:
            for each in entries:
                self._loaded.take(each)

    def _attempt(self, part: Callable[..., None], *arguments: object) -> None:
        """Do a part of the recording; what it raises is kept, and changes nothing else."""
        try:
            part(*arguments)
        except Exception as error:
            self._errors.append(error)


def _is_theirs(entry: Entry, index: int) -> bool:
    """Whether this is a counterparty's state or signature."""
    return isinstance(entry, StateAccepted) or (isinstance(entry, SignatureAdded) and entry.participant != index)


def _facts_of(error: ForcemoveError) -> str:
    return evidence_of(error).body.decode(errors="replace")


def _mined(now: int, submission: Submission, receipt: Receipt[PlacedLog]) -> TxMined:
    return TxMined(
        now,
        derivation.request_of(submission),
        operation_name(submission),
        receipt.transaction_hash,
        receipt.block_number,
        receipt.block_hash,
        receipt.gas_used,
        receipt.gas_price,
    )


def _position_of(place: LogPlace) -> LogPosition:
    return LogPosition(place.block_number, place.block_hash, place.transaction_hash, place.log_index)
