"""How much one endpoint gives at once, as its answers and refusals have shown. Knows nothing of what is asked."""

from __future__ import annotations

__all__ = ["Learned"]

_GROWS_AFTER = 20
"""Answers in a row to questions as large as may be, after which a larger one is tried."""


class Learned:
    """The most that an endpoint is asked for at once (`value`): at first as much as is useful, less where it refuses,
    and slowly more again."""

    def __init__(self, most: int) -> None:
        self.value = self._most = most
        self._answered = self._refused = self._in_a_row = 0

    @property
    def is_known(self) -> bool:
        """Whether a question as large as may be was answered."""
        return self._answered >= self.value

    def on_refusal(self, size: int) -> None:
        """A question of this size was too much: from now on it is one that was answered before, or half."""
        if not 0 < self._answered < size:
            self._answered = 0
        self.value, self._refused, self._in_a_row = self._answered or max(size // 2, 1), size, 0

    def on_answer(self, size: int) -> None:
        """A question of this size was answered."""
        if size < self.value:
            return
        self._answered, self._in_a_row = self.value, self._in_a_row + 1
        if self._in_a_row >= _GROWS_AFTER:
            between = (self._refused - self.value) // 2 if self._refused > self.value else self._most
            more = min(self.value // 4 + 1, max(between, 1))
            self.value, self._in_a_row = min(self.value + more, self._most), 0
