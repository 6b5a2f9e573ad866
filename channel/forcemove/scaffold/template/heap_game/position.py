"""The position: appData, decoded. Both languages read the same 96 bytes and refuse the same ones."""

from __future__ import annotations

from dataclasses import dataclass

from forcemove import AppError, LabelledEnum, word

__all__ = [
    "MOST",
    "SIZE",
    "MalformedPosition",
    "Position",
    "PositionType",
    "WrongPositionLength",
    "decode",
]

SIZE = 10
"""How many a full heap has."""
MOST = 3
"""How many a move may take."""
_LENGTH = 96
_WORD = 32


class PositionType(LabelledEnum):
    """`WAITING` for a round to begin; `TAKING` from the heap."""

    WAITING = 0
    TAKING = 1


class WrongPositionLength(AppError):
    """appData has exactly the length of a position, in bytes."""

    expected: int
    submitted: int


class MalformedPosition(AppError):
    """Word `word` of the position holds a value that it cannot have there."""

    word: int
    value: int


@dataclass(frozen=True)
class Position:
    """`stake`: in the asset's smallest unit. `heap`: how many are left, none while a round is waited for."""

    position_type: PositionType
    stake: int
    heap: int

    def encode(self) -> bytes:
        """Three words of 32 bytes."""
        return word(self.position_type) + word(self.stake) + word(self.heap)


def decode(app_data: bytes) -> Position:
    """The position in appData. Raises `WrongPositionLength`, `MalformedPosition`."""
    if len(app_data) != _LENGTH:
        raise WrongPositionLength(_LENGTH, len(app_data))
    kind, stake, heap = (int.from_bytes(app_data[start : start + _WORD], "big") for start in range(0, _LENGTH, _WORD))
    if kind > PositionType.TAKING:
        raise MalformedPosition(0, kind)
    if heap >= SIZE or (heap == 0) != (kind == PositionType.WAITING):
        raise MalformedPosition(2, heap)
    return Position(PositionType(kind), stake, heap)
