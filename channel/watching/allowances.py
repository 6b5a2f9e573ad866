"""How much each address may still send. An address of IPv6 counts as its /64, which is what one customer is given."""

from __future__ import annotations

from collections import OrderedDict
from ipaddress import IPv6Address, ip_address

from forcemove.channel.serving.rate import Bucket

__all__ = ["Allowances", "place_of"]

_MOST = 10_000
"""Addresses that are remembered. Who is forgotten has not been heard of while so many others were."""
_LEAST = 1_024
"""Bytes that the smallest request counts for."""


def place_of(address: str) -> str:
    """What counts as one address."""
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if not isinstance(found, IPv6Address):
        return str(found)
    return str(found.ipv4_mapped or IPv6Address(int(found) >> 64 << 64))


class Allowances:
    """Of all addresses: so many bytes a second each."""

    def __init__(self, bytes_per_second: int) -> None:
        self._rate = bytes_per_second
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()

    def take(self, address: str, size: int, now: float) -> float:
        """Let an address send so many bytes, and return 0; or the seconds after which it may send again, where it has
        sent too much before. `now`: seconds of a clock that does not go back."""
        place = place_of(address)
        bucket = self._buckets.setdefault(place, Bucket(self._rate, now))
        self._buckets.move_to_end(place)
        if len(self._buckets) > _MOST:
            self._buckets.popitem(last=False)
        wait = bucket.take(0, now)
        if not wait:
            bucket.take(max(size, _LEAST), now)
        return wait
