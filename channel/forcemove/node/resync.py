"""When a client greets its counterparties, and when it answers their greetings: often enough that every lost message is
sent again, and so rarely that clients do not exchange messages without end, whatever a messenger repeats. Knows a
clock, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Hashable

_PAUSE = 1.0
_LONGEST_SILENCE = 60.0
_LONGEST_OF_ALL = 600.0
_PART = 0.1
"""Where we have waited for very long we greet after another tenth of it, at most the longest of all."""


class ResyncTimer:
    """The greetings of one client in one channel. Times are the clock's, in seconds; a pause is over where it jumps
    back."""

    def __init__(self, clock: Callable[[], float], silence: float) -> None:
        """`silence`: how long we wait for a message before we greet. It doubles, up to a minute, while nothing
        happens, and goes on to grow, up to ten minutes, where nothing happens for ten minutes and more."""
        self._clock, self._first_silence = clock, silence
        self._answered: dict[int, float] = {}
        self._greeted: float | None = None
        self._waiting_for: Hashable = None
        self._since, self._began, self._silence = 0.0, 0.0, silence

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
        self._note(waiting_for)
        if waiting_for is None or not self._is_over(self._since, self._silence):
            return False
        now = self._clock()
        self._silence = max(min(2 * self._silence, _LONGEST_SILENCE), min(_PART * (now - self._began), _LONGEST_OF_ALL))
        self._since = now
        return True

    def silent_at(self, waiting_for: Hashable) -> float | None:
        """When `is_silent` is to be asked if we wait for the same thing until then; None where we wait for nothing."""
        self._note(waiting_for)
        return None if waiting_for is None else min(self._since, self._clock()) + self._silence

    def _note(self, waiting_for: Hashable) -> None:
        if waiting_for != self._waiting_for:
            self._waiting_for, self._silence = waiting_for, self._first_silence
            self._since = self._began = self._clock()

    def _is_over(self, since: float | None, pause: float) -> bool:
        return since is None or not 0 <= self._clock() - since < pause
