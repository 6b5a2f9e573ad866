"""A player of one seat, who takes so that the others are left with a multiple of four."""

from __future__ import annotations

from collections.abc import Sequence

from forcemove import Level, Move, NotOurTurn, Randomness, VariablePart
from forcemove_games.randomness import choose

from heap_game import rules
from heap_game.position import MOST, PositionType, decode

__all__ = ["HeapGameBot"]


class HeapGameBot:
    """See `forcemove.Bot`. `level`: how often it thinks; else it takes anything."""

    def __init__(self, seat: int, randomness: Randomness, level: Level) -> None:
        self._seat, self._randomness, self._level = seat, randomness, level

    def move(
        self, state: VariablePart, *, another_round: bool, between: Sequence[VariablePart] = ()
    ) -> Move | None:
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
        good = [move for move in moves if decode(move.app_data).heap % (MOST + 1) == 0]
        return choose(good if good and self._level.thinks(self._randomness) else moves, self._randomness)

    def is_lost(self, state: VariablePart) -> bool:
        """Whether a good opponent cannot lose any more; of three or more players nobody can say that."""
        if state.is_final or not self._is_our_turn(state) or len(state.outcome) != 2:
            return False
        position = decode(state.app_data)
        return position.position_type is PositionType.TAKING and position.heap % (MOST + 1) == 0

    def secrets(self) -> bytes:
        """Nothing is hidden in this game."""
        return b""

    def _is_our_turn(self, state: VariablePart) -> bool:
        return (state.turn_num + 1) % len(state.outcome) == self._seat
