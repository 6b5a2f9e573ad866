"""Finds out whether our own process stood still: then what endpoints have shown before may be long over."""

from __future__ import annotations

from collections.abc import Callable
from math import inf

_GAP, _LONGEST_LOOK, _FOR_EACH = 5.0, 20.0, 0.002
"""Seconds between two turns that are a standstill: usually, and where a turn may wait for a look; how many more for
each channel of which a turn's owner was given something: for thousands a slow machine works for more than five."""


class TurnClock:
    """The turns of one owner, which begins them by itself."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """`clock`: seconds that go on steadily."""
        self._clock = clock
        self._begun_at, self._longest = 0.0, inf

    def begin(self, *, is_looking: bool = False) -> bool:
        """Begin a turn. Returns whether our process stood still since the last one. `is_looking`: whether it may wait
        for a look."""
        now, was, longest = self._clock(), self._begun_at, self._longest
        self._begun_at, self._longest = now, _LONGEST_LOOK if is_looking else _GAP
        return not 0 <= now - was <= longest

    def on_work(self, channels: int) -> None:
        """This turn's owner is given something of this many channels, and works on it before the next turn."""
        self._longest = max(self._longest, _GAP + _FOR_EACH * channels)
