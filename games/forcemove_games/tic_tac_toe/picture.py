"""The board of tic-tac-toe as a picture. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from forcemove import Names, VariablePart
from forcemove.picture import Shape, Spot, Svg, circle, line, path, rect
from forcemove_games.tic_tac_toe.choices import CELL_NAMES
from forcemove_games.tic_tac_toe.position import CELLS, LINES, Position, PositionType, decode, mark_of
from forcemove_games.two_player import movers

_CELL, _GAP = 32, 2
_SIZE = 3 * _CELL + 2 * _GAP
_ARM, _RADIUS, _THICK = 8, 8, 3.4
_ARMS = "l16 16m0 -16l-16 16"
"""An X, from its upper left end."""


def draw(state: VariablePart, names: Names, x_player: int, choices: Sequence[str], before: VariablePart | None) -> Svg:
    """The board.

    - `state`: no final one.
    - `names`: of the players, by seat.
    - `x_player`: the seat of who plays X.
    - `choices`: the words that the viewer can choose.
    - `before`: the state before this one, so that the last mark can be lit up.
    """
    position = decode(state.app_data)
    shapes = (
        *(each for cell in CELLS for each in _cell(position, cell, _last_mark(position, before), x_player)),
        *_winning_line(position),
    )
    spots = tuple(_spot(position, cell, str(cell) in choices, names, x_player) for cell in CELLS)
    return Svg(_SIZE, _SIZE, shapes, spots, _text(state, position, names))


def _text(state: VariablePart, position: Position, names: Names) -> str:
    last, _ = movers(state)
    if position.position_type is PositionType.VICTORY:
        return f"A board with three in a row, of {names[last]}"[:200]
    return f"A board with {(position.crosses | position.noughts).bit_count()} marks"


def _corner(cell: int) -> tuple[int, int]:
    return cell % 3 * (_CELL + _GAP), cell // 3 * (_CELL + _GAP)


def _last_mark(position: Position, before: VariablePart | None) -> int:
    """The cell that was marked last as a set of marks; 0 where that is not known, or there is none."""
    if before is None or before.is_final:
        return 0
    old = decode(before.app_data)
    return (position.crosses | position.noughts) & ~(old.crosses | old.noughts)


def _cell(position: Position, cell: int, last: int, x_player: int) -> Iterator[Shape]:
    x, y = _corner(cell)
    is_lit = (last | _line(position)) & mark_of(cell)
    yield rect(x, y, _CELL, _CELL, fill="lit" if is_lit else "cell", radius=2.5)
    middle_x, middle_y = x + _CELL / 2, y + _CELL / 2
    if position.crosses & mark_of(cell):
        yield path(f"M{middle_x - _ARM:g} {middle_y - _ARM:g}{_ARMS}", stroke=f"seat-{x_player}", thickness=_THICK)
    elif position.noughts & mark_of(cell):
        yield circle(middle_x, middle_y, _RADIUS, stroke=f"seat-{1 - x_player}", thickness=_THICK)


def _line(position: Position) -> int:
    """The marks of the winning line, 0 without one."""
    marks = (position.crosses, position.noughts)
    return next((each for each in LINES for mine in marks if mine & each == each), 0)


def _winning_line(position: Position) -> Iterator[Shape]:
    cells = [cell for cell in CELLS if _line(position) & mark_of(cell)]
    if cells:
        (x1, y1), (x2, y2) = _corner(cells[0]), _corner(cells[-1])
        half = _CELL / 2
        yield line(x1 + half, y1 + half, x2 + half, y2 + half, stroke="muted", thickness=1.4)


def _spot(position: Position, cell: int, is_open: bool, names: Names, x_player: int) -> Spot:
    x, y = _corner(cell)
    mark = mark_of(cell)
    seat = x_player if position.crosses & mark else 1 - x_player if position.noughts & mark else None
    held = "free" if seat is None else f"{'X' if seat == x_player else 'O'} of {names[seat]}"
    reason = "" if is_open or seat is None else "it is taken"
    return Spot(str(cell), x, y, _CELL, _CELL, f"{CELL_NAMES[cell].partition(' ')[2]}, {held}"[:200], reason)
