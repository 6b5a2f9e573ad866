"""For how long a player waits for the others, and how long each has for a move. Pure."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from forcemove.protocol.machine.channel import Channel, Phase

BEGINNING = (Phase.CHECKING, Phase.PREFUND, Phase.FUNDING)
"""The phases before the game."""


@dataclass(frozen=True)
class MoveClock:
    """The clock of the player whose turn it is. `move_time`: seconds that each has for a move, 0 for any; `left`: says
    how many the mover has left, below zero once they are out."""

    move_time: int
    left: Callable[[], float]


NO_CLOCK = MoveClock(0, lambda: math.inf)
"""Of a game in which each may take any time."""


class Patience:
    """A player's patience with the others in one channel, by any clock that goes on steadily. `seconds`: how long
    others may be silent. Where the offer gives a time for a move, that is how long once the game has begun; a friendly
    game, in which nobody can be challenged, is not given up before that, either."""

    def __init__(self, seconds: float, now: float, move_time: int = 0) -> None:
        """Begin to wait at the time `now`. `seconds`: how long others may be silent; it may be infinite. `move_time`:
        seconds that each has for a move, by the offer; 0 for any."""
        self.seconds, self._given, self._move_time = seconds, seconds, move_time
        self._since = self._moved_at = now
        self._progress: object = None

    def begin(self, now: float) -> None:
        """Wait as long once more."""
        self._since = now

    def left(self, now: float) -> float:
        """Seconds until the patience is lost."""
        return self.seconds - (now - self._since)

    def move_left(self, now: float) -> float:
        """Seconds that the mover has left; below zero once they are out, infinite where each may take any time."""
        return self._move_time - (now - self._moved_at) if self._move_time else math.inf

    def is_lost(self, channel: Channel, phase: Phase, now: float) -> bool:
        """Whether nothing has happened for too long: no state, no signature, no deposit, and no other phase."""
        self.note(channel, phase, now)
        return self.left(now) <= 0

    def note(self, channel: Channel, phase: Phase, now: float) -> None:
        """Begin to wait anew where something has happened."""
        newest = channel.newest
        progress = (channel.next_turn, channel.holdings, phase, len(newest.signed.signatures) if newest else 0)
        if progress != self._progress:
            self._progress, self._since, self._moved_at = progress, now, now
        if self._move_time and phase not in BEGINNING:
            is_friendly = channel.agreement.is_friendly
            self.seconds = max(self._given, self._move_time) if is_friendly else self._move_time
