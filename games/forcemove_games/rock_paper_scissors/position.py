"""Positions of rock-paper-scissors, as data and as bytes. A position that exists is valid, and has one encoding.

appData is seven 32-byte words, 224 bytes: positionType, stake, preCommit, bPlay, aPlay, salt, roundNum. A proposes the
round. Words that a position type does not use are zero.
"""

from __future__ import annotations

from enum import IntEnum
from functools import lru_cache

from msgspec import Struct

from forcemove import UINT256_MAX, InvalidValue, LabelledEnum, require_bytes, require_uint
from forcemove_games.two_player import DECODED_POSITIONS, MalformedPosition, encode_words, read_words

__all__ = ["Position", "PositionType", "Weapon", "decode", "initial"]

_WORDS = 7
_POSITION_TYPE, _PRE_COMMIT, _B_PLAY, _A_PLAY, _SALT = 0, 2, 3, 4, 5
_NO_HASH = bytes(32)


class PositionType(LabelledEnum):
    """What the mover of the state has done."""

    START = 0
    ROUND_PROPOSED = 1
    ROUND_ACCEPTED = 2
    REVEAL = 3


_TYPES = tuple(PositionType)
_ROUND_PROPOSED, _ROUND_ACCEPTED, _REVEAL = 1, 2, 3


class Weapon(IntEnum):
    """Each beats the one before it, and the first beats the last."""

    ROCK = 0
    PAPER = 1
    SCISSORS = 2

    def beats(self, other: Weapon) -> bool:
        """Whether this one wins against the other."""
        return (self + len(Weapon) - other) % len(Weapon) == 1


_SCISSORS = int(Weapon.SCISSORS)


class Position(Struct, frozen=True):
    """One position.

    `stake`: uint256, in the asset's smallest unit. `pre_commit`: 32 bytes, from ROUND_PROPOSED on. `b_play`: 0 to 2,
    from ROUND_ACCEPTED on. `a_play`: 0 to 2, and `salt`: 32 bytes, in REVEAL. `round_num`: uint256, how many rounds
    have been played out. Raises `InvalidValue` on what is not a uint256 or not 32 bytes at all, then
    `MalformedPosition` in the order of the contract.
    """

    position_type: PositionType
    stake: int
    pre_commit: bytes = _NO_HASH
    b_play: int = 0
    a_play: int = 0
    salt: bytes = _NO_HASH
    round_num: int = 0

    def __post_init__(self) -> None:
        # Every turn decodes two positions: a valid one is accepted at once, the fault of another is found afterwards.
        stake, b_play, a_play, round_num = self.stake, self.b_play, self.a_play, self.round_num
        pre_commit, salt = self.pre_commit, self.salt
        if not (
            type(stake) is type(b_play) is type(a_play) is type(round_num) is int
            and 0 <= stake <= UINT256_MAX
            and 0 <= round_num <= UINT256_MAX
            and 0 <= b_play <= _SCISSORS
            and 0 <= a_play <= _SCISSORS
            and type(self.position_type) is PositionType
            and type(pre_commit) is type(salt) is bytes
            and len(pre_commit) == len(salt) == 32
        ):
            self._require_types()
        self._require_fields_fit(int(self.position_type))

    def _require_types(self) -> None:
        for field in ("stake", "b_play", "a_play", "round_num"):
            require_uint(field, getattr(self, field), UINT256_MAX)
        if type(self.position_type) is not PositionType:
            raise InvalidValue("position_type", self.position_type, "a PositionType")
        require_bytes("pre_commit", self.pre_commit, 32)
        require_bytes("salt", self.salt, 32)

    def _require_fields_fit(self, kind: int) -> None:
        if kind < _ROUND_PROPOSED and self.pre_commit != _NO_HASH:
            raise MalformedPosition(_PRE_COMMIT, int.from_bytes(self.pre_commit, "big"))
        if self.b_play > (0 if kind < _ROUND_ACCEPTED else _SCISSORS):
            raise MalformedPosition(_B_PLAY, self.b_play)
        if self.a_play > (0 if kind < _REVEAL else _SCISSORS):
            raise MalformedPosition(_A_PLAY, self.a_play)
        if kind < _REVEAL and self.salt != _NO_HASH:
            raise MalformedPosition(_SALT, int.from_bytes(self.salt, "big"))

    def encode(self) -> bytes:
        """The 224 bytes of appData."""
        return b"".join(
            (
                encode_words(self.position_type, self.stake),
                self.pre_commit,
                encode_words(self.b_play, self.a_play),
                self.salt,
                encode_words(self.round_num),
            )
        )


@lru_cache(maxsize=DECODED_POSITIONS)
def decode(app_data: bytes) -> Position:
    """The position in appData. Raises `WrongPositionLength`, then `MalformedPosition`."""
    kind, stake, _, b_play, a_play, _, round_num = read_words(app_data, _WORDS)
    if kind > _REVEAL:
        raise MalformedPosition(_POSITION_TYPE, kind)
    return Position(_TYPES[kind], stake, app_data[64:96], b_play, a_play, app_data[160:192], round_num)


def initial(stake: int) -> Position:
    """The first position of a channel with this stake."""
    return Position(PositionType.START, stake)
