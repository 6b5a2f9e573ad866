"""How fast one client may speak. What it says too fast is read later, or not at all."""

from __future__ import annotations

__all__ = ["Bucket"]


class Bucket:
    """Tokens that come back at a rate, up to twice as many as come in a second."""

    def __init__(self, rate: float, now: float) -> None:
        """`rate`: tokens a second; `now`: seconds of any clock that does not go back."""
        self._rate, self._most = rate, 2 * rate
        self._tokens, self._since = self._most, now

    def take(self, count: float, now: float) -> float:
        """Take tokens, more than there are if need be; returns the seconds to wait until none is owed."""
        self._tokens = min(self._most, self._tokens + (now - self._since) * self._rate) - count
        self._since = now
        return max(0.0, -self._tokens / self._rate)
