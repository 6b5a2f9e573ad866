"""How much one endpoint gives at once, as its answers and refusals have shown. Knows nothing of what is asked."""

from __future__ import annotations

__all__ = ["Learned"]

_GROWS_AFTER = 20
"""Answers in a row to questions as large as may be, after which the double is tried."""


class Learned:
    """The most that an endpoint is asked for at once (`value`): at first as much as is useful, less where it refuses,
    and slowly more again."""

    def __init__(self, most: int) -> None:
        self.value = self._most = most
        self._answers = 0

    def lower(self, value: int) -> None:
        """A question was refused for its size: ask for so much at most."""
        self.value, self._answers = max(value, 1), 0

    def on_answer(self, size: int) -> None:
        """A question of this size was answered."""
        self._answers += size >= self.value
        if self._answers >= _GROWS_AFTER:
            self.value, self._answers = min(2 * self.value, self._most), 0
