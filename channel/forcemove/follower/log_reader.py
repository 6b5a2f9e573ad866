"""Reads the adjudicator's logs of followed channels through one endpoint, in ranges as large as the endpoint takes.
What was answered is kept with each answer, so that a reading may end at any question and go on later.

A reading of the newest blocks goes upwards. One of older blocks goes round: from where it was to the newest of those
that are missing, and again from the oldest, so that a channel that joins it holds up no other for long. New blocks of
a channel that is behind are read there, too: they count no sooner than the older ones.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain, islice
from typing import cast

from forcemove.chain.adjudicator import Adjudicator, PlacedLog
from forcemove.chain.asking import Steps, together
from forcemove.chain.codec import decode_log
from forcemove.chain.errors import EndpointFailed, Unreachable
from forcemove.chain.learned import Learned
from forcemove.errors import ForcemoveError
from forcemove.follower.followed_channel import FollowedChannel

_MOST_BLOCKS = 5_000
"""How many blocks of logs are asked for at once."""
_MOST_IDS = 300
"""Up to this many channels' logs are asked for by their ids; those of more among all of the adjudicator's."""
_ALL = 2 * _MOST_IDS
_AT_ONCE = 10
"""Ranges that are asked for together; what was answered is kept when all have ended."""


class LogRangeReader:
    """Reads through one endpoint. `read_to`: the last block whose logs were read of all channels but for what theirs
    are `missing`."""

    def __init__(self, adjudicator: Adjudicator) -> None:
        self.read_to = -1
        self._adjudicator = adjudicator
        self._blocks, self._ids = Learned(_MOST_BLOCKS), Learned(_ALL)
        self._older_from = 0

    def read_new(
        self, followed: Mapping[bytes, FollowedChannel], last: int, now: int, open_: Iterable[FollowedChannel]
    ) -> Steps[bool]:
        """Read the blocks after `read_to` up to `last`. `followed`: all channels that are read, by id; `now`: block
        time, seconds; `open_`: all of which any are `missing` older blocks. Returns whether there was anything to read.
        Raises `ChainError`."""
        if self.read_to >= last:
            return False
        behind = [each.id for each in open_ if each.missing]
        ids: Collection[bytes] = followed.keys() - behind if behind else followed
        while self.read_to < last:
            first = self.read_to + 1
            asked, end, found = (yield from self._read(ids, first, last)) if ids else (ids, last, {})
            for id_, logs in found.items():
                followed[id_].take_new(logs, now)
            for id_ in () if asked is followed else followed.keys() - set(asked):
                followed[id_].leave_out(first, end)
            self.read_to = end
        return True

    def read_older(self, followed: Sequence[FollowedChannel], now: int) -> Steps[bool]:
        """Read what these channels are `missing`. A channel that the adjudicator does not know comes last, unless one
        range has all of it: who has named it may have made up the block at which it began. `now` and result as of
        `read_new`. Raises `ChainError`."""
        has_read = False
        while missing := [each for each in followed if each.missing]:
            has_read = True
            believed = [each for each in missing if self._is_believed(each)]
            first, last = self._next_older(believed or missing)
            joining = [each for each in believed or missing if each.is_missing(first, last)]
            rest = (each for each in missing if each.is_missing(first, last))
            within = {each.id: each for each in chain(joining, islice(rest, max(_MOST_IDS - len(joining), 0)))}
            try:
                asked, end, found = yield from self._read(within, first, last)
            except ForcemoveError:
                self._older_from = last + 1  # what an endpoint cannot give holds up nothing else
                raise
            for id_ in asked:
                within[id_].take_older(first, end, found.get(id_, ()), now)
            self._older_from = end + 1 if len(asked) == len(within) else first
        return has_read

    def _is_believed(self, each: FollowedChannel) -> bool:
        return each.is_known or each.missing[-1][1] - each.missing[0][0] < self._blocks.value

    def _next_older(self, followed: Sequence[FollowedChannel]) -> tuple[int, int]:
        """The range of blocks to be asked for next."""
        ranges = [each for channel in followed for each in channel.missing]
        ahead = [max(first, self._older_from) for first, last in ranges if last >= self._older_from]
        first = min(ahead or [first for first, _ in ranges])
        last = max(end for one, end in ranges if one <= first <= end)
        return first, min(last, first + self._most_parts * self._blocks.value - 1)

    # --------------------------------------------------------------------------------------------------- one question

    def _read(
        self, ids: Collection[bytes], first: int, last: int
    ) -> Steps[tuple[Collection[bytes], int, dict[bytes, list[PlacedLog]]]]:
        """Ask for the logs of channels in as many of the blocks from `first` to `last` as the endpoint gives at once.
        Returns the channels that were asked about, the last block, and the logs by channel. Too much is halved: the
        blocks, and where there is only one the channels. Raises `ChainError`, `EndpointFailed` where the endpoint
        refuses one channel in one block."""
        before = self._blocks.value, self._ids.value
        while True:
            asked = ids if self._ids.value > _MOST_IDS else tuple(islice(ids, self._ids.value))
            parts = self._parts(first, last)
            answers = yield from together(self._ask(asked, *each) for each in parts)
            end, found = first - 1, dict[bytes, list[PlacedLog]]()
            for (one, to), answer in zip(parts, answers, strict=True):
                if isinstance(answer, ForcemoveError):
                    break
                end = to
                self._blocks.on_answer(to - one + 1)
                for id_, logs in answer.items():
                    found.setdefault(id_, []).extend(logs)
            if end >= first:
                self._ids.on_answer(len(asked))
                return asked, end, found
            self._on_refusal(answers[0], parts[0][1] - first + 1, len(asked), before)

    def _parts(self, first: int, last: int) -> list[tuple[int, int]]:
        """The ranges to ask for together, from the block `first` on: one, while it is not known whether the endpoint
        gives so much."""
        width = self._blocks.value
        return [(each, min(each + width - 1, last)) for each in range(first, last + 1, width)[: self._most_parts]]

    @property
    def _most_parts(self) -> int:
        return _AT_ONCE if self._blocks.is_known else 1

    def _on_refusal(self, error: object, blocks: int, ids: int, before: tuple[int, int]) -> None:
        """Raises the error where it was not too much."""
        if not isinstance(error, EndpointFailed | Unreachable):
            raise cast("ForcemoveError", error)
        is_halved = self._halve(blocks, ids)
        if not is_halved:
            self._blocks.value, self._ids.value = before
        if isinstance(error, Unreachable) or not is_halved:  # it may have been too slow for so much
            raise error

    def _halve(self, blocks: int, ids: int) -> bool:
        """A range was too much. Returns whether there is a smaller one."""
        if blocks > 1:
            self._blocks.on_refusal(blocks)
        elif ids > 1:
            self._ids.on_refusal(min(ids, _ALL))
        return blocks > 1 or ids > 1

    def _ask(self, ids: Collection[bytes], first: int, last: int) -> Steps[dict[bytes, list[PlacedLog]]]:
        """Logs of other channels and of credits are dropped before they are decoded."""
        adjudicator = self._adjudicator
        topics = (None, frozenset(ids)) if len(ids) <= _MOST_IDS else ()
        found: dict[bytes, list[PlacedLog]] = {}
        for log in (yield from adjudicator.chain.logs_in.steps(adjudicator.address, topics, first, last)):
            if len(log.topics) > 1 and log.topics[1] in ids:
                found.setdefault(log.topics[1], []).append(PlacedLog(decode_log(log), log.place))
        return found
