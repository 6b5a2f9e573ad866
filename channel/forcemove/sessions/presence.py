"""When the other players of a table were heard from: by what they have signed, and by a clock that does not stop."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Hashable

from forcemove.text.situation.presence import ABSENT


def seconds_asleep_too() -> float:
    """Seconds that do not go back, and go on while the machine sleeps, where the system has such a clock."""
    try:
        return time.clock_gettime(time.CLOCK_BOOTTIME)
    except (AttributeError, OSError):  # a browser names it, and has none
        return time.monotonic()


class TablePresence:
    """When each player of a table was heard from last, by seat."""

    def __init__(self, count: int, clock: Callable[[], float], wall: Callable[[], float]) -> None:
        """`count`: the players; `clock`: see `seconds_asleep_too`; `wall`: Unix seconds."""
        self._clock, self._began, self._since = clock, clock(), wall()
        self._last = [-math.inf] * count
        self._ahead = [-math.inf] * count

    def note(self, seat: int) -> None:
        """A player was heard from now."""
        self._last[seat] = self._clock()

    def note_signed(self, seat: int, sent: float) -> None:
        """A player has signed something at this time of its own clock, in Unix seconds. What was signed before we sat
        down may come from an old log, and says nothing; what is held back on its way counts from when it would have
        come. The clocks need not agree: the quickest message says how far that clock is ahead."""
        if sent > self._since:
            self._ahead[seat] = max(self._ahead[seat], sent - self._clock())
            self._last[seat] = max(self._last[seat], sent - self._ahead[seat])

    def silences(self) -> tuple[float | None, ...]:
        """For how many seconds each was not heard from; None before there is anything to say."""
        now = self._clock()
        waited = now - self._began if now - self._began >= ABSENT else None
        return tuple(waited if each == -math.inf else now - each for each in self._last)

    @property
    def state(self) -> Hashable:
        """Changes when somebody is heard from, or begins to be absent."""
        return tuple(self._last), tuple(each is not None and each >= ABSENT for each in self.silences())
