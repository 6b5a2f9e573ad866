"""What one endpoint shows of one channel: a value. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from forcemove.chain.adjudicator import PlacedLog
from forcemove.errors import ForcemoveError
from forcemove.follower.errors import StillReading
from forcemove.protocol.machine.record import Record
from forcemove.protocol.words import Mode, Status


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What is known of a channel from before: all logs up to and with the block of this number and hash (32 bytes) have
    led to `record`."""

    block_number: int
    block_hash: bytes
    record: Record


@dataclass(frozen=True, slots=True)
class OnChainView:
    """One channel at the endpoint's confirmation depth.

    `record`: what `logs` lead to, all of them or, where `checkpoint` is not None, those after it. `holdings`,
    `credits`: by asset, in its smallest unit, sorted. `status`: the adjudicator's own, None where it was not read.
    `at`: the block that was read last when something had changed. `epoch`: another number where the channel was read
    from its beginning again. `error`: why nothing of this view is believed but that a clock runs; None where there is
    no error. `logs_after`: the number of the block after which `logs` has all that there are; -1 where it has all.
    """

    record: Record
    logs: tuple[PlacedLog, ...] = ()
    holdings: tuple[tuple[bytes, int], ...] = ()
    credits: tuple[tuple[bytes, int], ...] = ()
    status: Status | None = None
    at: int = 0
    epoch: int = 0
    checkpoint: Checkpoint | None = None
    error: ForcemoveError | None = None
    logs_after: int = -1

    @property
    def shown_status(self) -> Status:
        """The adjudicator's own status, since the endpoint may leave out a log; that of the logs where it was not
        read."""
        return self.record.status if self.status is None else self.status

    def shows_clock(self, time: int) -> bool:
        """Whether a challenge runs at this block time (seconds), by a log or by the status alone."""
        if self.record.closed:
            return False
        is_running = self.shown_status.mode(time) is Mode.CHALLENGE
        return is_running or (not self.record.payout_begun and self.logged_status.mode(time) is Mode.CHALLENGE)

    @property
    def logged_status(self) -> Status:
        """The status that the logs lead to; the adjudicator's own while not all logs up to it are read."""
        is_behind = isinstance(self.error, StillReading)
        return self.shown_status if is_behind else self.record.status

    def is_payable(self, time: int) -> bool:
        """Whether the channel is final at this block time (seconds), and holds something that the outcome allocates."""
        record = self.record
        is_final = record.payout_begun or record.status.mode(time) is Mode.FINALIZED
        return is_final and record.owed is not None and any(held for _, held in self.holdings)

    def shows_the_same_as(self, other: OnChainView) -> bool:
        """Whether both views show the same record and the same holdings. Their logs may differ: one may lack a log that
        changes nothing any more. Credits may differ, too: the largest counts."""
        return _recorded(self.record) == _recorded(other.record) and self.holdings == other.holdings


def _recorded(record: Record) -> tuple[object, ...]:
    """The part of a record that views must agree on. Without the status once the payout has begun: no log says when the
    channel was concluded, so that each view has its own time."""
    status = None if record.payout_begun else record.status
    return status, record.recorded, record.owed, record.payout_begun, record.closed, record.concluded
