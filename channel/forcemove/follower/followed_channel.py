"""What a follower has read of one channel through one endpoint. Pure."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass

from forcemove.chain.adjudicator import Adjudicator, ChannelHoldings, PlacedLog
from forcemove.errors import ForcemoveError
from forcemove.follower.on_chain_view import Checkpoint, OnChainView
from forcemove.protocol.agreement import Agreement
from forcemove.protocol.logs import begins_payout
from forcemove.protocol.machine.record import EMPTY_RECORD, Record, fold
from forcemove.protocol.status import Status

__all__ = ["FollowRequest", "FollowedChannel", "Origin"]

IsGenuine = Callable[[Adjudicator], bool]


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a channel began: no log of it is in an earlier block than `number`, whose hash was `hash` (32 bytes), empty
    where it is not known."""

    number: int
    hash: bytes = b""


@dataclass(frozen=True)
class FollowRequest:
    """A channel to be followed.

    - `agreement`: that of the channel.
    - `payee`: the account that we are paid at, 20 bytes; None where credits are not to be read.
    - `from_block`: no log of the channel is in an earlier block.
    - `origin_hash`: the hash of that block, empty where it is not known.
    - `is_doubted`: whether the chain may be another one by now.
    - `is_new`: whether we have signed nothing in it yet, so that none of its id may have paid out.
    - `checkpoint`: what the owner has had already, so that only later logs are read.
    - `is_genuine`: asks an endpoint whether the channel's contracts are genuine, None where that is known.
    - `contracts`: which they are, so that many channels' contracts are asked about once.
    """

    agreement: Agreement
    payee: bytes | None
    from_block: int
    is_new: bool
    origin_hash: bytes = b""
    is_doubted: bool = False
    checkpoint: Checkpoint | None = None
    contracts: Hashable = None
    is_genuine: IsGenuine | None = None

    @property
    def id(self) -> bytes:
        """The channel's id."""
        return self.agreement.channel_id


