"""A player of one seat, who wins where that takes one move, and sees to it that the other cannot."""

from __future__ import annotations

from collections.abc import Sequence

from forcemove import Level, Move, NotOurTurn, Randomness, VariablePart
from forcemove_games.randomness import choose
from tests.scaffold.connect_four import rules
from tests.scaffold.connect_four.position import PositionType, decode, has_four

__all__ = ["ConnectFourBot"]


class ConnectFourBot:
    """See `forcemove.Bot`. `level`: how often it thinks; else it drops a disc anywhere."""

    def __init__(self, seat: int, randomness: Randomness, level: Level) -> None:
        self._seat, self._randomness, self._level = seat, randomness, level

    def move(self, state: VariablePart, *, another_round: bool, between: Sequence[VariablePart] = ()) -> Move | None:
        """The next state's outcome and appData, or None to conclude."""
        if not self._is_our_turn(state):
            raise NotOurTurn(state.turn_num, self._seat)
        if state.is_final:
            return None
        position = decode(state.app_data)
        is_waiting = position.position_type is PositionType.WAITING
        if is_waiting and not (another_round and rules.can_begin(state.outcome, position.stake)):
            return None
        moves = rules.legal_moves(state)
        if not self._level.thinks(self._randomness):
            return choose(moves, self._randomness)
        safe = [move for move in moves if not _wins(move.after(state))]
        return choose([move for move in moves if _has_won(move)] or safe or moves, self._randomness)

    def is_lost(self, state: VariablePart) -> bool:
        """Whether we cannot win at once, and the other can after whatever we do."""
        if state.is_final or not self._is_our_turn(state):
            return False
        if decode(state.app_data).position_type is PositionType.WAITING:
            return False
        moves = rules.legal_moves(state)
        return not any(_has_won(move) for move in moves) and all(_wins(move.after(state)) for move in moves)

    def secrets(self) -> bytes:
        """Nothing is hidden in this game."""
        return b""

    def _is_our_turn(self, state: VariablePart) -> bool:
        return (state.turn_num + 1) % 2 == self._seat


def _has_won(move: Move) -> bool:
    return has_four(decode(move.app_data).last)


def _wins(state: VariablePart) -> bool:
    """Whether the next mover can win at once."""
    if decode(state.app_data).position_type is PositionType.WAITING:
        return False
    return any(_has_won(move) for move in rules.legal_moves(state))
