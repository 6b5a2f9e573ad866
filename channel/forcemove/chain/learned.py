"""How much one endpoint gives at once, as its answers and refusals have shown. Knows nothing of what is asked."""

from __future__ import annotations

_GROWS_AFTER, _LATEST, _SOON = 20, 160, 3
"""Answers in a row to questions as large as may be, after which a larger one is tried: at first, twice as many after
each try in vain, and at most; and while less than half of what was refused was answered."""


class Learned:
    """The most that an endpoint is asked for at once (`value`): at first as much as is useful, less where it refuses,
    and slowly more again."""

    def __init__(self, most: int) -> None:
        self.value = self._most = most
        self._answered = self._refused = self._in_a_row = 0
        self._grows_after = _GROWS_AFTER

    @property
    def is_known(self) -> bool:
        """Whether a question as large as may be was answered."""
        return self._answered >= self.value

    def on_refusal(self, size: int) -> None:
        """A question of this size was too much: from now on it is one that was answered before, or about half: a round
        number, as limits are that people set."""
        if not 0 < self._answered < size:
            self._answered = 0
        elif self._refused:
            self._grows_after = min(2 * self._grows_after, _LATEST)
        self.value, self._refused, self._in_a_row = self._answered or _round(max(size // 2, 1)), size, 0

    def on_answer(self, size: int) -> None:
        """A question of this size was answered."""
        if size < self.value:
            return
        if self.value > self._answered:
            self._grows_after = _GROWS_AFTER
        self._answered, self._in_a_row = self.value, self._in_a_row + 1
        if self._in_a_row >= (_SOON if self._refused > 2 * self.value else self._grows_after):
            self.value, self._in_a_row = min(self.value + self._more(), self._most), 0

    def _more(self) -> int:
        """How much more is tried: at most half way to what was refused; twice as much where as much was answered."""
        if self._refused <= self.value:
            return self.value
        return max(min(self.value // 4 + 1, (self._refused - self.value) // 2), 1)


def _round(size: int) -> int:
    """The largest of 1, 2, 5, 10, 20, 50 and so on up to this size."""
    tens: int = 10 ** (len(str(size)) - 1)
    return max(each * tens for each in (1, 2, 5) if each * tens <= size)
