"""All endpoints of one adjudicator's chain: what each shows is kept apart, and what follows from all is returned.

No endpoint counts more than another. All live endpoints agree on what a `ChainUpdate` says; what only some show is in
`ViewsDiffer`. An endpoint that is asked for half a minute and answers nothing is left out of what all must agree on
until it is back; challenges that it has shown are answered all the same. One that answers, and shows no new block, is
not left out: else another one could outrun it with blocks that do not exist.

Until all live endpoints have agreed on a channel it is denied, and until all have answered the time is 0. So it is
again after our own process stood still: where its owner neither begins a look nor takes in any for 5 seconds, while
none may keep it waiting.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter

from forcemove.chain.adjudicator import Adjudicator, PlacedLog
from forcemove.chain.block_time import FAR
from forcemove.errors import ForcemoveError, PassingError
from forcemove.follower.blocks import Block
from forcemove.follower.cross_check import (
    Combined,
    EndpointView,
    combine,
    combined_time,
    is_live,
    wrong_with,
)
from forcemove.follower.endpoint_viewer import EndpointViewer
from forcemove.follower.errors import EndpointContradicted, EndpointsDisagree, TimeInDoubt
from forcemove.follower.follow_request import FollowRequest
from forcemove.follower.reported_channel import ReportedChannel
from forcemove.follower.turns import TurnClock
from forcemove.protocol.machine.inputs import ChainChange, ChainUpdate, CreditSeen, HoldingsSeen, LogSeen, ViewsDiffer
from forcemove.protocol.machine.record import Record

_PENDING_EVERY = 5.0
"""Seconds after which the pending block's time is read again on a chain whose clock nobody moves."""


@dataclass(frozen=True, slots=True)
class ShownLogs:
    """All logs of a channel in the blocks after the one with the number `after_block`, -1 for all there are, as all
    live endpoints agree on them."""

    logs: tuple[PlacedLog, ...]
    after_block: int


@dataclass
class QuorumUpdate:
    """What has changed since the last one. By channel: `updates` and `differences`; `records` and `logs`: what the
    agreed logs lead to, and which they are, for each channel with an update; `channel_errors`: what is wrong by all
    live endpoints' word. `genuine`: the channels whose contracts were found to be genuine; `errors`: those of
    endpoints, to report; `is_new`: whether there is another block; `has_looked`: whether any look was taken in."""

    updates: dict[bytes, ChainUpdate] = field(default_factory=dict)
    records: dict[bytes, Record] = field(default_factory=dict)
    logs: dict[bytes, ShownLogs] = field(default_factory=dict)
    differences: dict[bytes, ViewsDiffer] = field(default_factory=dict)
    channel_errors: dict[bytes, ForcemoveError] = field(default_factory=dict)
    genuine: set[bytes] = field(default_factory=set)
    errors: list[ForcemoveError] = field(default_factory=list)
    is_new: bool = False
    has_looked: bool = False


@dataclass(frozen=True)
class _Judgement:
    """What all endpoints show of a channel. `channel`: what the updates have said after this one; `read`: this one,
    None for none; `combined`: what follows from all views; `rereads`: the viewer that must read all first, or None."""

    channel: ReportedChannel
    read: ChainUpdate | None = None
    combined: Combined = field(default_factory=Combined)
    rereads: EndpointViewer | None = None


