"""The position: appData, decoded. Both languages read the same 128 bytes and refuse the same ones."""

from __future__ import annotations

from dataclasses import dataclass

from forcemove import AppError, LabelledEnum, word

__all__ = [
    "BOARD",
    "BOTTOM",
    "COLUMNS",
    "ROWS",
    "MalformedPosition",
    "Position",
    "PositionType",
    "WrongPositionLength",
    "decode",
    "has_four",
]

COLUMNS, ROWS = 7, 6
_COLUMN = ROWS + 1
"""Bits of a column; the highest of them stays empty, so that no line runs from one column into another."""
BOTTOM = sum(1 << _COLUMN * column for column in range(COLUMNS))
"""The lowest cell of each column."""
BOARD = BOTTOM * ((1 << ROWS) - 1)
"""All cells."""
_DIRECTIONS = (1, _COLUMN, _COLUMN - 1, _COLUMN + 1)
"""From a cell to the next of a line: up, right, right and down, right and up."""
_LENGTH = 128
_WORD = 32


class PositionType(LabelledEnum):
    """`WAITING` for a round to begin, with the board of the round before; `PLAYING` one."""

    WAITING = 0
    PLAYING = 1


@dataclass(eq=False)
class WrongPositionLength(AppError):
    """appData has exactly the length of a position, in bytes."""

    expected: int
    submitted: int


@dataclass(eq=False)
class MalformedPosition(AppError):
    """Word `word` of the position holds a value that it cannot have there."""

    word: int
    value: int


@dataclass(frozen=True)
class Position:
    """`stake`: in the asset's smallest unit. `last`, `next`: the discs of the last mover and of the next, bit
    `7 * c + r` for column c from the left and row r from below."""

    position_type: PositionType
    stake: int
    last: int
    next: int

    def encode(self) -> bytes:
        """Four words of 32 bytes."""
        return word(self.position_type) + word(self.stake) + word(self.last) + word(self.next)


def decode(app_data: bytes) -> Position:
    """The position in appData. Raises `WrongPositionLength`, `MalformedPosition`."""
    if len(app_data) != _LENGTH:
        raise WrongPositionLength(_LENGTH, len(app_data))
    kind, stake, last, next_ = (int.from_bytes(app_data[at : at + _WORD], "big") for at in range(0, _LENGTH, _WORD))
    if kind > PositionType.PLAYING:
        raise MalformedPosition(0, kind)
    if last & ~BOARD:
        raise MalformedPosition(2, last)
    if next_ & ~BOARD or next_ & last:
        raise MalformedPosition(3, next_)
    return Position(PositionType(kind), stake, last, next_)


def has_four(discs: int) -> bool:
    """Whether there is a line of four."""
    for step in _DIRECTIONS:
        pairs = discs & discs >> step
        if pairs & pairs >> 2 * step:
            return True
    return False
