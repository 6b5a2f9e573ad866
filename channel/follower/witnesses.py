"""What a second endpoint has to say to what the first one shows: each may lag, leave things out, or show another chain.

What both say of a channel is told. Where they disagree, a clock that runs is told, whichever of them shows it, so that
it is answered; everything else is kept back until they agree, so that nothing is signed or paid in on what only one of
them shows. An endpoint that does not answer says nothing: then the other one is believed alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import inf

from forcemove.channel.chain.adjudicator import Adjudicator, Holdings
from forcemove.channel.chain.rpc import as_bytes, as_number, making_sense
from forcemove.channel.errors import PassingError
from forcemove.channel.follower import words
from forcemove.channel.follower.blocks import Block, ask_block
from forcemove.channel.follower.errors import BehindAnother, EndpointsDisagree
from forcemove.channel.follower.followed import Followed
from forcemove.channel.follower.head import Head
from forcemove.channel.follower.words import Said
from forcemove.channel.protocol.status import Mode, Status

__all__ = ["Verdict", "Witnesses"]

_FAR = 3
"""So many blocks one endpoint may be behind another."""
_REST = 30.0
"""Seconds for which an endpoint that has failed is not asked for its opinion: it may take ten seconds to fail again."""
_STUCK = 120.0
"""Seconds after which an endpoint that shows no new block, where another does, counts as one that does not answer."""
_QUIET = 10.0
"""How often another endpoint is asked for its head, in seconds, while the first one shows no new block."""


@dataclass(frozen=True)
class Verdict:
    """`withheld`: channels of which nothing may be told, and why; `disputed`: of which something is told although only
    one endpoint shows it."""

    withheld: dict[bytes, PassingError] = field(default_factory=dict)
    disputed: dict[bytes, PassingError] = field(default_factory=dict)


@dataclass(frozen=True)
class _View:
    """Of a witness. `number`, `time`: of its head. `block`: the newest that both should have, believed so deep."""

    number: int
    time: int
    block: Block
    said: Said


class Witnesses:
    """The endpoints besides the one that is read."""

    def __init__(self, confirmations: int, clock: Callable[[], float]) -> None:
        self._confirmations, self._clock = confirmations, clock
        self._rests_until: dict[Adjudicator, float] = {}
        self._heads: dict[Adjudicator, tuple[int, float]] = {}
        self._asked_at: float | None = None
        self._turn = False

    def _choose(self, others: Sequence[Adjudicator]) -> Adjudicator | None:
        now = self._clock()
        return next((each for each in others if self._rests_until.get(each, now) <= now), None)

    def leave_out(self, other: Adjudicator) -> None:
        """It is of another chain, and has nothing to say to this one."""
        self._rests_until[other] = inf

    def let_rest(self, endpoint: Adjudicator) -> None:
        """It has just failed."""
        self._rests_until[endpoint] = max(self._clock() + _REST, self._rests_until.get(endpoint, 0.0))

    def require_not_behind(self, read: Adjudicator, others: Sequence[Adjudicator], head: Head) -> None:
        """While the endpoint that is read shows no new block: another one is asked now and then for its own, in one
        request. Raises `BehindAnother`."""
        now = self._clock()
        witness = self._choose(others)
        if witness is None or (self._asked_at is not None and 0 <= now - self._asked_at < _QUIET):
            return
        self._asked_at = now
        try:
            number = witness.chain.block_number()
        except PassingError:
            self.let_rest(witness)
            return
        self._require_near(read, head, witness, number)

    def _require_near(self, read: Adjudicator, head: Head, witness: Adjudicator, number: int) -> None:
        if number > head.number + _FAR:
            raise BehindAnother(read.chain.endpoint, head.number, witness.chain.endpoint, number)

    def compare(
        self,
        read: Adjudicator,
        others: Sequence[Adjudicator],
        followed: Sequence[Followed],
        said: Said,
        last: Block,
        head: Head,
    ) -> Verdict:
        """`said`: by the adjudicator, as `read` shows it at the block `last`. Channels may be given what a witness
        shows. Asks it two requests, one more for what channels hold, one more where a log must be deep, and one more
        for each further thousand channels. Raises `BehindAnother`, and what `read` raises."""
        witness = self._choose(others)
        if witness is None:
            return Verdict()
        self._asked_at = self._clock()
        try:
            with making_sense(witness.chain.endpoint):
                view = self._look(witness, followed, said, last)
        except PassingError:
            self.let_rest(witness)
            return Verdict()
        return Verdict() if view is None else self._judge(read, witness, followed, said, last, head, view)

    def _look(self, witness: Adjudicator, followed: Sequence[Followed], said: Said, last: Block) -> _View | None:
        latest = witness.chain.block("latest")
        number, time = as_number(latest["number"]), as_number(latest["timestamp"])
        common = min(last.number, number - self._confirmations + 1)
        if common < 0:
            return None
        block = ask_block(witness.chain, common) if common < number else Block(number, as_bytes(latest["hash"]), b"")
        keys = {*said.held, *((each.id, asset) for each in followed if each.record.closed for asset in each.assets)}
        return _View(
            number,
            time,
            block,
            Said(
                words.statuses(witness, [each.id for each in followed if not each.record.closed], common),
                words.holdings(witness, sorted(keys), common),
            ),
        )

    def _judge(
        self,
        read: Adjudicator,
        witness: Adjudicator,
        followed: Sequence[Followed],
        said: Said,
        last: Block,
        head: Head,
        view: _View,
    ) -> Verdict:
        at = view.block.number
        ours = last if at == last.number else ask_block(read.chain, at)
        is_same_chain = ours.hash == view.block.hash
        if is_same_chain:
            self._require_near(read, head, witness, view.number)
        is_late = is_same_chain and at < last.number
        if is_late and self._is_stuck(witness, view.number):
            return Verdict()
        self._turn = not self._turn
        verdict = Verdict()
        for each in followed:
            if _agrees(each, said, view.said) or (is_late and not each.has_news):
                continue
            error = (
                BehindAnother(witness.chain.endpoint, view.number, read.chain.endpoint, head.number)
                if is_late
                else EndpointsDisagree(read.chain.endpoint, witness.chain.endpoint, each.id, at)
            )
            is_told = self._tells_clock(each, said, view, witness, head, is_late=is_late)
            (verdict.disputed if is_told else verdict.withheld)[each.id] = error
        return verdict

    def _tells_clock(
        self, each: Followed, said: Said, view: _View, witness: Adjudicator, head: Head, *, is_late: bool
    ) -> bool:
        """Whether a clock runs that is to be answered. Where both show one, they take turns."""
        is_ours = _runs(said, each.id, head.next_time)
        is_theirs = not is_late and _runs(view.said, each.id, view.time)
        if is_theirs and (self._turn or not is_ours):
            return _take_from(witness, each, view)
        return is_ours

    def _is_stuck(self, witness: Adjudicator, number: int) -> bool:
        known, since = self._heads.get(witness, (-1, 0.0))
        if known != number:
            self._heads[witness] = (number, self._clock())
            return False
        return self._clock() - since >= _STUCK


def _agrees(each: Followed, ours: Said, theirs: Said) -> bool:
    """Of a channel that the logs say is closed nobody's status says anything; what holds its money does."""
    if each.record.closed:
        return any(theirs.held[each.id, asset].closed for asset in each.assets)
    held = (((each.id, asset)) for asset in each.assets)
    return ours.statuses.get(each.id) == theirs.statuses[each.id] and all(
        _is_same(ours.held.get(key), theirs.held.get(key)) for key in held
    )


def _is_same(ours: Holdings | None, theirs: Holdings | None) -> bool:
    """What neither was asked for is no difference."""
    return ours == theirs


def _runs(said: Said, channel_id: bytes, now: int) -> bool:
    word = said.statuses.get(channel_id)
    return word is not None and Status.unpack(word).mode(now) is Mode.CHALLENGE


def _take_from(witness: Adjudicator, each: Followed, view: _View) -> bool:
    """Let the channel be told what the witness shows of it. Whether that makes sense."""
    at = view.block.number
    with making_sense(witness.chain.endpoint):
        each.begin_anew(witness.logs(each.id, each.origin.number, at), view.time)
        words.read_holdings(witness, [each], at)
    return each.agrees_with(view.said.statuses[each.id])
