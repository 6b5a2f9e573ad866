"""The follower of one adjudicator through one endpoint: it reads the chain once for all channels, and shows each as
this endpoint has it.

No answer is believed for ever. At each new block the adjudicator's own statuses, `statusesOf`, are compared with what
the logs say of every live channel: so a log that the endpoint has left out is missed, and the logs are read again. Each
block that was read must still be there when the next one is read; where it is not, another fork has won, and all logs
after the fork are read again.

A follower reads up to the confirmation depth, never waits, and loses nothing when a request fails: the next `look` goes
on. What it shows is this endpoint's view; `combine` says what follows from all endpoints' views.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from operator import attrgetter

from forcemove.chain.adjudicator import Adjudicator, PlacedLog
from forcemove.chain.rpc import making_sense
from forcemove.errors import ForcemoveError, PassingError
from forcemove.follower import contract_views
from forcemove.follower.blocks import Block, Blocks
from forcemove.follower.errors import HeadTooFar, LogsLeftOut
from forcemove.follower.followed_channel import FollowedChannel, FollowRequest
from forcemove.follower.head import Head, read_head
from forcemove.follower.on_chain_view import OnChainView
from forcemove.follower.origins import Origins
from forcemove.protocol.errors import ChannelIdUsed
from forcemove.protocol.logs import channel_of

__all__ = ["Follower", "FollowerLook"]

_RANGE = 5_000
"""How many blocks of logs are asked for at once."""
_FARTHEST = 10**9
"""The most blocks that are read: more than any chain has."""


@dataclass(frozen=True, slots=True)
class FollowerLook:
    """What one look has found: the head, whether it has changed, and a view of each channel that has changed. `errors`:
    what is wrong with channels in this look. `read_up_to`: the last block that was read, None where none was.
    `failure`: of a question that was asked after the logs were read, and that the next look asks again."""

    head: Head
    is_new: bool = False
    views: Mapping[bytes, OnChainView] = field(default_factory=dict)
    errors: Mapping[bytes, ForcemoveError] = field(default_factory=dict)
    read_up_to: Block | None = None
    failure: PassingError | None = None


class Follower:
    """Follows the channels of one adjudicator through one endpoint."""

    def __init__(self, adjudicator: Adjudicator, *, confirmations: int = 1) -> None:
        """`confirmations`: how many blocks deep a log must be to be shown; 1 is the newest block."""
        self.adjudicator, self._confirmations = adjudicator, confirmations
        self._followed: dict[bytes, FollowedChannel] = {}
        self._new: dict[bytes, FollowedChannel] = {}
        self._blocks = Blocks()
        self._looked_at: bytes | None = None
        self._is_unsettled = False
        self._gathered: dict[int, list[PlacedLog]] = {}
        self._with_errors: set[bytes] = set()

    def follow(self, request: FollowRequest) -> None:
        """Follow this channel, with all that is logged; one that is followed already is read from its beginning."""
        followed = FollowedChannel(request)
        self._followed.pop(followed.id, None)
        self._new[followed.id] = followed
        self._gathered = {}

    def unfollow(self, channel_id: bytes) -> None:
        """Follow this channel no more."""
        self._followed.pop(channel_id, None)
        self._new.pop(channel_id, None)

    def look(self, uncertain: Collection[bytes] = ()) -> FollowerLook:
        """Read the new blocks up to the confirmation depth. `uncertain`: the channels whose holdings are to be read
        even where nothing is logged, since money is to come or go.

        Raises a `ChainError` where the endpoint fails.
        """
        with making_sense(self.adjudicator.chain.endpoint):
            return self._look(uncertain)

    def _look(self, uncertain: Collection[bytes]) -> FollowerLook:
        head = read_head(self.adjudicator.chain)
        is_new = head.hash != self._looked_at
        if not self._new and not self._is_unsettled and not is_new:
            return FollowerLook(head)
        last = self._blocks.at(self.adjudicator.chain, head.number - self._confirmations + 1, head)
        if last is None:
            self._looked_at = head.hash
            return FollowerLook(head, is_new)
        self._read_logs(last, head.next_time)
        errors, failure = self._ask(last, head, uncertain)
        for id_ in self._followed.keys() & (errors.keys() | self._with_errors):
            self._followed[id_].take_error(errors.get(id_))
        self._with_errors = set(errors)
        views = {id_: each.view(last.number) for id_, each in self._followed.items() if each.has_changed}
        self._looked_at, self._is_unsettled = head.hash, bool(errors or failure)
        shown = {id_: error for id_, error in errors.items() if error is not failure}
        return FollowerLook(head, is_new, views, shown, None if failure else last, failure)

    # -------------------------------------------------------------------------------------------------------- the logs

    def _read_logs(self, last: Block, now: int) -> None:
        """Up to and with the last block. What is known is changed only when everything was read."""
        chain = self.adjudicator.chain
        self._blocks.require_not_behind(chain, last)
        fork = self._blocks.fork(chain, last)
        self._forget_what_is_gone(fork, last)
        begin = [each.reads_from for each in self._new.values()] + ([fork + 1] if self._followed else [])
        logs = self._logs_by_channel(min(begin, default=last.number + 1), last.number)
        later = {id_: [each for each in found if each.place.block_number > fork] for id_, found in logs.items()}
        if self._blocks.has_forked(fork):
            for id_, followed in self._followed.items():
                standing = [*followed.logs_up_to(fork), *later.get(id_, ())]
                followed.reset(standing, now, min(followed.logs_after, fork))
        else:
            for id_ in later.keys() & self._followed.keys():
                self._followed[id_].add(later[id_], now)
        for id_, followed in self._new.items():
            followed.begin(logs.get(id_, ()), now)
        self._followed, self._new, self._gathered = self._followed | self._new, {}, {}
        self._blocks.take(chain, fork, last)

    def _forget_what_is_gone(self, fork: int, last: Block) -> None:
        """What led to what is known may not be on the chain any more: then all logs are read. And every channel is
        doubted where not even an early block is there."""
        known = [each.checkpoint for each in self._new.values() if each.checkpoint]
        newest = max(known, key=attrgetter("block_number"), default=None)
        if newest is not None and not self._blocks.is_there(self.adjudicator.chain, newest, last):
            for each in self._new.values():
                each.forget()
        if fork < 0 and self._blocks.is_another_chain(self.adjudicator.chain, last):
            for each in self._followed.values():
                each.is_doubted = True

    def _logs_by_channel(self, first: int, last: int) -> dict[bytes, list[PlacedLog]]:
        """Raises `HeadTooFar`."""
        if last - first > _FARTHEST:
            raise HeadTooFar(self.adjudicator.chain.endpoint, last, first)
        found: dict[bytes, list[PlacedLog]] = {}
        for start in range(first, last + 1, _RANGE):
            for each in self._gather(start, min(start + _RANGE - 1, last), last):
                if (channel_id := channel_of(each.log)) is not None:
                    found.setdefault(channel_id, []).append(each)
        return found

    def _gather(self, start: int, end: int, last: int) -> list[PlacedLog]:
        """The logs of our channels in one range of blocks. An old range does not change: where a later request fails,
        the next look does not read it again."""
        if start in self._gathered:
            return self._gathered[start]
        wanted = self._followed.keys() | self._new.keys()
        logs = self.adjudicator.logs(None, start, end)
        ours = [each for each in logs if channel_of(each.log) in wanted]
        if end == start + _RANGE - 1 and end + _RANGE < last:
            self._gathered[start] = ours
        return ours

    # ---------------------------------------------------------------------------------- the adjudicator's own statuses

    def _ask(
        self, last: Block, head: Head, uncertain: Collection[bytes]
    ) -> tuple[Mapping[bytes, ForcemoveError], PassingError | None]:
        """What is wrong with channels, and how a question has failed. What was read is shown all the same: of a channel
        that could not be checked with the failure as its error; credits are read in a later look."""
        errors: Mapping[bytes, ForcemoveError] | None = None
        try:
            with making_sense(self.adjudicator.chain.endpoint):
                errors = self._check(last, head, uncertain)
                wanted = [each for each in self._followed.values() if each.wants_credits]
                contract_views.read_credits(self.adjudicator, wanted, last.number)
        except PassingError as failure:
            changed = {id_ for id_, each in self._followed.items() if each.has_changed}
            return dict.fromkeys(changed | self._with_errors, failure) if errors is None else errors, failure
        return errors, None

    def _check(self, last: Block, head: Head, uncertain: Collection[bytes]) -> dict[bytes, ForcemoveError]:
        """What is wrong with channels: with the endpoint's logs of them, with themselves, or with the chain."""
        unclosed, origins = self._unclosed, Origins(self.adjudicator, head)
        if (elsewhere := origins.without_contract(unclosed)) is not None:
            return elsewhere
        live = [*unclosed, *self._newly_closed]
        statuses = contract_views.statuses(self.adjudicator, [each.id for each in live], last.number)
        for each in live:
            if each.status != statuses[each.id]:
                each.take_status(statuses[each.id])
        doubtful = [each for each in live if not each.agrees_with(statuses[each.id])]
        self._read_again(doubtful, last, head.next_time)
        uncertain_ids = frozenset(uncertain)
        asked = [each for each in live if each.wants_holdings or each.id in uncertain_ids]
        contract_views.read_holdings(self.adjudicator, asked, last.number)
        ended = [each for each in asked if not each.agrees_with_holdings]
        self._read_again(ended, last, head.next_time)
        contract_views.read_holdings(self.adjudicator, ended, last.number)
        looked_at = {each.id: each for each in (*doubtful, *asked)}.values()
        errors = {each.id: error for each in looked_at if (error := self._error(each, statuses, last)) is not None}
        return errors | origins.elsewhere(each for each in unclosed if each.is_doubted and each.id not in errors)

    def _error(self, followed: FollowedChannel, statuses: Mapping[bytes, int], last: Block) -> ForcemoveError | None:
        if followed.was_used_before:
            return ChannelIdUsed(followed.id)
        status = statuses.get(followed.id)
        if (status is None or followed.agrees_with(status)) and followed.agrees_with_holdings:
            return None
        return LogsLeftOut(self.adjudicator.chain.endpoint, followed.id, last.number)

    @property
    def _unclosed(self) -> list[FollowedChannel]:
        return [each for each in self._followed.values() if not each.record.closed]

    @property
    def _newly_closed(self) -> list[FollowedChannel]:
        """The channels that were closed by logs since their last view: such a log may be invented. Those that were
        closed before are not asked about any more."""
        return [each for each in self._followed.values() if each.record.closed and each.wants_holdings]

    def _read_again(self, doubtful: Iterable[FollowedChannel], last: Block, now: int) -> None:
        for each in doubtful:
            each.reset(self.adjudicator.logs(each.id, each.origin.number, last.number), now)
