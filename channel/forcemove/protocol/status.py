"""The packed status word of a channel and the modes that follow from it. The twin of `Status.sol`."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from forcemove.protocol.types import UINT48_MAX, UINT256_MAX, require_uint

__all__ = ["EMPTY_STATUS", "Mode", "Status"]

_FINGERPRINT_MAX = 2**160 - 1


class Mode(Enum):
    """Derived from the clock, never stored."""

    OPEN = "Open"
    CHALLENGE = "Challenge"
    FINALIZED = "Finalized"


class Status(Struct, frozen=True):
    """`turn_num_record` uint48, `finalizes_at` uint48 (a block time in seconds; 0: no clock), `fingerprint` uint160."""

    turn_num_record: int
    finalizes_at: int
    fingerprint: int

    def __post_init__(self) -> None:
        require_uint("turn_num_record", self.turn_num_record, UINT48_MAX)
        require_uint("finalizes_at", self.finalizes_at, UINT48_MAX)
        require_uint("fingerprint", self.fingerprint, _FINGERPRINT_MAX)

    @classmethod
    def unpack(cls, word: int) -> Status:
        """From the storage word: 48 | 48 | 160 bits, from the highest."""
        require_uint("status", word, UINT256_MAX)
        return cls(word >> 208, word >> 160 & UINT48_MAX, word & _FINGERPRINT_MAX)

    def pack(self) -> int:
        """The storage word."""
        return self.turn_num_record << 208 | self.finalizes_at << 160 | self.fingerprint

    @property
    def is_empty(self) -> bool:
        """Whether nothing is recorded."""
        return self.pack() == 0

    def mode(self, now: int) -> Mode:
        """At block time `now`, seconds. At exactly `finalizes_at` it is too late to answer and time to pay."""
        if self.finalizes_at == 0:
            return Mode.OPEN
        return Mode.FINALIZED if now >= self.finalizes_at else Mode.CHALLENGE


EMPTY_STATUS = Status(0, 0, 0)
"""Nothing recorded."""
