"""How urgent the waiting transactions of an account are together, and how soon a request may be sent again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from forcemove.backoff import doubled
from forcemove.sender.pricing import Urgency
from forcemove.sender.transactions import PendingTx, RequestId

_INTERVALS = 60
"""After this many times `bump_after` the highest price is offered for a transaction without a deadline."""
_PARTS = 8
"""A transaction with a deadline waits for at most this part of the time that was left before more is offered for it."""
_MAX = 1_000
"""Requests whose past is remembered."""


def urgency_of(
    waiting: Sequence[PendingTx], time: int, times: Sequence[int], seconds: float, bump_after: float
) -> Urgency:
    """How urgent all waiting transactions are together: the nearest deadline, the largest cap. Where none has a
    deadline the time is 60 times `bump_after`.

    - `waiting`: the transactions, by their nonces.
    - `time`: the block time (seconds) that one endpoint shows.
    - `times`: the block times (seconds) that all endpoints show.
    - `seconds`: our own clock's, since 1970.
    - `bump_after`: seconds after which more is offered for a transaction that waits.
    """
    lowest, request = waiting[0], [pending.request for pending in waiting]
    max_cost = max(each.max_cost for each in request)
    nearest = min((each.deadline for each in request if each.deadline is not None), default=None)
    if nearest is None:
        passed = (seconds - lowest.versions[0].signed_at) / (_INTERVALS * bump_after)
        return Urgency(max_cost, passed, passed)
    passed, *all_passed = (_passed(lowest, nearest, each) for each in (time, *times))
    return Urgency(max_cost, passed, min(all_passed, default=passed), is_answer=True)


def _passed(lowest: PendingTx, nearest: int, now: int) -> float:
    if now >= nearest or lowest.begun_at >= nearest:
        return 1.0
    return min(max((now - lowest.begun_at) / (nearest - lowest.begun_at), 0.0), 1.0)


def bump_interval(waiting: Sequence[PendingTx], urgency: Urgency, bump_after: float) -> float:
    """Seconds until more is offered: `bump_after`, falling to a fourth of it as the time goes by; at most an eighth of
    the time that was left to any of the deadlines when its transaction was first signed."""
    ours = bump_after * (1 - 0.75 * min(max(urgency.passed, 0.0), 1.0))
    left = [each.request.deadline - each.begun_at for each in waiting if each.request.deadline is not None]
    return min([ours, *(max(each, 0) / _PARTS for each in left)])


@dataclass
class _Past:
    reverts: int = 0
    confirmations: int = 0
    not_before: float = 0.0
    not_alone_before: float = 0.0


_NOTHING = _Past()


class RequestPace:
    """When each request may be sent again. One whose transaction has reverted is sent again at once, and then later and
    later. One that has succeeded and is asked for again answers a challenge's clock that an endpoint still shows: where
    an endpoint says that it would fail, or has yet to say so, or it was sent twice already, it is sent after an eighth
    of the time that it had, then after twice as long each time, so that invented clocks cost us little."""

    def __init__(self, bump_after: float, clock: Callable[[], float]) -> None:
        """`bump_after`, `clock`: as of `Sender`."""
        self._bump_after, self._clock = bump_after, clock
        self._past: dict[RequestId, _Past] = {}

    def allows(self, request_id: RequestId) -> bool:
        """Whether a request may be sent now."""
        return self._clock() >= self._past.get(request_id, _NOTHING).not_before

    def allows_alone(self, request_id: RequestId) -> bool:
        """Whether a request may be sent now though an endpoint says that it would fail, or has yet to say so."""
        return self._clock() >= self._past.get(request_id, _NOTHING).not_alone_before

    def is_unknown(self, request_id: RequestId) -> bool:
        """Whether no transaction for a request was mined, or has failed, before."""
        return request_id not in self._past

    def reverts(self, request_id: RequestId) -> int:
        """How often in a row a request's transaction was mined and has failed."""
        return self._past.get(request_id, _NOTHING).reverts

    def confirmations(self, request_id: RequestId) -> int:
        """How often a request's transaction has succeeded."""
        return self._past.get(request_id, _NOTHING).confirmations

    def forget(self, request_id: RequestId) -> None:
        """A reorganisation has removed this request's transaction."""
        self._past.pop(request_id, None)

    def on_reverted(self, pending: PendingTx) -> int:
        """A transaction has failed in its block. Returns how often in a row its request has."""
        past = self._of(pending)
        past.reverts += 1
        if past.reverts > 1:
            pause = doubled(self._bump_after, past.reverts - 2)
            past.not_before = self._clock() + min(pause, part_of(pending) or pause)
        return past.reverts

    def on_confirmed(self, pending: PendingTx) -> None:
        """A transaction has succeeded."""
        past = self._of(pending)
        past.reverts, past.confirmations = 0, past.confirmations + 1
        pause = self._bump_after / 2 if pending.request.deadline is None else part_of(pending)
        past.not_alone_before = self._clock() + doubled(pause, past.confirmations - 1)
        if past.confirmations > 1:
            past.not_before = past.not_alone_before

    def _of(self, pending: PendingTx) -> _Past:
        past = self._past.pop(pending.request.request_id, None) or _Past()
        self._past[pending.request.request_id] = past
        if len(self._past) > _MAX:
            del self._past[next(iter(self._past))]
        return past


def part_of(pending: PendingTx) -> float:
    """An eighth of the time, in seconds, that was left when a transaction was first signed; 0 without a deadline."""
    deadline = pending.request.deadline
    return 0.0 if deadline is None else max(deadline - pending.begun_at, 0) / _PARTS
