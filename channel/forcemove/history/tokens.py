"""What a channel's tokens say of themselves, for people who read amounts. Pure: nothing is decided by it."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from forcemove.errors import InvalidValue
from forcemove.protocol.types import require_bytes

MAX_DECIMALS = 77
"""Digits that can stand after the point of a token's amount: a 256-bit number has no more."""


class TokenFacts(Struct, frozen=True):
    """The token at `address` (20 bytes), and what it says of itself: `symbol`, its name for itself, any text; and
    `decimals`, the digits of an amount that stand after the point. Raises `InvalidValue`."""

    address: bytes
    symbol: str = ""
    decimals: int = 0

    def __post_init__(self) -> None:
        require_bytes("address", self.address, 20)
        if not 0 <= self.decimals <= MAX_DECIMALS:
            raise InvalidValue("decimals", self.decimals, f"from 0 to {MAX_DECIMALS}")


Tokens = Sequence[TokenFacts]
"""Those of a channel's tokens of which something is known; ether is none."""
