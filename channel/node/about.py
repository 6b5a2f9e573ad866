"""What a journal keeps of a channel besides the channel itself: how it is put together again after a restart."""

from __future__ import annotations

from msgspec import Struct

from forcemove.channel.protocol.types import require_bytes
from forcemove.channel.protocol.values import Codec

__all__ = ["ABOUTS", "About"]


class About(Struct, frozen=True):
    """`app`: the name of its contract's artifact. `from_block`: a block before the channel's first log. `factory`: of
    the address book that named the contracts, 20 bytes. `confirmations`: how deep a log must be to be believed.
    `began`: the hash of that block, 32 bytes, or empty where nobody asked: a chain without it is another one, whatever
    its id."""

    app: str
    from_block: int
    factory: bytes
    confirmations: int
    began: bytes = b""

    def __post_init__(self) -> None:
        require_bytes("factory", self.factory, 20)


ABOUTS: Codec[About] = Codec("description of a channel", About)
"""Encodes and decodes them, for a journal."""
