"""What a watchtower's service grants its clients; every number can be set by its operator."""

from __future__ import annotations

from dataclasses import dataclass

from forcemove.serving.limits import require_positive


@dataclass(frozen=True)
class ServiceLimits:
    """`connections`: at once, each for one request; `per_address`: at once from one IP address (of IPv6, from one /64).
    `bytes_per_second`: of appointments from one address, with twice as many at once; more is refused for a while.
    `waiting`: appointments that wait for the tower. `seconds`: that a connection may take in all, its answer included.

    Raises `InvalidValue` on a number that is not above 0."""

    connections: int = 256
    per_address: int = 16
    bytes_per_second: int = 2**16
    waiting: int = 64
    seconds: float = 60.0

    def __post_init__(self) -> None:
        require_positive(self)
