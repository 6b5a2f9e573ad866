"""What a follower has read of one channel through one endpoint. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from sys import maxsize

from forcemove.chain.adjudicator import PlacedLog
from forcemove.errors import ForcemoveError
from forcemove.follower.errors import StillReading
from forcemove.follower.follow_request import FollowRequest
from forcemove.follower.on_chain_view import OnChainView
from forcemove.protocol.logs import Deposited, begins_payout
from forcemove.protocol.machine.record import EMPTY_RECORD, Record, fold
from forcemove.protocol.words import Holdings, Status, word_key

Ranges = tuple[tuple[int, int], ...]
"""The first and last number of each of some ranges of blocks."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a channel began: no log of it is in an earlier block than `number`, whose hash was `hash` (32 bytes), empty
    where it is not known."""

    number: int
    hash: bytes = b""


@dataclass(slots=True)
class StatusTime:
    """As of which block statuses that were read together count: by its hash, empty for none."""

    block_hash: bytes = b""


class FollowedChannel:
    """One channel, as of the last block that was read.

    - `record`, `epoch`: what its logs lead to, and how often it was read from its beginning.
    - `logs_after`: the number of the block after which all logs are there, -1 where all are.
    - `missing`: the ranges of blocks, ascending, whose logs are still to be read; what is read meanwhile counts when
      none is left. `is_begun`: whether that was once so.
    - `status`: the adjudicator's own, packed, as of `status_time`; None where it was not read.
    - `wants_holdings`: whether its holdings may have changed since they were read. `credits_due`: the assets of which
      the adjudicator may owe us what could not be pushed, since the channel has paid out.
    - `is_doubted`: whether this may not be the chain on which it began. `is_reread`: whether it was read again since
      its logs did not lead to what the adjudicator says.
    - `error`: why its view is not believed. `has_changed`: whether anything has changed since the last `view`."""

    def __init__(self, request: FollowRequest, open_: dict[bytes, FollowedChannel] | None = None) -> None:
        """`open_`: the channels that are not `is_quiet`, by id; the channel enters itself whenever anything happens."""
        self._open = {} if open_ is None else open_
        self.agreement, self.payee, self.checkpoint = request.agreement, request.payee, request.checkpoint
        self.origin = Origin(request.from_block, request.origin_hash)
        self.id, self._is_new = request.id, request.is_new
        self.word_key = word_key(self.id, request.agreement.fixed_part.asset)
        self.assets = tuple(asset for asset, _ in request.agreement.deposits)
        self.is_doubted, self.is_reread, self.is_begun = request.is_doubted, False, False
        self.epoch = 0
        self.logs_after = -1
        self.missing: Ranges = ()
        self._from_scratch = True
        self._logs: list[PlacedLog] = []
        self._found: list[PlacedLog] = []
        self._holdings: dict[bytes, Holdings] = {}
        self._credits: dict[bytes, int] = {}
        self.wants_holdings, self.holdings_at, self._is_closed = True, -1, False
        self.status: int | None = None
        self.status_time = StatusTime()
        self.error: ForcemoveError | None = None
        self.record: Record = self.checkpoint.record if self.checkpoint else EMPTY_RECORD
        self._status_word = self.record.status.pack()
        self.credits_due = set(self.assets if self.record.payout_begun and self.payee is not None else ())
        self._change()

    def _change(self) -> None:
        self.has_changed = True
        self._open[self.id] = self

    @property
    def reads_from(self) -> int:
        """The block from which the channel's logs are to be read."""
        return self.origin.number if self.checkpoint is None else self.checkpoint.block_number + 1

    def forget(self) -> None:
        """Drop the checkpoint: all logs are to be read."""
        self.checkpoint = None

    # -------------------------------------------------------------------------------------------------------- its logs

    def begin(self, last: int, now: int) -> None:
        """Have the channel's first logs read, those from `reads_from` to block `last`. `now`: block time, seconds."""
        self._from_scratch = self.checkpoint is None
        if self.checkpoint is not None:
            self.logs_after = self.checkpoint.block_number
        self._expect(self.reads_from, last, now)

    def read_again(self, last: int, now: int) -> None:
        """Have all logs read again up to block `last`; what was read before counts until then."""
        self._from_scratch = self.is_reread = True
        self._found = []
        self._expect(self.origin.number, last, now)

    def _expect(self, first: int, last: int, now: int) -> None:
        self._open[self.id] = self
        self.missing = ((first, last),) if first <= last else ()
        self._complete(now)

    def leave_out(self, first: int, last: int) -> None:
        """The logs of these blocks, which follow all others, are to be read later."""
        self._open[self.id] = self
        if not self.missing:
            self._from_scratch = False
        elif self.missing[-1][1] == first - 1:
            first, self.missing = self.missing[-1][0], self.missing[:-1]
        self.missing += ((first, last),)

    def take_new(self, logs: Iterable[PlacedLog], now: int) -> None:
        """Take in the logs of blocks that follow all others."""
        ours = [each for each in logs if self._is_ours(each)]
        if self.missing:
            self._found += ours
        else:
            self.add(ours, now)

    def take_older(self, first: int, last: int, logs: Iterable[PlacedLog], now: int) -> None:
        """Take in the logs of these blocks, as far as they are `missing`."""
        lacking = (each for each in logs if self.is_missing(each.place.block_number, each.place.block_number))
        self._found += filter(self._is_ours, lacking)
        self.missing = _without(self.missing, first, last)
        self._complete(now)

    def is_missing(self, first: int, last: int) -> bool:
        """Whether logs of any of these blocks are still to be read."""
        return any(one <= last and end >= first for one, end in self.missing)

    def _is_ours(self, placed: PlacedLog) -> bool:
        """Whether a log says anything of the channel: anybody may pay in what it has nothing to do with."""
        is_strange = isinstance(placed.log, Deposited) and placed.log.asset not in self.assets
        first = self.origin.number if self._from_scratch else self.reads_from
        return not is_strange and placed.place.block_number >= first

    def _complete(self, now: int) -> None:
        """Where nothing is missing any more, all that was found counts."""
        if self.missing:
            return
        found, self._found = sorted(self._found, key=lambda each: each.place.order), []
        held = None if self.is_begun or self.wants_holdings else self._holdings
        if self._from_scratch:
            self.reset(found, now)
        else:
            self.add(found, now)
        if held is not None and all(each.place.block_number <= self.holdings_at for each in found):
            self._holdings, self.wants_holdings = held, False
        self.is_begun, self._from_scratch = True, False

    def rewind(self, fork: int, now: int) -> None:
        """Another fork has won: what was read after block `fork` does not count any more."""
        self._found = [each for each in self._found if each.place.block_number <= fork]
        self._open[self.id] = self
        was_missing, self.missing = self.missing, _without(self.missing, fork + 1, maxsize)
        self.wants_holdings, self.holdings_at = True, -1
        if self.is_begun:
            self.reset(self._logs_up_to(fork), now, min(self.logs_after, fork))
        if self.is_begun and self.logs_after >= 0:
            self.read_again(fork, now)  # what led to the checkpoint is not known
        elif was_missing:
            self._complete(now)

    def reset(self, logs: Iterable[PlacedLog], now: int, logs_after: int = -1) -> None:
        """Take in all logs of the channel, or those after block `logs_after` where what led to an earlier checkpoint is
        not read again; what was read before does not count."""
        self.logs_after = logs_after
        self._logs, self.wants_holdings = [], True
        self._holdings, self._credits, self.record = {}, {}, EMPTY_RECORD
        self.checkpoint, self.epoch = None, self.epoch + 1
        self._change()
        self.add(logs, now)

    def add(self, logs: Iterable[PlacedLog], now: int) -> None:
        """Take in more logs, in their order."""
        for each in logs:
            self._logs.append(each)
            self.record = fold(self.record, each.log, self.agreement.domain, now)
            self.wants_holdings = True
            self._change()
            if begins_payout(each.log) and self.payee is not None:
                self.credits_due = set(self.assets)
        self._status_word = self.record.status.pack()

    def _logs_up_to(self, block: int) -> list[PlacedLog]:
        return [each for each in self._logs if each.place.block_number <= block]

    # ------------------------------------------------------------------------------------------- what else is taken in

    def take_holdings(self, holdings: Mapping[bytes, Holdings], block: int) -> None:
        """Take in what the channel holds of each asset at the block of this number."""
        if self._holdings != holdings:
            self._change()
        self._holdings, self.wants_holdings, self.holdings_at = dict(holdings), False, block
        self._is_closed = any(each.closed for each in holdings.values())

    def take_credit(self, asset: bytes, amount: int) -> None:
        """Take in how much of an asset could not be pushed to us."""
        if self._credits.get(asset, 0) != amount:
            self._change()
        self._credits[asset] = amount
        self.credits_due.discard(asset)

    def take_status(self, word: int | None, time: StatusTime) -> None:
        """Take in the adjudicator's own status, packed, as of a block; None where it could not be read."""
        if self.status != word:
            self._change()
        self.status, self.status_time = word, time

    def take_error(self, error: ForcemoveError | None) -> None:
        """Take in what is wrong with the channel."""
        if type(error) is not type(self.error):
            self._change()
        self.error = error

    # ------------------------------------------------------------------------------------------- what follows from it

    @property
    def is_live(self) -> bool:
        """Whether anything of the channel is to be asked for."""
        return not self.record.closed or self.wants_holdings or bool(self.missing) or self.error is not None

    @property
    def is_quiet(self) -> bool:
        """Whether there is nothing to be done for the channel until something happens to it."""
        is_read = self.is_begun and not (self.missing or self.wants_holdings or self.credits_due or self.is_doubted)
        return is_read and not (self.has_changed or self.is_reread or self.error) and self.is_sound

    @property
    def is_wrong(self) -> bool:
        """Whether something is wrong with the channel, rather than not read yet."""
        return self.error is not None and not isinstance(self.error, StillReading)

    @property
    def is_known(self) -> bool:
        """Whether the adjudicator itself knows the channel, so that who has named it has not made it up."""
        return bool(self.status) or self._has_held

    @property
    def _has_held(self) -> bool:
        return any(each.is_used for each in self._holdings.values())

    @property
    def is_unheard_of(self) -> bool:
        """Whether the adjudicator has logged nothing of the channel, and has never held anything for it."""
        return not self._logs and self.record.status.is_empty and not self._has_held

    @property
    def was_used_before(self) -> bool:
        """Whether a channel of this id has paid out before we have signed anything."""
        return self._is_new and not self._logs and any(each.payout_begun for each in self._holdings.values())

    @property
    def is_sound(self) -> bool:
        """Whether the logs lead to the adjudicator's own status, and to whether it says that the channel is closed. No
        log says when a channel was concluded, nor what is recorded once it pays out in part."""
        return self._agrees_with_status and (self.wants_holdings or self.record.closed == self._is_closed)

    @property
    def _agrees_with_status(self) -> bool:
        word = self.status
        return word is None or word == self._status_word or self._may_be(Status.unpack(word))

    def _may_be(self, status: Status) -> bool:
        ours = self.record.status
        if self.record.payout_begun and not self.record.closed:
            return status.finalizes_at != 0 and (ours.fingerprint in (0, status.fingerprint))
        return ours == status

    def view(self, at: int) -> OnChainView:
        """The view of the channel as of the block of this number, which has just been read."""
        self.has_changed = False
        return OnChainView(
            self.record,
            tuple(self._logs),
            tuple(sorted((asset, each.amount) for asset, each in self._holdings.items())),
            tuple(sorted(self._credits.items())),
            None if self.status is None or self.record.closed else Status.unpack(self.status),
            at,
            self.epoch,
            self.checkpoint,
            self.error,
            self.logs_after,
        )


def _without(ranges: Ranges, first: int, last: int) -> Ranges:
    """What is left of ranges of blocks without those from `first` to `last`."""
    parts = ((part, (max(one, last + 1), end)) for one, end in ranges for part in [(one, min(end, first - 1))])
    return tuple((one, end) for pair in parts for one, end in pair if one <= end)
