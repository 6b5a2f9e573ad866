"""How much each account may still send; whose account an address is, `serving.addresses` says."""

from __future__ import annotations

from collections import OrderedDict

from forcemove.serving.addresses import account_of
from forcemove.serving.rate import Bucket

__all__ = ["Allowances"]

_MAX = 10_000
"""Addresses that are remembered. Who is forgotten has not been heard of while so many others were."""
_LEAST = 1_024
"""Bytes that the smallest request counts for."""


class Allowances:
    """Of all addresses: so many bytes a second each."""

    def __init__(self, bytes_per_second: int) -> None:
        self._rate = bytes_per_second
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()

    def take(self, address: str, size: int, now: float) -> float:
        """Let an address send so many bytes, and return 0; or the seconds after which it may send again, where it has
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
