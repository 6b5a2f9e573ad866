"""When a client greets its counterparties, and when it answers their greetings: often enough that every lost message is
sent again, and so seldom that clients do not exchange messages without end, whatever a messenger repeats. Knows a
clock, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Hashable

__all__ = ["ResyncTimer"]

_PAUSE = 1.0
_LONGEST_SILENCE = 60.0


class ResyncTimer:
    """The greetings of one client in one channel. Times are the clock's, in seconds; a pause is over where it jumps
    back."""

    def __init__(self, clock: Callable[[], float], silence: float) -> None:
        """`silence`: how long we wait for a message before we greet. It doubles, up to a minute, while nothing
        happens."""
        self._clock, self._first_silence = clock, silence
        self._answered: dict[int, float] = {}
        self._greeted: float | None = None
        self._waiting_for: Hashable = None
        self._since, self._silence = 0.0, silence

    def may_answer(self, sender: int) -> bool:
        """Whether a second has passed since this participant's last greeting was answered; then this one is, too."""
        is_over = self._is_over(self._answered.get(sender), _PAUSE)
        if is_over:
            self._answered[sender] = self._clock()
        return is_over

    def may_greet(self) -> bool:
        """Whether a second has passed since we greeted; then this is our next greeting."""
        is_over = self._is_over(self._greeted, _PAUSE)
        if is_over:
            self._greeted = self._clock()
        return is_over

    def is_silent(self, waiting_for: Hashable) -> bool:
        """Whether we have waited long for the same thing. `waiting_for`: what we are waiting for, None where it is
        nothing."""
        if waiting_for != self._waiting_for:
            self._waiting_for, self._since, self._silence = waiting_for, self._clock(), self._first_silence
        if waiting_for is None or not self._is_over(self._since, self._silence):
            return False
        self._since, self._silence = self._clock(), min(2 * self._silence, _LONGEST_SILENCE)
        return True

    def _is_over(self, since: float | None, pause: float) -> bool:
        return since is None or not 0 <= self._clock() - since < pause
