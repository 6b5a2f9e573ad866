"""Challenges: every hash of a proof begins with a tag of its own, so no proof of one kind can serve as another, and
with a context, so none serves in another channel or turn."""

from __future__ import annotations

from enum import Enum
from functools import lru_cache

from forcemove import UINT64_MAX, keccak256, require_bytes, require_uint, word
from forcemove_games.cards.curve import FIELD, ORDER, Point


class Tag(Enum):
    """What is hashed. The value of a tag is the hash of its name, see `bytes`."""

    KEY = "key"
    SHARE = "share"
    SHUFFLE_STATEMENT = "shuffle statement"
    SHUFFLE_U = "shuffle u"
    SHUFFLE_C = "shuffle c"
    GENERATOR = "generator"
    NONCE = "nonce"

    @property
    def bytes(self) -> bytes:
        """The 32 bytes that stand for the tag."""
        return _TAGS[self]


_TAGS = {each: keccak256(b"forcemove/cards/1/" + each.value.encode()) for each in Tag}


def context(tag: Tag, channel_id: bytes, turn_num: int) -> bytes:
    """The 32 bytes that bind a proof to a channel (32 bytes) and to the turn of the state that it is in."""
    require_bytes("channel id", channel_id, 32)
    require_uint("turn num", turn_num, UINT64_MAX)
    return keccak256(tag.bytes + channel_id + word(turn_num))


def hash_to_scalar(*parts: bytes) -> int:
    """The hash of these bytes, one after the other, modulo the group's order."""
    return int.from_bytes(keccak256(b"".join(parts)), "big") % ORDER


def address_word(address: bytes) -> bytes:
    """An address of 20 bytes as a word of 32."""
    return bytes(12) + address


@lru_cache(maxsize=256)
def generator(index: int) -> Point:
    """A point of which nobody knows the logarithm to any other: h of index 0, h_i of index i. Its x is the first of
    keccak256(tag, index, counter) that is a point's, index and counter in 4 bytes each; its y is even."""
    counter = 0
    while True:
        x = int.from_bytes(
            keccak256(Tag.GENERATOR.bytes + index.to_bytes(4, "big") + counter.to_bytes(4, "big")), "big"
        )
        # Euler's criterion: whether x^3 + 7 is a square.
        if x < FIELD and pow(x**3 + 7, (FIELD - 1) // 2, FIELD) == 1:
            return Point.from_x(x, 0)
        counter += 1
