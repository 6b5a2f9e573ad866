"""A player of tic-tac-toe, which never loses where it thinks: it searches every continuation of the round."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from forcemove import Level, MalformedBytes, Move, VariablePart
from forcemove_games.randomness import Randomness, choose, system_randomness
from forcemove_games.tic_tac_toe import rules
from forcemove_games.tic_tac_toe.position import CELLS, FULL_BOARD, Position, PositionType, decode, has_line, mark_of
from forcemove_games.two_player import can_afford, is_our_turn, require_our_turn, require_seat

_WIN = 10
"""The worth of a win, from which the number of marks is taken: an earlier win is worth more. It exceeds the marks on a
board."""


def best_cells(position: Position) -> tuple[int, ...]:
    """The cells that do best against a perfect opponent: the quickest win, else a draw, else the latest loss."""
    mine, others = _sides(position)
    worth = {cell: -_worth(others, mine | mark_of(cell)) for cell in position.free_cells}
    best = max(worth.values())
    return tuple(cell for cell in worth if worth[cell] == best)


def _sides(position: Position) -> tuple[int, int]:
    """The marks of the next mover, and of the other."""
    if rules.crosses_to_move(position):
        return position.crosses, position.noughts
    return position.noughts, position.crosses


@cache
def _worth(mine: int, others: int) -> int:
    """The worth of a board for the next mover, after the other's mark: positive for a win, zero for a draw, negative
    for a loss."""
    marks = mine | others
    if has_line(others):
        return marks.bit_count() - _WIN
    if marks == FULL_BOARD:
        return 0
    return max(-_worth(others, mine | mark_of(cell)) for cell in CELLS if not marks & mark_of(cell))


class TicTacToeBot:
    """Plays either seat of one channel; chance only picks among equally good cells. It has no secrets."""

    def __init__(
        self,
        seat: int,
        randomness: Randomness = system_randomness,
        secrets: bytes = b"",
        level: Level = Level.HARD,
    ) -> None:
        """`level`: how often it searches; else it marks any free cell."""
        require_seat(seat)
        self._level = level
        if secrets:
            raise MalformedBytes("secrets", "this game has none")
        self._seat = seat
        self._randomness = randomness

    def move(
        self,
        state: VariablePart,
        *,
        another_round: bool,
        between: Sequence[VariablePart] = (),  # noqa: ARG002  # the port's: two play
    ) -> Move | None:
        """See `forcemove.game.Bot.move`."""
        require_our_turn(state, self._seat)
        if state.is_final:
            return None
        position = decode(state.app_data)
        if position.position_type in (PositionType.X_PLAYING, PositionType.O_PLAYING):
            return self._mark(state, position)
        if not another_round or not can_afford(state.outcome, position.stake):
            return None
        if position.position_type is PositionType.PLAY_AGAIN_ME_SECOND:
            return self._mark(state, position)
        return rules.play_again(state)

    def is_lost(self, state: VariablePart) -> bool:
        """See `forcemove.game.Bot.is_lost`: against a perfect opponent, and after the other has won."""
        if state.is_final or not is_our_turn(state, self._seat):
            return False
        position = decode(state.app_data)
        if position.position_type is PositionType.VICTORY:
            return True
        if position.position_type not in (PositionType.X_PLAYING, PositionType.O_PLAYING):
            return False
        return _worth(*_sides(position)) < 0

    def secrets(self) -> bytes:
        """No bytes: the bot has no secrets."""
        return b""

    def _mark(self, state: VariablePart, position: Position) -> Move:
        cells = best_cells(position) if self._level.thinks(self._randomness) else position.free_cells
        return rules.mark(state, choose(cells, self._randomness))
