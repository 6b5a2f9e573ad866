"""Commitments: a hidden choice is hashed together with a salt, and opened later by showing both.

A commitment binds because Keccak-256 has no known collisions, and hides because its salt is 32 fresh random bytes. A
salt that is used twice hides nothing: equal choices would show equal hashes. So `Opening.fresh` draws one each time,
and nothing else in the library makes salts.

This one is bound to no place. Where it could be copied, and opened with what its maker shows, a game hashes more: see
`forcemove_games.rock_paper_scissors.openings.pre_commit_of`, and `commitment_of` of the same game's table.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from operator import index

from forcemove import UINT256_MAX, MalformedBytes, keccak256, require_bytes, require_uint, word
from forcemove_games.randomness import Randomness, system_randomness

__all__ = ["SALT_LENGTH", "Opening", "commit"]

SALT_LENGTH = 32
_ENCODED_LENGTH = 32 + SALT_LENGTH


def commit(choice: int, salt: bytes) -> bytes:
    """The 32-byte commitment: keccak256 of 64 bytes, `choice` as a uint256 and the 32-byte salt."""
    return keccak256(word(choice) + salt)


@dataclass(frozen=True, slots=True)
class Opening:
    """The opening of a commitment: the hidden `choice` (uint256) and the `salt` (32 bytes). Neither shows in its
    repr."""

    choice: int = field(repr=False)
    salt: bytes = field(repr=False)

    def __post_init__(self) -> None:
        # A weapon is an IntEnum; what is hidden is its number.
        object.__setattr__(self, "choice", index(self.choice))
        require_uint("choice", self.choice, UINT256_MAX)
        require_bytes("salt", self.salt, SALT_LENGTH)

    @classmethod
    def fresh(cls, choice: int, randomness: Randomness = system_randomness) -> Opening:
        """Hide a choice with a salt that was never used before."""
        return cls(choice, randomness(SALT_LENGTH))

    @property
    def commitment(self) -> bytes:
        """The 32 bytes to publish."""
        return commit(self.choice, self.salt)

    def encode(self) -> bytes:
        """The 64 bytes that are hashed; secret until the commitment is opened."""
        return word(self.choice) + self.salt

    @classmethod
    def decode(cls, data: bytes) -> Opening:
        """The inverse of `encode`. Raises `MalformedBytes` on any other length than 64."""
        if len(data) != _ENCODED_LENGTH:
            raise MalformedBytes("opening", f"it has {len(data)} bytes instead of {_ENCODED_LENGTH}")
        return cls(int.from_bytes(data[:32], "big"), data[32:])
