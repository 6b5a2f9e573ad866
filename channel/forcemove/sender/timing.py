"""How urgent the transactions of an account are that wait together, and how soon the same may be sent again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from forcemove.sender.pricing import Urgency
from forcemove.sender.transactions import Flying

__all__ = ["Pace", "borne", "urgency_of"]

_PATIENCES = 60
"""How often a transaction without a deadline may try our patience before the highest price is offered."""
_PARTS = 8
"""What has a deadline tries our patience for at most this part of the time that was left."""
_MOST = 1_000
"""Purposes whose past is remembered."""


def urgency_of(waiting: Sequence[Flying], time: int, times: Sequence[int], seconds: float, patience: float) -> Urgency:
    """Of all together: the nearest deadline, the largest cap. What has no deadline has 60 times our patience.
    `waiting`: by their nonces. `time`: the block time by an endpoint's word; `times`: by every endpoint's; `seconds`:
    our clock's."""
    lowest, wanted = waiting[0], [flying.wanted for flying in waiting]
    most = max(each.most for each in wanted)
    nearest = min((each.deadline for each in wanted if each.deadline is not None), default=None)
    if nearest is None:
        passed = (seconds - lowest.versions[0].signed_at) / (_PATIENCES * patience)
        return Urgency(most, passed, passed)
    passed, *all_passed = (_passed(lowest, nearest, each) for each in (time, *times))
    return Urgency(most, passed, min(all_passed, default=passed), is_answer=True)


def _passed(lowest: Flying, nearest: int, now: int) -> float:
    if now >= nearest or lowest.begun_at >= nearest:
        return 1.0
    return min(max((now - lowest.begun_at) / (nearest - lowest.begun_at), 0.0), 1.0)


def borne(waiting: Sequence[Flying], urgency: Urgency, patience: float) -> float:
    """For how many seconds we wait: our patience, and a fourth of it where no time is left; never for more than an
    eighth of the time that was left when the first of them was signed."""
    ours = patience * (1 - 0.75 * min(max(urgency.passed, 0.0), 1.0))
    left = [each.wanted.deadline - each.begun_at for each in waiting if each.wanted.deadline is not None]
    return min([ours, *(max(each, 0) / _PARTS for each in left)])


@dataclass
class _Past:
    reverts: int = 0
    landings: int = 0
    not_before: float = 0.0
    not_alone_before: float = 0.0


class Pace:
    """By purpose. What has reverted is sent again at once, and then later and later. What has succeeded and is asked
    for again is an answer to a clock that somebody shows and it has not stopped: where an endpoint says that it would
    fail, or it was sent twice already, after an eighth of the time that it had, then twice as long each time, so that
    inventing clocks costs us little."""

    def __init__(self, patience: float, clock: Callable[[], float]) -> None:
        """Both in seconds."""
        self._patience, self._clock = patience, clock
        self._past: dict[bytes, _Past] = {}

    def allows(self, purpose: bytes) -> bool:
        """Whether it may be sent now."""
        past = self._past.get(purpose)
        return past is None or self._clock() >= past.not_before

    def allows_alone(self, purpose: bytes) -> bool:
        """Whether it may be sent now where an endpoint says that it would fail."""
        past = self._past.get(purpose)
        return past is None or self._clock() >= past.not_alone_before

    def reverts(self, purpose: bytes) -> int:
        """How often in a row it was mined and has failed."""
        past = self._past.get(purpose)
        return 0 if past is None else past.reverts

    def forget(self, purpose: bytes) -> None:
        """What happened has been undone."""
        self._past.pop(purpose, None)

    def reverted(self, flying: Flying) -> int:
        """It has failed in its block. Returns how often in a row."""
        past = self._of(flying)
        past.reverts += 1
        if past.reverts > 1:
            pause = self._patience * 2.0 ** (past.reverts - 2)
            past.not_before = self._clock() + min(pause, _part(flying) or pause)
        return past.reverts

    def landed(self, flying: Flying) -> None:
        """It has succeeded."""
        past = self._of(flying)
        past.reverts, past.landings = 0, past.landings + 1
        past.not_alone_before = self._clock() + _part(flying) * 2.0 ** (past.landings - 1)
        if past.landings > 1:
            past.not_before = past.not_alone_before

    def _of(self, flying: Flying) -> _Past:
        past = self._past.pop(flying.wanted.purpose, None) or _Past()
        self._past[flying.wanted.purpose] = past
        if len(self._past) > _MOST:
            del self._past[next(iter(self._past))]
        return past


def _part(flying: Flying) -> float:
    deadline = flying.wanted.deadline
    return 0.0 if deadline is None else max(deadline - flying.begun_at, 0) / _PARTS
