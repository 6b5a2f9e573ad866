"""Positions of rock-paper-scissors, as data and as bytes. A position that exists is valid, and has one encoding.

appData is nine 32-byte words, 288 bytes: positionType, stake, channelId, preCommit, proposedAt, bPlay, aPlay, salt,
roundNum. A proposes the round. Words that a position type does not use are zero. Players commit to the channel, and
know it by its word here.
"""

from __future__ import annotations

from enum import IntEnum
from functools import lru_cache

from msgspec import Struct

from forcemove import UINT256_MAX, InvalidValue, LabelledEnum, require_bytes, require_uint
from forcemove_games.two_player import DECODED_POSITIONS, MalformedPosition, encode_words, read_words

_WORDS = 9
_POSITION_TYPE, _PRE_COMMIT, _PROPOSED_AT, _B_PLAY, _A_PLAY, _SALT = 0, 3, 4, 5, 6, 7
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

    `stake`: uint256, in the asset's smallest unit. `channel_id`: 32 bytes. `pre_commit`: 32 bytes, and `proposed_at`:
    uint256, the turn of the proposal, from ROUND_PROPOSED on. `b_play`: 0 to 2, from ROUND_ACCEPTED on. `a_play`: 0 to
    2, and `salt`: 32 bytes, in REVEAL. `round_num`: uint256, how many rounds have been played out. Raises
    `InvalidValue` on what is not a uint256 or not 32 bytes at all, then `MalformedPosition` in the order of the
    contract.
    """

    position_type: PositionType
    stake: int
    channel_id: bytes
    pre_commit: bytes = _NO_HASH
    proposed_at: int = 0
    b_play: int = 0
    a_play: int = 0
    salt: bytes = _NO_HASH
    round_num: int = 0

    def __post_init__(self) -> None:
        # Every turn decodes two positions: a valid one is accepted at once, the fault of another is found afterwards.
        stake, b_play, a_play, round_num = self.stake, self.b_play, self.a_play, self.round_num
        channel_id, pre_commit, proposed_at, salt = self.channel_id, self.pre_commit, self.proposed_at, self.salt
        if not (
            type(stake) is type(proposed_at) is type(b_play) is type(a_play) is type(round_num) is int
            and 0 <= stake <= UINT256_MAX
            and 0 <= proposed_at <= UINT256_MAX
            and 0 <= round_num <= UINT256_MAX
            and 0 <= b_play <= _SCISSORS
            and 0 <= a_play <= _SCISSORS
            and type(self.position_type) is PositionType
            and type(channel_id) is type(pre_commit) is type(salt) is bytes
            and len(channel_id) == len(pre_commit) == len(salt) == 32
        ):
            self._require_types()
        self._require_fields_fit(int(self.position_type))

    def _require_types(self) -> None:
        for field in ("stake", "proposed_at", "b_play", "a_play", "round_num"):
            require_uint(field, getattr(self, field), UINT256_MAX)
        if type(self.position_type) is not PositionType:
            raise InvalidValue("position_type", self.position_type, "a PositionType")
        for field in ("channel_id", "pre_commit", "salt"):
            require_bytes(field, getattr(self, field), 32)

    def _require_fields_fit(self, kind: int) -> None:
        if kind < _ROUND_PROPOSED and self.pre_commit != _NO_HASH:
            raise MalformedPosition(_PRE_COMMIT, int.from_bytes(self.pre_commit, "big"))
        if kind < _ROUND_PROPOSED and self.proposed_at:
            raise MalformedPosition(_PROPOSED_AT, self.proposed_at)
        if self.b_play > (0 if kind < _ROUND_ACCEPTED else _SCISSORS):
            raise MalformedPosition(_B_PLAY, self.b_play)
        if self.a_play > (0 if kind < _REVEAL else _SCISSORS):
            raise MalformedPosition(_A_PLAY, self.a_play)
        if kind < _REVEAL and self.salt != _NO_HASH:
            raise MalformedPosition(_SALT, int.from_bytes(self.salt, "big"))

    def encode(self) -> bytes:
        """The 288 bytes of appData."""
        return b"".join(
            (
                encode_words(self.position_type, self.stake),
                self.channel_id,
                self.pre_commit,
                encode_words(self.proposed_at, self.b_play, self.a_play),
                self.salt,
                encode_words(self.round_num),
            )
        )


@lru_cache(maxsize=DECODED_POSITIONS)
def decode(app_data: bytes) -> Position:
    """The position in appData. Raises `WrongPositionLength`, then `MalformedPosition`."""
    kind, stake, _, _, proposed_at, b_play, a_play, _, round_num = read_words(app_data, _WORDS)
    if kind > _REVEAL:
        raise MalformedPosition(_POSITION_TYPE, kind)
    channel_id, pre_commit, salt = app_data[64:96], app_data[96:128], app_data[224:256]
    return Position(_TYPES[kind], stake, channel_id, pre_commit, proposed_at, b_play, a_play, salt, round_num)


def initial(channel_id: bytes, stake: int) -> Position:
    """The first position of a channel (its id has 32 bytes) with this stake."""
    return Position(PositionType.START, stake, channel_id)
