"""The follower of one adjudicator through one endpoint: it reads the chain once for all channels, and shows each as
this endpoint has it.

A look is a cycle with a budget, never a transaction. What defends comes first, in a few questions whatever the number
of channels: the head, and the adjudicator's own status of each channel, which is shown even where no log could be read.
Then come the logs of new blocks, what channels hold, the older logs of channels that have just been added, and credits.
Each answer counts when it comes, and the next look goes on behind it.

No answer is believed forever. At each new block the statuses are compared with what the logs say of every live
channel: so a log that the endpoint has left out is missed, and the logs are read again. Each block that was seen must
still be there when the next one is seen; where it is not, another fork has won, and all logs after it are read again.

A follower reads up to the confirmation depth and never waits. What it shows is this endpoint's view; `combine` says
what follows from all endpoints' views.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter

from forcemove.chain.adjudicator import Adjudicator
from forcemove.chain.asking import Steps
from forcemove.chain.errors import EndpointFailed, EndpointHangs, NotAnEthereumEndpoint, Unreachable
from forcemove.chain.task_queue import Priority
from forcemove.chain.worker import Look, waiting_for
from forcemove.errors import ForcemoveError, PassingError
from forcemove.follower.blocks import Block, Blocks
from forcemove.follower.contract_views import ContractViews, WatchedStatus
from forcemove.follower.errors import AnotherChain
from forcemove.follower.follow_request import FollowRequest
from forcemove.follower.followed_channel import FollowedChannel, StatusTime
from forcemove.follower.head import Head, HeadReader
from forcemove.follower.log_reader import LogRangeReader
from forcemove.follower.on_chain_view import OnChainView
from forcemove.follower.origins import Origins
from forcemove.follower.shown_channels import ShownChannels
from forcemove.protocol.words import word_key

_CYCLE = 5.0
"""Seconds after which a look asks nothing more that the next one can ask, too."""


@dataclass(frozen=True, slots=True)
class FollowerLook:
    """What one look has found: the head, whether it has changed, and a view of each channel that has changed. `errors`:
    what is wrong with channels. `read_up_to`: the last block up to which everything was read, but for the older logs of
    channels that have just been added; None where there is none. `statuses`: of watched channels, packed, by id.
    `failure`: of a question that the next look asks again."""

    head: Head
    is_new: bool = False
    views: Mapping[bytes, OnChainView] = field(default_factory=dict)
    errors: Mapping[bytes, ForcemoveError] = field(default_factory=dict)
    read_up_to: Block | None = None
    statuses: Mapping[bytes, int] = field(default_factory=dict)
    failure: PassingError | None = None


class Follower:
    """Follows the channels of one adjudicator through one endpoint."""

    def __init__(
        self,
        adjudicator: Adjudicator,
        *,
        confirmations: int = 1,
        clock: Callable[[], float] = time.monotonic,
        pending_every: float = 0.0,
    ) -> None:
        """`confirmations`: how many blocks deep a log must be to be shown; 1 is the newest block. `clock`: seconds that
        go on steadily. `pending_every`: as of `HeadReader`."""
        self.adjudicator, self._confirmations, self._clock = adjudicator, confirmations, clock
        self._followed: dict[bytes, FollowedChannel] = {}
        self._added: dict[bytes, FollowedChannel] = {}
        self._open: dict[bytes, FollowedChannel] = {}
        self._watched: tuple[WatchedStatus, ...] = ()
        self._blocks, self._origins = Blocks(), Origins(adjudicator)
        self._views, self._logs = ContractViews(adjudicator), LogRangeReader(adjudicator)
        self._head_reader = HeadReader(adjudicator.chain, clock, pending_every)
        self._head: Head | None = None
        self._last: Block | None = None
        self._live: dict[bytes, FollowedChannel] = {}
        self._are_live_known = True
        self._settled: Block | None = None
        self._refused: EndpointFailed | None = None
        self._shown_head = self._done_at = b""
        self._elsewhere: dict[bytes, AnotherChain] = {}
        self._shown = ShownChannels(adjudicator, self._open)
        self._turns = 0

    def follow(self, request: FollowRequest) -> None:
        """Follow this channel, with all that is logged; one that is followed already is read from its beginning."""
        followed = FollowedChannel(request, self._open)
        self._followed[followed.id] = self._added[followed.id] = followed
        self._done_at = b""

    def unfollow(self, channel_id: bytes) -> None:
        """Follow this channel no more."""
        for each in (self._followed, self._added, self._elsewhere, self._open):
            each.pop(channel_id, None)
        self._are_live_known = False

    def watch(self, home_assets: Mapping[bytes, bytes]) -> None:
        """Read the statuses of these channels, too, and of no others that are not followed. `home_assets`: by channel
        id."""
        known = {each.id: each for each in self._watched}
        if known.keys() == home_assets.keys():
            return
        self._watched = tuple(
            known.get(id_) or WatchedStatus(id_, word_key(id_, asset)) for id_, asset in home_assets.items()
        )
        self._done_at = b""

    def look(self, uncertain: Collection[bytes] = ()) -> Look[FollowerLook]:
        """Read what is new up to the confirmation depth. `uncertain`: the channels whose holdings are to be read even
        where nothing is logged, since money is to come or go. Ends some seconds after what defends is read; what is
        left then is not a failure, and the next look continues.

        Raises a `ChainError` where the endpoint does not show a head that can be believed, and `EndpointHangs`: then
        this follower may not be used again.
        """
        worker, end = self.adjudicator.chain.worker, self._clock() + _CYCLE
        failure: PassingError | None = None
        try:
            if (yield from waiting_for(worker, self.defend(), Priority.DEFEND)):
                steps = self.catch_up(uncertain)
                yield from waiting_for(worker, steps, Priority.CATCH_UP, lambda: self._clock() >= end)
        except EndpointHangs:
            raise
        except PassingError as error:
            failure = error
        return self.shown(failure)

    # ------------------------------------------------------------------------------------------------ what asks: a look

    def defend(self) -> Steps[bool]:
        """Read the head, the statuses of all live channels, and whether the chain has forked. Returns whether anything
        is left for `catch_up`. Raises `ChainError`."""
        chain, self._head = self.adjudicator.chain, None
        head = yield from self._head_reader.read()
        if head.hash == self._done_at:
            self._head = head
            return False
        last = yield from self._blocks.at(chain, head.number - self._confirmations + 1, head)
        if last is not None:
            yield from self._blocks.require_not_behind(chain, last)
        self._head, self._last, self._refused = head, last, None
        if self._open or not self._are_live_known:
            self._live = {id_: each for id_, each in self._followed.items() if each.is_live}
            self._are_live_known = True
        if last is None:
            self._done_at = head.hash
            return False
        doubted = self._live if any(each.is_doubted for each in self._open.values()) else {}
        if (yield from self._has_no_contract(doubted, head)):
            return False
        try:
            yield from self._read_statuses(last)
        except NotAnEthereumEndpoint:
            self._open |= self._live
            for each in self._live.values():
                each.is_doubted = True
            if (yield from self._has_no_contract(self._live, head)):
                return False
            raise
        if (yield from self._find_fork(last, head.next_time)):
            yield from self._read_statuses(last)
        return True

    def _has_no_contract(self, doubted: Mapping[bytes, FollowedChannel], head: Head) -> Steps[bool]:
        """Whether there is no adjudicator, on a chain on which none of these channels began."""
        self._elsewhere = yield from self._origins.without_contract(tuple(doubted.values()), head)
        if self._elsewhere:
            self._open |= doubted
        return bool(self._elsewhere)

    def _read_statuses(self, last: Block) -> Steps[None]:
        watched: Sequence[WatchedStatus] = self._watched
        asked: Collection[FollowedChannel] = self._live.values()
        if self._views.last_asked == last.hash:
            watched = [each for each in watched if each.status_time.block_hash != last.hash]
            asked = [each for each in asked if each.status_time.block_hash != last.hash or each.is_wrong]
        try:
            yield from self._views.read_statuses([*watched, *asked], last)
        except EndpointFailed as error:  # logs may show as much
            self._refused = error
            for each in asked:
                each.take_status(None, StatusTime())  # an older one is not compared with newer logs

    def _find_fork(self, last: Block, now: int) -> Steps[bool]:
        """Find out whether what was read is still on the chain that ends with this block. Returns whether it is not:
        then a channel that was over may be open again."""
        chain = self.adjudicator.chain
        fork = yield from self._blocks.fork(chain, last)
        is_another = fork is not None and (yield from self._blocks.is_another_chain(chain, last))
        known = [each.checkpoint for each in self._added.values() if each.checkpoint]
        newest = max(known, key=attrgetter("block_number"), default=None)
        is_known = newest is None or (yield from self._blocks.is_there(chain, newest, last))
        yield from self._blocks.take(chain, fork, last)
        if fork is not None:
            self._rewind(fork, now, is_another=is_another)
        if self._logs.read_to < 0:
            self._logs.read_to = last.number
        added, self._added = self._added, {}
        for each in added.values():
            if not is_known:
                each.forget()
            each.begin(self._logs.read_to, now)
        return fork is not None

    def _rewind(self, fork: int, now: int, *, is_another: bool) -> None:
        self._origins.forget()
        self._settled, self._logs.read_to = None, min(self._logs.read_to, fork)
        for each in self._followed.values():
            each.is_doubted = each.is_doubted or is_another
            if each.id not in self._added:
                each.rewind(fork, now)
        self._live = dict(self._followed)
        if fork < 0:
            self._added = dict(self._followed)

    def catch_up(self, uncertain: Collection[bytes]) -> Steps[None]:
        """Read all that `defend` has not, the most urgent first. Ended before its end, it goes on the next time, and
        begins with another part: so none waits behind the others for good. Raises `ChainError`."""
        last, now = self._last, 0 if self._head is None else self._head.next_time
        if last is None:
            return
        for each in self._open.values():
            if each.is_reread and each.is_wrong and not each.missing:
                each.is_reread = False
        uncertain_ids = frozenset(uncertain)
        parts: deque[Callable[[], Steps[bool]]] = deque()
        parts.append(lambda: self._logs.read_new(self._live, last.number, now, self._open.values()))
        parts.append(lambda: self._logs.read_older(tuple(self._open.values()), now))
        if self._refused is None:
            parts.insert(1, lambda: self._read_holdings(last, now, uncertain_ids))
            parts.append(self._read_origins)
            parts.append(lambda: self._read_credits(last))
        parts.rotate(-self._turns)
        self._turns += 1
        is_busy = True
        while is_busy:
            is_busy = False
            for part in parts:
                is_busy = (yield from part()) or is_busy
        self._turns = 0
        if self._refused is None and self._head is not None:
            self._done_at = self._head.hash

    def _read_holdings(self, last: Block, now: int, uncertain: Collection[bytes]) -> Steps[bool]:
        """Read what channels hold where it may have changed, and have those read again whose logs do not lead to what
        the adjudicator says. From then on the block counts as read."""
        open_ = tuple(self._open.values())
        wanting = {each.id: each for each in open_ if each.wants_holdings}
        for each in (self._live[id_] for id_ in uncertain if id_ in self._live):
            if not each.missing and each.holdings_at != last.number:
                wanting[each.id] = each
        yield from self._views.read_holdings(tuple(wanting.values()), last)
        if self._logs.read_to < last.number:
            return bool(wanting)
        doubtful = [each for each in self._open.values() if not (each.missing or each.is_sound or each.is_reread)]
        for each in doubtful:
            each.read_again(last.number, now)
        if not any(each.missing and each.is_begun and not each.is_wrong for each in self._open.values()):
            self._settled = last
        return bool(wanting or doubtful)

    def _read_origins(self) -> Steps[bool]:
        """Find out whether the channels that the adjudicator does not know have begun on this chain."""
        for each in tuple(self._open.values()):
            if not each.is_doubted or each.missing or each.wants_holdings or self._head is None:
                continue
            self._elsewhere.pop(each.id, None)
            error = (yield from self._origins.error_of(each, self._head)) if each.is_unheard_of else None
            if error is None:
                each.is_doubted = False
            else:
                self._elsewhere[each.id] = error
        return False

    def _read_credits(self, last: Block) -> Steps[bool]:
        owed = [each for each in self._open.values() if each.credits_due and not each.missing]
        yield from self._views.read_credits(owed, last)
        return bool(owed)

    # -------------------------------------------------------------------------------------------------- what it shows

    def shown(self, failure: PassingError | None = None) -> FollowerLook:
        """What was found since the last call, whether or not all was asked. `failure`: of one of the questions. Raises
        it, or `Unreachable`, where there is no head."""
        head, last = self._head, self._last
        if head is None:
            raise failure or Unreachable(self.adjudicator.chain.endpoint, "it has not answered yet")
        failure = failure or self._refused
        is_new, self._shown_head = head.hash != self._shown_head, head.hash
        if last is None:
            return FollowerLook(head, is_new, failure=failure)
        views, errors = self._shown.take(last, self._logs.read_to, self._elsewhere)
        if self._shown.has_errors:
            self._done_at = b""
        for each in [each for each in self._open.values() if each.is_quiet]:
            del self._open[each.id]
            self._are_live_known = False
        statuses = {each.id: each.status for each in self._watched if each.status is not None}
        return FollowerLook(head, is_new, views, errors, self._settled, statuses, failure)
