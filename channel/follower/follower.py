"""The follower of one adjudicator: it reads the chain once for all channels, and tells each what is news to it.

Nothing is believed once and for all. At each new block the adjudicator's own words, `statusesOf`, are compared with
what the logs say of every live channel: an endpoint that has left a log out is found out, and its logs are read again.
Each block that was read must still be there when the next one is read; where it is not, another chain has won, and
everything after the fork is read anew.

It reads up to the confirmation depth, never waits, and loses nothing when a request fails: the next `look` goes on.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from forcemove.channel.chain.adjudicator import Adjudicator, PlacedLog
from forcemove.channel.chain.errors import EndpointFailed
from forcemove.channel.chain.rpc import as_bytes, as_number, making_sense
from forcemove.channel.errors import ForcemoveError, PassingError
from forcemove.channel.follower.errors import BehindItself, LogsLeftOut
from forcemove.channel.follower.followed import Followed
from forcemove.channel.follower.head import Head, HeadReader
from forcemove.channel.protocol.agreement import Agreement
from forcemove.channel.protocol.errors import ChannelIdUsed
from forcemove.channel.protocol.inputs import ChainRead
from forcemove.channel.protocol.logs import Claimed, Credited

__all__ = ["Follower", "Look"]

_REMEMBERED = 256
"""How many blocks' hashes are remembered to find a fork; beyond that everything is read again."""
_LOOKS_BEHIND = 3
"""How often an endpoint must show a shorter chain until it is believed."""
_RANGE = 5_000
"""How many blocks of logs are asked for at once."""
_AT_ONCE = 1_000
"""How many channels are asked for in one call."""


@dataclass(frozen=True, slots=True)
class Look:
    """What one look has found: the head, whether it is another than before, the news by channel, and what is wrong with
    channels, of which no news is told."""

    head: Head
    is_new: bool = False
    news: Mapping[bytes, ChainRead] = field(default_factory=dict)
    wrong: Mapping[bytes, ForcemoveError] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Block:
    number: int
    hash: bytes
    parent: bytes