class FollowedChannel:
    """One channel, as of the last block that was read. `epoch`: how often it was read from its beginning. `is_doubted`:
    whether this may not be the chain on which the channel began. `status`: the adjudicator's own, packed, None where it
    was not read. `has_changed`: whether anything has changed since the last `view`. `logs_after`: the number of the
    block after which all logs are there, -1 where all are. `wants_credits`: whether it has paid out since credits were
    read, so that the adjudicator may owe us what could not be pushed."""

    def __init__(self, request: FollowRequest) -> None:
        self.agreement, self.payee, self.checkpoint = request.agreement, request.payee, request.checkpoint
        self.origin = Origin(request.from_block, request.origin_hash)
        self.id, self._is_new = request.id, request.is_new
        self.assets = tuple(asset for asset, _ in request.agreement.deposits)
        self.is_doubted = request.is_doubted
        self.epoch, self.has_changed = 0, True
        self.logs_after = -1
        self._logs: list[PlacedLog] = []
        self._unread: list[PlacedLog] = []
        self._is_unread = True
        self._holdings: dict[bytes, ChannelHoldings] = {}
        self._credits: dict[bytes, int] = {}
        self.status: int | None = None
        self._error: ForcemoveError | None = None
        self.record: Record = self.checkpoint.record if self.checkpoint else EMPTY_RECORD
        self._status_word = self.record.status.pack()
        self.wants_credits = self.record.payout_begun

    @property
    def reads_from(self) -> int:
        """The block from which the channel's logs are to be read."""
        return self.origin.number if self.checkpoint is None else self.checkpoint.block_number + 1

    def forget(self) -> None:
        """Drop the checkpoint: all logs are to be read."""
        self.checkpoint = None

    # --------------------------------------------------------------------------------------------- what is taken in

    def begin(self, logs: Iterable[PlacedLog], now: int) -> None:
        """Take in the channel's first logs, those from `reads_from` on. `now`: block time, seconds."""
        if self.checkpoint is None:
            self.reset(logs, now)
        else:
            self.logs_after = self.checkpoint.block_number
            self.add((each for each in logs if each.place.block_number >= self.reads_from), now)

    def reset(self, logs: Iterable[PlacedLog], now: int, logs_after: int = -1) -> None:
        """Take in all logs of the channel, or those after block `logs_after` where what led to an earlier checkpoint is
        not read again; what was read before does not count."""
        self.logs_after = logs_after
        self._logs, self._unread, self._is_unread = [], [], True
        self._holdings, self._credits, self.record = {}, {}, EMPTY_RECORD
        self.checkpoint, self.epoch, self.has_changed = None, self.epoch + 1, True
        self.add(logs, now)

    def add(self, logs: Iterable[PlacedLog], now: int) -> None:
        """Take in more logs, in their order."""
        for each in logs:
            self._logs.append(each)
            self._unread.append(each)
            self.record = fold(self.record, each.log, self.agreement.domain, now)
            self.has_changed = True
            self.wants_credits = self.wants_credits or begins_payout(each.log)
        self._status_word = self.record.status.pack()

    def logs_up_to(self, block: int) -> list[PlacedLog]:
        """The logs that are in this block or an earlier one."""
        return [each for each in self._logs if each.place.block_number <= block]

    def take_holdings(self, asset: bytes, holdings: ChannelHoldings) -> None:
        """Take in what the channel holds of an asset."""
        self.has_changed = self.has_changed or self._holdings.get(asset) != holdings
        self._holdings[asset] = holdings

    def take_credit(self, asset: bytes, amount: int) -> None:
        """Take in how much of an asset could not be pushed to us."""
        self.has_changed = self.has_changed or self._credits.get(asset, 0) != amount
        self._credits[asset] = amount

    def take_status(self, word: int) -> None:
        """Take in the adjudicator's own status, packed, where it is not `status`."""
        self.status, self.has_changed = word, True

    def take_error(self, error: ForcemoveError | None) -> None:
        """Take in what is wrong with the channel in this look."""
        self.has_changed = self.has_changed or (error is None) != (self._error is None)
        self._error = error

    # ------------------------------------------------------------------------------------------- what follows from it

    @property
    def wants_holdings(self) -> bool:
        """Whether the channel's holdings may have changed: logs were read, or nothing was read yet."""
        return self._is_unread or bool(self._unread)

    @property
    def is_unheard_of(self) -> bool:
        """Whether the adjudicator has logged nothing of the channel, and has never held anything for it."""
        has_held = any(each.held or each.payout_begun or each.closed for each in self._holdings.values())
        return not self._logs and self.record.status.is_empty and not has_held

    @property
    def was_used_before(self) -> bool:
        """Whether a channel of this id has paid out before we have signed anything."""
        return self._is_new and not self._logs and any(each.payout_begun for each in self._holdings.values())

    def agrees_with(self, word: int) -> bool:
        """Whether the logs lead to the adjudicator's own status (packed). No log says when a channel was concluded, nor
        what is recorded once it pays out in part."""
        return word == self._status_word or self._may_be(Status.unpack(word))

    def _may_be(self, status: Status) -> bool:
        ours = self.record.status
        if self.record.payout_begun and not self.record.closed:
            return status.finalizes_at != 0 and (ours.fingerprint in (0, status.fingerprint))
        return ours == status

    @property
    def agrees_with_holdings(self) -> bool:
        """Whether the logs and the adjudicator agree on whether the channel is closed."""
        return self.record.closed == any(each.closed for each in self._holdings.values())

    def view(self, at: int) -> OnChainView:
        """The view of the channel as of the block of this number, which has just been read."""
        if self._error is None:
            self._unread, self._is_unread = [], False
        self.has_changed = False
        return OnChainView(
            self.record,
            tuple(self._logs),
            tuple(sorted((asset, each.held) for asset, each in self._holdings.items())),
            tuple(sorted(self._credits.items())),
            None if self.status is None or self.record.closed else Status.unpack(self.status),
            at,
            self.epoch,
            self.checkpoint,
            self._error,
            self.logs_after,
        )
