"""Which of many things are due by a clock, without a look at all of them. Knows no clock and no channel."""

from __future__ import annotations

import heapq
import math

__all__ = ["TimeHeap"]

_SPARE = 64
"""Times that do not count any more, beyond as many as count, before they are thrown out."""


class TimeHeap:
    """Ids, each with one time at which it is due. `next`: the earliest of these times, infinite where there is none."""

    def __init__(self) -> None:
        self._times: dict[bytes, float] = {}
        self._heap: list[tuple[float, bytes]] = []
        self._now = -math.inf

    def put(self, id_: bytes, at: float | None) -> None:
        """Let this be the time of `id_`, instead of an earlier or later one it had; None for no time. With an infinite
        time it is due only where the clock jumps back."""
        if at is None:
            self._times.pop(id_, None)
        elif self._times.get(id_) != at:
            self._times[id_] = at
            heapq.heappush(self._heap, (at, id_))
        if len(self._heap) > 2 * len(self._times) + _SPARE:
            self._heap = [(time, each) for each, time in self._times.items()]
            heapq.heapify(self._heap)

    def take(self, now: float) -> list[bytes]:
        """The ids that are due, the earliest first; they have no time any more. Where the clock has jumped back since
        the last call all are due: what they wait for may have been counted from a time that is to come."""
        has_jumped, self._now = now < self._now, now
        due: list[bytes] = []
        while self._heap and (has_jumped or self._heap[0][0] <= now):
            at, id_ = heapq.heappop(self._heap)
            if self._times.get(id_) == at:
                del self._times[id_]
                due.append(id_)
        return due

    @property
    def next(self) -> float:
        """See the class."""
        while self._heap and self._times.get(self._heap[0][1]) != self._heap[0][0]:
            heapq.heappop(self._heap)
        return self._heap[0][0] if self._heap else math.inf
