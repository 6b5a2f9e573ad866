"""The pause before something is tried again: twice the one before it, up to a longest one. Of each pause a random part
is waited, so that many who have failed together do not come back together. Knows nothing of what is tried."""

from __future__ import annotations

import math
import random
import time
from email.utils import parsedate_to_datetime

_MAX_DOUBLINGS = 64
"""No float is too small for a longer pause than anybody waits."""


def doubled(first: float, times: int, longest: float = math.inf) -> float:
    """`first` seconds, doubled this many times, and no more than `longest`."""
    return min(first * 2.0 ** min(times, _MAX_DOUBLINGS), longest)


def spread(seconds: float) -> float:
    """Between a half and all of this many seconds, by chance."""
    return random.uniform(0.5, 1) * seconds  # noqa: S311  # no secret


def asked_pause(retry_after: str, usual: float, longest: float) -> float:
    """The seconds that a server wants us to wait by its header `Retry-After`, which is a number of seconds or a date;
    `usual` where it is neither, and never more than `longest`."""
    if retry_after.isascii() and retry_after.isdecimal():
        return min(float(retry_after), longest)
    try:
        return min(max(parsedate_to_datetime(retry_after).timestamp() - time.time(), 0.0), longest)
    except (ValueError, OverflowError):
        return usual


class Backoff:
    """The pauses between attempts at one thing."""

    def __init__(self, first: float, longest: float) -> None:
        """`first`, `longest`: of the pauses, in seconds."""
        self._first, self._longest = first, longest
        self.reset()

    def reset(self) -> None:
        """The last attempt has been of use: the next failure is a new one."""
        self._next, self._ceiling = self._first, self._longest

    def lengthen(self, first: float, longest: float) -> None:
        """What is wrong will not pass soon: until `reset` the pauses are at least `first`, and may grow to
        `longest` seconds."""
        self._next, self._ceiling = max(self._next, first), max(self._ceiling, longest)

    def next_pause(self) -> float:
        """The seconds to wait before the next attempt."""
        pause, self._next = spread(self._next), doubled(self._next, 1, self._ceiling)
        return pause
