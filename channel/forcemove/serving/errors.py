"""What keeps a service from starting."""

from __future__ import annotations

from dataclasses import dataclass

from forcemove.errors import LocalError

__all__ = ["AddressUnusable"]


@dataclass(eq=False)
class AddressUnusable(LocalError):
    """Nothing can listen at `host`, `port`: another program may do so already."""

    host: str
    port: int
    reason: str