class EndpointQuorum:
    """Combines all endpoints of one adjudicator. `viewers`: one for each endpoint; the owner makes their looks, each of
    them `prepare`, `look`, `take`. `uncertain`: the channels whose holdings are to be read even where nothing is
    logged."""

    def __init__(
        self,
        adjudicators: Sequence[Adjudicator],
        confirmations: int,
        clock: Callable[[], float],
        own_time: Callable[[], float] | None = time.time,
    ) -> None:
        """`adjudicators`: the same one through each endpoint of the chain; at least one. `confirmations`: how many
        blocks deep a log must be to be believed. `clock`: seconds that go on steadily. `own_time`: our own clock's
        seconds since 1970; None on a chain whose clock is moved by hand."""
        every = 0.0 if own_time is None else _PENDING_EVERY
        self.viewers = [EndpointViewer(each, confirmations, clock, self._begin_look, every) for each in adjudicators]
        self.uncertain: set[bytes] = set()
        self._own_time, self._turns = own_time, TurnClock(clock)
        self._channels: dict[bytes, ReportedChannel] = {}
        self._timed: set[bytes] = set()
        self._agreed: set[bytes] = set()
        self._live: list[EndpointViewer] = list(self.viewers)
        self._answering: list[EndpointViewer] = []
        self._reported: set[str] = set()
        self._is_time_doubted = False
        self._again: set[bytes] = set()
        self._disputed: set[bytes] = set()

    @property
    def asked(self) -> tuple[bytes, ...]:
        """The channels whose holdings a look is to read even where nothing is logged: those where money is to come or
        go, and those on which endpoints do not agree, for one may have missed the log of a deposit."""
        if not (self.uncertain or self._disputed):  # sets that were large are slow to walk when they are empty
            return ()
        return (*self.uncertain, *(self._disputed - self.uncertain))

    @property
    def time(self) -> int:
        """The block time (seconds) by which deadlines are judged now; 0 before all live endpoints have answered. See
        `combined_time`."""
        times = [each.time if each.has_answered else None for each in self._live or self.viewers]
        return combined_time(times, None if self._own_time is None else int(self._own_time()))

    @property
    def cursor(self) -> Block | None:
        """The last block up to which every live endpoint was read; None where one was not read yet."""
        read = [each.cursor for each in self._live]
        checkpoint = [each for each in read if each is not None]
        return min(checkpoint, key=attrgetter("number")) if checkpoint and len(checkpoint) == len(read) else None

    def follow(self, following: FollowRequest) -> None:
        """Follow this channel; its first update has all that is logged."""
        new, is_known = ReportedChannel(following, checkpoint=following.checkpoint), following.id in self._channels
        self._channels[following.id] = replace(new, differences=None) if is_known else new
        self._agreed.discard(following.id)
        self.uncertain.add(following.id)
        self._again.add(following.id)
        for each in self.viewers:
            each.follow(following)

    def unfollow(self, channel_id: bytes) -> None:
        """Follow this channel no more."""
        self._channels.pop(channel_id, None)
        for ids in (self.uncertain, self._timed, self._agreed, self._again, self._disputed):
            ids.discard(channel_id)
        for each in self.viewers:
            each.unfollow(channel_id)

    # ---------------------------------------------------------------------------------------------------- the update

    def _begin_turn(self, *, is_looking: bool = False) -> None:
        if self._turns.begin(is_looking=is_looking):
            self._agreed, self._again = set(), self._again | self._channels.keys()
            for each in self.viewers:
                each.start_again()

    def _begin_look(self) -> tuple[bytes, ...]:
        self._begin_turn(is_looking=True)
        return self.asked

    def take_in(self) -> QuorumUpdate:
        """What has changed since the last call. Whatever is judged changes nothing; what follows is applied here."""
        self._begin_turn()
        update = QuorumUpdate()
        self._apply_endpoints(update)
        changed, self._again = self._again, set()
        fresh = [each for each in self.viewers if each.has_looked]
        for each in fresh:
            update.is_new = update.is_new or each.is_at_new_head
            changed |= each.take_changed()
        update.has_looked = bool(fresh)
        now = self.time
        concerned = sorted((changed | (self._timed if fresh else set())) & self._channels.keys())
        self._turns.on_work(len(concerned))
        for id_ in concerned:
            self._apply(id_, self._judge(id_, self._channels[id_], now), update)
        is_quiet = not (self.uncertain or self._disputed or self._timed)
        for each in self.viewers:
            each.is_quiet = is_quiet
        for id_ in {id_ for each in fresh for id_ in each.with_errors} & self._channels.keys():
            self._add_errors(id_, update)
        return update

    def _apply_endpoints(self, update: QuorumUpdate) -> None:
        """Where other endpoints are live or have answered than before all channels are combined again; what is wrong is
        reported once."""
        wrong, live, doubt = self._wrong(), [each for each in self.viewers if is_live(each.health())], self._doubt()
        update.errors += [error for endpoint, error in wrong.items() if endpoint not in self._reported]
        self._reported = set(wrong)
        answering = [each for each in live if each.has_answered]
        if (live, answering) != (self._live, self._answering):
            self._live, self._answering = live, answering
            self._again |= self._channels.keys()
        if doubt is not None and not self._is_time_doubted:
            update.errors.append(doubt)
        self._is_time_doubted = doubt is not None

    def _wrong(self) -> dict[str, ForcemoveError]:
        """What is wrong with endpoints, where there is more than one."""
        furthest = max(each.number for each in self.viewers)
        wrong = {each.endpoint: wrong_with(each.health(), furthest) for each in self.viewers}
        return {endpoint: error for endpoint, error in wrong.items() if error is not None and len(self.viewers) > 1}

    def _doubt(self) -> TimeInDoubt | None:
        """The error where an endpoint's time is far from our own."""
        own = None if self._own_time is None else int(self._own_time())
        read = [each for each in self.viewers if each.answered_at is not None]
        far = [each for each in read if own is not None and abs(each.time - own) > FAR]
        return TimeInDoubt(far[0].endpoint, far[0].time, own) if far and own is not None else None

    def _judge(self, id_: bytes, channel: ReportedChannel, now: int) -> _Judgement:
        live = {id(each) for each in self._live}
        views = [_view(each, id_, is_live=id(each) in live) for each in self.viewers]
        combined = combine(views, now, was_agreed=id_ in self._agreed)
        judged = _Judgement(channel) if combined.agreed is None else self._read(id_, channel)
        is_disputed, is_genuine = combined.disagreeing is not None, self._is_genuine(id_, channel)
        after = replace(
            judged.channel, differences=combined.differences, is_disputed=is_disputed, is_genuine=is_genuine
        )
        return replace(judged, channel=after, combined=combined)

    def _is_genuine(self, id_: bytes, channel: ReportedChannel) -> bool:
        """A channel's contracts are genuine when all live endpoints have said so."""
        if channel.following.is_genuine is None or channel.is_genuine or not self._live:
            return channel.is_genuine
        return all(id_ in each.genuine for each in self._live)

    def _apply(self, id_: bytes, judged: _Judgement, update: QuorumUpdate) -> None:
        was, channel, combined = self._channels[id_], judged.channel, judged.combined
        self._channels[id_] = channel
        views = [each.views[id_] for each in self.viewers if id_ in each.views]
        is_timed = any(not each.record.closed and each.shown_status.finalizes_at for each in views)
        (self._timed.add if is_timed else self._timed.discard)(id_)
        (self._disputed.add if combined.agreed is None else self._disputed.discard)(id_)
        if combined.agreed is not None:
            self._agreed.add(id_)
        if judged.rereads is not None:
            judged.rereads.follow(replace(channel.following, checkpoint=None))
        if judged.read is not None and channel.source is not None:
            view = channel.source.views[id_]
            update.updates[id_], update.records[id_] = judged.read, view.record
            update.logs[id_] = ShownLogs(view.logs, view.logs_after)
        if channel.differences != was.differences or channel.is_disputed > was.is_disputed:
            update.differences[id_] = combined.differences
        if combined.disagreeing is not None and not was.is_disputed:
            one, other = combined.disagreeing
            if one is not other:
                at = min(one.read_up_to, other.read_up_to)
                update.errors.append(EndpointsDisagree(one.endpoint, other.endpoint, id_, at))
        if channel.is_genuine and not was.is_genuine:
            update.genuine.add(id_)

    def _add_errors(self, id_: bytes, update: QuorumUpdate) -> None:
        """An error that all live endpoints find is the channel's; else it is one endpoint's word, and is reported."""
        found = [(each, each.errors.get(id_) or each.not_genuine.get(id_)) for each in self._live]
        errors = [(each.endpoint, error) for each, error in found if error is not None]
        if errors and len(errors) == len(found):
            update.channel_errors[id_] = errors[0][1]
            return
        for endpoint, error in errors[:1]:
            is_its_own = isinstance(error, PassingError)
            update.errors.append(error if is_its_own else EndpointContradicted(endpoint, id_, error))

    # --------------------------------------------------------------------------------------------- one channel's update

    def _read(self, id_: bytes, channel: ReportedChannel) -> _Judgement:
        """The update of what all endpoints show: from the viewer of the last update, if its view has no error, else
        from the first without one. Where the update must be from the beginning, and the viewer has read from a
        checkpoint, the viewer reads all first."""
        sound = [each for each in self._live if id_ in each.views and each.views[id_].error is None]
        source = channel.source if channel.source is not None and channel.source in sound else sound[0]
        view = source.views[id_]
        logs, from_scratch = channel.changes_of(source, view)
        if from_scratch and view.checkpoint is not None:
            return _Judgement(channel, rereads=source)
        held, owed = ({}, {}) if from_scratch else (channel.holdings, channel.credits)
        holdings = {asset: amount for asset, amount in view.holdings if held.get(asset) != amount}
        credits_ = {asset: amount for asset, amount in self._credits(id_).items() if owed.get(asset, 0) != amount}
        changes: list[ChainChange] = [LogSeen(each.log) for each in logs]
        changes += [HoldingsSeen(asset, amount) for asset, amount in holdings.items()]
        changes += [CreditSeen(asset, amount) for asset, amount in credits_.items()]
        after = replace(channel, source=source, epoch=view.epoch, logs=view.logs, checkpoint=view.checkpoint)
        after = replace(after, holdings={**held, **holdings}, credits={**owed, **credits_})
        is_any = changes or from_scratch or channel.source is None
        return _Judgement(after, ChainUpdate(tuple(changes), from_scratch) if is_any else None)

    def _credits(self, id_: bytes) -> dict[bytes, int]:
        """By asset, the largest credit that any live endpoint shows: the chain refuses a payment that is not there."""
        found: dict[bytes, int] = {}
        for each in self._live:
            for asset, amount in each.views[id_].credits if id_ in each.views else ():
                found[asset] = max(amount, found.get(asset, 0))
        return found


def _view(viewer: EndpointViewer, channel_id: bytes, *, is_live: bool) -> EndpointView:
    read = -1 if viewer.cursor is None else viewer.cursor.number
    view = viewer.views.get(channel_id)
    return EndpointView(viewer.endpoint, view, read, viewer.time, is_live, viewer.has_answered)