class Follower:
    """Of one adjudicator on one chain."""

    def __init__(
        self, *adjudicators: Adjudicator, confirmations: int = 1, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """`adjudicators`: the same one through several endpoints of one chain; where one fails, the next is asked.
        `confirmations`: how many blocks deep a log must be to be believed; 1 is the newest block. `clock`: seconds."""
        self._adjudicators, self._confirmations = deque(adjudicators), confirmations
        self._followed: dict[bytes, Followed] = {}
        self._new: dict[bytes, Followed] = {}
        self._blocks: deque[_Block] = deque(maxlen=_REMEMBERED)
        self._reader = HeadReader(clock)
        self._looked_at: bytes | None = None
        self._is_unsettled = False
        self._behind = 0

    @property
    def adjudicator(self) -> Adjudicator:
        """Through the endpoint that is asked now."""
        return self._adjudicators[0]

    def expire(self) -> None:
        """From now on no head that was read before is fresh."""
        self._reader.expire()

    def now(self) -> int:
        """The block time (seconds) at which a transaction may land that is sent now, as it was read less than a second
        ago, else anew. Raises `ChainError`."""
        return self._reader.read(self.adjudicator.chain).next_time

    @property
    def last_time(self) -> int:
        """The time (seconds) that was read last, at no call; 0 where none was."""
        return self._reader.last_time

    def follow(self, agreement: Agreement, payee: bytes | None, from_block: int, *, is_new: bool) -> None:
        """Tell of this channel from now on, and first of all that is logged. `payee`: the account that we are paid at,
        20 bytes. `from_block`: where its logs can begin. `is_new`: whether we have signed nothing in it yet, so that
        none of its id may have paid out. A channel that is followed already is read anew."""
        followed = Followed(agreement, payee, from_block, is_new)
        self._followed.pop(followed.id, None)
        self._new[followed.id] = followed

    def let_go(self, channel_id: bytes) -> None:
        """Tell no more of this channel."""
        self._followed.pop(channel_id, None)
        self._new.pop(channel_id, None)

    def look(self, uncertain: Collection[bytes] = ()) -> Look:
        """Read what is new at the confirmation depth. `uncertain`: the channels whose holdings are to be read even
        where nothing is logged, since money is to come or go.

        Raises a `ChainError` where the endpoint fails, and asks the next one from then on.
        """
        try:
            with making_sense(self.adjudicator.chain.endpoint):
                return self._look(uncertain)
        except PassingError:
            self._ask_the_next()
            raise

    def _ask_the_next(self) -> None:
        self._adjudicators.rotate(-1)
        self._reader.expire()
        self._is_unsettled = True

    def _look(self, uncertain: Collection[bytes]) -> Look:
        head = self._reader.read(self.adjudicator.chain)
        is_new = head.hash != self._looked_at
        if not self._new and not self._is_unsettled and not is_new:
            return Look(head)
        last = self._block(head.number - self._confirmations + 1, head)
        if last is None:
            self._looked_at = head.hash
            return Look(head, is_new)
        self._read_logs(last, head.next_time)
        wrong = self._check(last, head.next_time, uncertain)
        if any(isinstance(error, PassingError) for error in wrong.values()):
            self._ask_the_next()
        self._looked_at, self._is_unsettled = head.hash, bool(wrong)
        return Look(head, is_new, self._news(wrong), wrong)

    # ------------------------------------------------------------------------------------------------- blocks and forks

    def _block(self, number: int, head: Head) -> _Block | None:
        """None before there is one so deep."""
        if number < 0:
            return None
        if number == head.number:
            return _Block(number, head.hash, head.parent)
        return self._ask_block(number)

    def _ask_block(self, number: int) -> _Block:
        answer: Mapping[str, Any] = self.adjudicator.chain.block(number)
        return _Block(as_number(answer["number"]), as_bytes(answer["hash"]), as_bytes(answer["parentHash"]))

    def _fork(self, last: _Block) -> int:
        """The newest block that was read and is still there; -1 where none is."""
        return next((block.number for block in reversed(self._blocks) if self._is_there(block, last)), -1)

    def _require_not_behind(self, last: _Block) -> None:
        """An endpoint that shows less than before lags behind; or a shorter chain has won, which is seldom and then
        stays so. Raises `BehindItself`."""
        read_up_to = self._blocks[-1].number if self._blocks else -1
        self._behind = self._behind + 1 if last.number < read_up_to else 0
        if 0 < self._behind < _LOOKS_BEHIND:
            raise BehindItself(self.adjudicator.chain.endpoint, last.number, read_up_to)

    def _is_there(self, block: _Block, last: _Block) -> bool:
        if block.number == last.number:
            return block.hash == last.hash
        if block.number == last.number - 1:
            return block.hash == last.parent
        try:
            return self._ask_block(block.number).hash == block.hash
        except EndpointFailed:
            return False  # a shorter chain has won

    # -------------------------------------------------------------------------------------------------------- the logs

    def _read_logs(self, last: _Block, now: int) -> None:
        """Up to and with the last block. What is known is changed only when everything was read."""
        self._require_not_behind(last)
        fork = self._fork(last)
        begin = [each.from_block for each in self._new.values()] + ([fork + 1] if self._followed else [])
        logs = self._logs_by_channel(min(begin, default=last.number + 1), last.number)
        has_forked = bool(self._blocks) and fork != self._blocks[-1].number
        for id_, followed in self._followed.items():
            later = [each for each in logs.get(id_, ()) if each.place.block_number > fork]
            if has_forked:
                followed.begin_anew([*followed.logs_up_to(fork), *later], now)
            else:
                followed.add(later, now)
        for id_, followed in self._new.items():
            followed.begin_anew(logs.get(id_, ()), now)
        self._followed, self._new = self._followed | self._new, {}
        self._blocks = deque((each for each in self._blocks if each.number <= fork), _REMEMBERED)
        if last.number > fork:
            self._blocks.append(last)

    def _logs_by_channel(self, first: int, last: int) -> dict[bytes, list[PlacedLog]]:
        wanted = self._followed.keys() | self._new.keys()
        found: dict[bytes, list[PlacedLog]] = {}
        for start in range(first, last + 1, _RANGE):
            for each in self.adjudicator.logs(None, start, min(start + _RANGE - 1, last)):
                log = each.log
                if not isinstance(log, Credited | Claimed) and log.channel_id in wanted:
                    found.setdefault(log.channel_id, []).append(each)
        return found

    # ------------------------------------------------------------------------------------- the adjudicator's own words

    def _check(self, last: _Block, now: int, uncertain: Collection[bytes]) -> dict[bytes, ForcemoveError]:
        """What is wrong with channels: with the endpoint's logs of them, or with themselves."""
        statuses, live = self._statuses(last), self._live
        doubtful = [each for each in live if not each.agrees_with(statuses[each.id])]
        self._read_again(doubtful, last, now)
        uncertain_ids = frozenset(uncertain)
        asked = [each for each in live if each.wants_holdings or each.id in uncertain_ids]
        self._read_holdings(asked, last)
        unclosed = [each for each in asked if not each.agrees_with_holdings]
        self._read_again(unclosed, last, now)
        self._read_holdings(unclosed, last)
        for each in self._followed.values():
            if each.has_news and each.wants_credits:
                self._read_credits(each, last)
        looked_at = {each.id: each for each in (*doubtful, *asked)}.values()
        return {each.id: error for each in looked_at if (error := self._error(each, statuses, last)) is not None}

    def _error(self, followed: Followed, statuses: Mapping[bytes, int], last: _Block) -> ForcemoveError | None:
        if followed.was_used_before:
            return ChannelIdUsed(followed.id)
        status = statuses.get(followed.id)
        if (status is None or followed.agrees_with(status)) and followed.agrees_with_holdings:
            return None
        return LogsLeftOut(self.adjudicator.chain.endpoint, followed.id, last.number)

    @property
    def _live(self) -> list[Followed]:
        return [each for each in self._followed.values() if not each.record.closed]

    def _statuses(self, last: _Block) -> dict[bytes, int]:
        """The adjudicator's own words, packed."""
        ids = [each.id for each in self._live]
        parts = (ids[start : start + _AT_ONCE] for start in range(0, len(ids), _AT_ONCE))
        words = (self.adjudicator.status_words(part, block=last.number) for part in parts)
        return dict(zip(ids, chain.from_iterable(words), strict=True))

    def _read_again(self, doubtful: Iterable[Followed], last: _Block, now: int) -> None:
        for each in doubtful:
            each.begin_anew(self.adjudicator.logs(each.id, each.from_block, last.number), now)

    def _read_holdings(self, followed: Sequence[Followed], last: _Block) -> None:
        keys = [(each.id, asset) for each in followed for asset in each.assets]
        for start in range(0, len(keys), _AT_ONCE):
            part = keys[start : start + _AT_ONCE]
            found = self.adjudicator.holdings_of_list(part, block=last.number)
            for (id_, asset), holdings in zip(part, found, strict=True):
                self._followed[id_].take_holdings(asset, holdings)

    def _read_credits(self, followed: Followed, last: _Block) -> None:
        assert followed.payee is not None  # noqa: S101  # or it would want none
        for asset in followed.assets:
            followed.take_credit(asset, self.adjudicator.credit_of(followed.payee, asset, block=last.number))

    def _news(self, wrong: Collection[bytes]) -> dict[bytes, ChainRead]:
        tellable = (each for each in self._followed.values() if each.has_news and each.id not in wrong)
        return {each.id: each.take_news() for each in tellable}
