"""How fast one client may send. What a client sends too fast is read later, or not at all."""

from __future__ import annotations

from collections import OrderedDict

from forcemove.serving.addresses import account_of

_MAX = 10_000
"""Addresses that are remembered. One that is forgotten has sent nothing while this many others have."""
_LEAST = 1_024
"""Bytes that the smallest request counts for."""


class Bucket:
    """Tokens that come back at a rate, up to a greatest number."""

    __slots__ = ("_max", "_rate", "_since", "_tokens")

    def __init__(self, rate: float, now: float, most: float | None = None) -> None:
        """`rate`: tokens a second; `now`: seconds of any clock that does not go back; `most`: tokens that the
        bucket holds, None for twice as many as come in a second."""
        self._rate, self._max = rate, 2 * rate if most is None else most
        self._tokens, self._since = self._max, now

    def take(self, count: float, now: float) -> float:
        """Take tokens, more than there are if need be; returns the seconds to wait until none is owed."""
        tokens = self._tokens + (now - self._since) * self._rate
        self._tokens = tokens = (tokens if tokens < self._max else self._max) - count  # `min` takes thrice as long
        self._since = now
        return 0.0 if tokens >= 0 else -tokens / self._rate

    def wait(self, count: float, now: float) -> float:
        """The seconds to wait until there are `count` tokens; none is taken."""
        missing = min(count, self._max) - self._tokens - (now - self._since) * self._rate
        return max(0.0, missing / self._rate)

    def is_full(self, now: float) -> bool:
        """Whether the bucket holds all the tokens that it can."""
        return self.wait(self._max, now) <= 0


class Allowances:
    """The rates of all addresses: each may send this many bytes a second."""

    def __init__(self, bytes_per_second: int) -> None:
        self._rate = bytes_per_second
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()

    def take(self, address: str, size: int, now: float) -> float:
        """Let an address send `size` bytes, and return 0; or the seconds after which it may send again, where it has
        sent too much before. `now`: seconds of a clock that does not go back."""
        account = account_of(address)
        bucket = self._buckets.setdefault(account, Bucket(self._rate, now))
        self._buckets.move_to_end(account)
        if len(self._buckets) > _MAX:
            self._buckets.popitem(last=False)
        wait = bucket.take(0, now)
        if not wait:
            bucket.take(max(size, _LEAST), now)
        return wait
