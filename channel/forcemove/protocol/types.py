"""Widths, addresses, signatures and fixed parts: the protocol's plain values. A value that exists is valid.

Addresses are 20 bytes, hashes and ids 32 bytes, numbers Python's integers within Solidity's widths. Knows only errors.
"""

from __future__ import annotations

from msgspec import Struct

from forcemove.errors import InvalidValue
from forcemove.protocol import rule_errors

__all__ = [
    "ETHER",
    "MAX_AMOUNT",
    "MAX_APP_DATA",
    "MAX_CHALLENGE_DURATION",
    "MAX_PARTICIPANTS",
    "MIN_CHALLENGE_DURATION",
    "MIN_PARTICIPANTS",
    "UINT48_MAX",
    "UINT256_MAX",
    "ZERO_ADDRESS",
    "FixedPart",
    "Signature",
    "require_bytes",
    "require_uint",
]

ZERO_ADDRESS = bytes(20)
ETHER = ZERO_ADDRESS
"""The asset that stands for ether."""
UINT48_MAX = 2**48 - 1
UINT64_MAX = 2**64 - 1
UINT256_MAX = 2**256 - 1
MIN_PARTICIPANTS = 2
MAX_PARTICIPANTS = 8
MIN_CHALLENGE_DURATION = 60
MAX_CHALLENGE_DURATION = 365 * 24 * 60 * 60
MAX_APP_DATA = 8_192
"""The most that appData and evidence have together, in bytes."""
MAX_AMOUNT = 2**253 - 1
"""The most that a channel can hold of an asset, in its smallest unit."""


def require_uint(field: str, value: int, maximum: int) -> None:
    """Raise `InvalidValue` unless `value` is an integer from 0 to `maximum` (a bool is refused)."""
    if type(value) is not int or not 0 <= value <= maximum:
        raise InvalidValue(field, value, f"an integer from 0 to {maximum}")


def require_bytes(field: str, value: bytes, length: int) -> None:
    """Raise `InvalidValue` unless `value` is `bytes` of exactly this length."""
    if type(value) is not bytes or len(value) != length:
        raise InvalidValue(field, value, f"exactly {length} bytes")


class Signature(Struct, frozen=True):
    """A compact ECDSA signature (EIP-2098), 64 bytes: `r`, then `s` with the parity of y in its highest bit.

    Only the length is checked here; `signing.recover` finds out whose signature it is, and refuses one that is not
    canonical.
    """

    compact: bytes

    def __post_init__(self) -> None:
        require_bytes("signature", self.compact, 64)

    @property
    def r(self) -> bytes:
        """The 32 bytes of r."""
        return self.compact[:32]

    @property
    def vs(self) -> bytes:
        """The 32 bytes of s, with the parity in the highest bit."""
        return self.compact[32:]


class FixedPart(Struct, frozen=True, gc=False):
    """What never changes in a channel; its id commits to all of it.

    `participants`: 2 to 8 distinct addresses, none zero. `channel_nonce`: uint64. `app_definition`: the address of the
    app. `challenge_duration`: seconds, 60 to 31,536,000. `asset`: the home asset (20 bytes; zero is ether), with which
    the record is stored. `total`: what the channel is funded with in it, to which every outcome adds up; 0: any.
    Raises the adjudicator's errors, in its order.
    """

    participants: tuple[bytes, ...]
    channel_nonce: int
    app_definition: bytes
    challenge_duration: int
    asset: bytes = ETHER
    total: int = 0

    def __post_init__(self) -> None:
        if type(self.participants) is not tuple:
            raise InvalidValue("participants", self.participants, "a tuple of addresses")
        for participant in self.participants:
            require_bytes("participants", participant, 20)
        require_uint("channel_nonce", self.channel_nonce, UINT64_MAX)
        require_bytes("app_definition", self.app_definition, 20)
        require_uint("challenge_duration", self.challenge_duration, UINT48_MAX)
        require_bytes("asset", self.asset, 20)
        require_uint("total", self.total, UINT256_MAX)
        _require_valid_participants(self.participants)
        if not MIN_CHALLENGE_DURATION <= self.challenge_duration <= MAX_CHALLENGE_DURATION:
            raise rule_errors.ChallengeDurationOutOfRange(self.challenge_duration)
        if self.total > MAX_AMOUNT:
            raise rule_errors.TotalTooHigh(self.total)

    def total_of(self, asset: bytes) -> int:
        """What the channel is funded with of an asset (20 bytes), if it is its home asset; else 0."""
        return self.total if asset == self.asset else 0

    def mover(self, turn_num: int) -> int:
        """The index of the participant who signs the state of this turn."""
        return turn_num % len(self.participants)


def _require_valid_participants(participants: tuple[bytes, ...]) -> None:
    if not MIN_PARTICIPANTS <= len(participants) <= MAX_PARTICIPANTS:
        raise rule_errors.ParticipantCountOutOfRange(len(participants))
    seen: dict[bytes, int] = {}
    for index, participant in enumerate(participants):
        if participant == ZERO_ADDRESS:
            raise rule_errors.ZeroParticipant(index)
        if participant in seen:
            raise rule_errors.DuplicateParticipant(seen[participant], index)
        seen[participant] = index
