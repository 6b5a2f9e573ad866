"""Positions of tic-tac-toe, as data and as bytes. A position that exists is valid, and has one encoding.

appData is four 32-byte words, 128 bytes: positionType, stake, noughts, crosses. Cells are numbered 0 to 8 by rows, and
the mark on cell i is bit `2**(8-i)` of a set of marks. X starts a round.
"""

from __future__ import annotations

from functools import lru_cache

from msgspec import Struct

from forcemove import UINT256_MAX, AppError, InvalidValue, LabelledEnum, require_uint
from forcemove_games.two_player import DECODED_POSITIONS, MalformedPosition, encode_words, read_words

_WORDS = 4
_POSITION_TYPE, _NOUGHTS, _CROSSES = 0, 2, 3
CELLS = range(9)
FULL_BOARD = 511
LINES = (448, 56, 7, 292, 146, 73, 273, 84)
"""The rows from the top, the columns from the left, the two diagonals."""

_HAS_LINE = tuple(any(marks & line == line for line in LINES) for marks in range(FULL_BOARD + 1))


class PositionType(LabelledEnum):
    """What the mover of the state has done: X marked, O marked, a mark won or filled the board, agreed to play on."""

    X_PLAYING = 0
    O_PLAYING = 1
    VICTORY = 2
    DRAW = 3
    PLAY_AGAIN_ME_FIRST = 4
    PLAY_AGAIN_ME_SECOND = 5


class MarksOverlap(AppError):
    """A cell is marked twice."""

    noughts: int
    crosses: int


class WrongMarkCount(AppError):
    """The numbers of marks do not fit the type of the position."""

    position_type: int
    noughts: int
    crosses: int


class BoardFull(AppError):
    """X says that play goes on where no cell is left."""

    noughts: int
    crosses: int


class UnexpectedLine(AppError):
    """A position of this type holds no such line."""

    position_type: int
    marks: int


class LineMissing(AppError):
    """Victory is declared without a line."""

    marks: int


def mark_of(cell: int) -> int:
    """The bit of a cell. Raises `InvalidValue` unless it is 0 to 8."""
    if type(cell) is not int or cell not in CELLS:
        raise InvalidValue("cell", cell, "an integer from 0 to 8")
    return 1 << (8 - cell)


def has_line(marks: int) -> bool:
    """Whether a set of marks below 512 holds a row, a column or a diagonal."""
    return _HAS_LINE[marks]


class Position(Struct, frozen=True):
    """One position.

    `stake`: uint256, in the asset's smallest unit. `noughts` and `crosses`: sets of marks below 512, disjoint, their
    numbers and lines as the type wants them. Raises `InvalidValue` on what is not a uint256 at all, then the errors of
    the contract in its order."""

    position_type: PositionType
    stake: int
    noughts: int = 0
    crosses: int = 0

    def __post_init__(self) -> None:
        if type(self.position_type) is not PositionType:
            raise InvalidValue("position_type", self.position_type, "a PositionType")
        require_uint("stake", self.stake, UINT256_MAX)
        require_uint("noughts", self.noughts, UINT256_MAX)
        require_uint("crosses", self.crosses, UINT256_MAX)
        if self.noughts > FULL_BOARD:
            raise MalformedPosition(_NOUGHTS, self.noughts)
        if self.crosses > FULL_BOARD:
            raise MalformedPosition(_CROSSES, self.crosses)
        if self.noughts & self.crosses:
            raise MarksOverlap(self.noughts, self.crosses)
        _require_count(self.position_type, self.noughts, self.crosses)
        _require_lines(self.position_type, self.noughts, self.crosses)

    @property
    def free_cells(self) -> tuple[int, ...]:
        """The cells without a mark, rising."""
        return tuple(cell for cell in CELLS if not (self.noughts | self.crosses) >> (8 - cell) & 1)

    def encode(self) -> bytes:
        """The 128 bytes of appData."""
        return encode_words(self.position_type, self.stake, self.noughts, self.crosses)


def _require_count(kind: PositionType, noughts: int, crosses: int) -> None:
    full = noughts | crosses == FULL_BOARD
    more_crosses = crosses.bit_count() - noughts.bit_count()
    match kind:
        case PositionType.X_PLAYING:
            fits = more_crosses == 1
        case PositionType.O_PLAYING:
            fits = more_crosses == 0
        case PositionType.VICTORY:
            fits = more_crosses in (0, 1)
        case PositionType.DRAW:
            fits = more_crosses == 1 and full
        case _:
            fits = noughts | crosses == 0
    if not fits:
        raise WrongMarkCount(int(kind), noughts, crosses)
    if kind is PositionType.X_PLAYING and full:
        raise BoardFull(noughts, crosses)


def _require_lines(kind: PositionType, noughts: int, crosses: int) -> None:
    if kind is PositionType.VICTORY:
        # Equal numbers of marks mean that O has made the last one.
        last_is_o = noughts.bit_count() == crosses.bit_count()
        winner, loser = (noughts, crosses) if last_is_o else (crosses, noughts)
        if not has_line(winner):
            raise LineMissing(winner)
        if has_line(loser):
            raise UnexpectedLine(int(kind), loser)
        return
    for marks in (noughts, crosses):
        if has_line(marks):
            raise UnexpectedLine(int(kind), marks)


@lru_cache(maxsize=DECODED_POSITIONS)
def decode(app_data: bytes) -> Position:
    """The position in appData. Raises `WrongPositionLength`, then `MalformedPosition` and the other errors."""
    kind, stake, noughts, crosses = read_words(app_data, _WORDS)
    if kind > PositionType.PLAY_AGAIN_ME_SECOND:
        raise MalformedPosition(_POSITION_TYPE, kind)
    return Position(PositionType(kind), stake, noughts, crosses)


def initial(stake: int) -> Position:
    """The first position of a channel with this stake: participant 0 moves first, as X."""
    return Position(PositionType.PLAY_AGAIN_ME_SECOND, stake)
