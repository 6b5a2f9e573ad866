"""What a sender refuses by itself."""

from __future__ import annotations

from dataclasses import dataclass

from forcemove.channel.errors import ChainError

__all__ = ["GasTooDear"]


@dataclass(eq=False)
class GasTooDear(ChainError):
    """At the node's price the gas would cost `cost`, more than the `most` that the transaction is worth to us; both in
    wei. It was not sent."""

    cost: int
    most: int
