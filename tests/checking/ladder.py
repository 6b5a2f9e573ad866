"""A game in which what was paid says how it was played: the position is the list of all moves, and no two positions pay
the same."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from msgspec.structs import replace

from forcemove import Outcome, Terms, VariablePart
from forcemove.protocol.rule_errors import TransitionRefused

__all__ = ["Ladder"]


class Ladder:
    """`depth`: how many moves there are; `width`: among how many a player chooses each time; `deposit`: of each, wei.

    A move adds one byte to the position. What the first participant is paid follows from it: each move's byte is a
    digit, counted from 1, of what it has won from the last one.
    """

    name = "ladder"

    def __init__(self, depth: int, width: int, deposit: int = 1_000) -> None:
        self.depth, self.width, self.deposit = depth, width, deposit
        choices = range(width)
        played = [bytes(each) for length in range(depth + 1) for each in product(choices, repeat=length)]
        self._positions = {self._won(each): each for each in played}

    def initial_app_data(self, terms: Terms) -> bytes:
        """Nobody has moved."""
        return b""

    def stake_of(self, app_data: bytes) -> int:
        """Any position may be paid."""
        return 0

    def valid_transition(self, channel_id: bytes, from_: VariablePart, to: VariablePart, num_participants: int) -> bool:
        """One more move, and what it pays."""
        if to not in self.moves(from_):
            raise TransitionRefused
        return True

    def moves(self, from_: VariablePart) -> Iterator[VariablePart]:
        """All states that a move leads to."""
        if len(from_.app_data) >= self.depth:
            return
        for choice in range(self.width):
            position = from_.app_data + bytes((choice,))
            won = self._won(position) - self._won(from_.app_data)
            yield VariablePart(_shifted(from_.outcome, won), position, from_.turn_num + 1)

    def before(self, state: VariablePart) -> VariablePart | None:
        """The state that a move has led from to this one; None where none has, or it is final."""
        if state.is_final or not state.app_data:
            return None
        position = state.app_data[:-1]
        won = self._won(state.app_data) - self._won(position)
        return VariablePart(_shifted(state.outcome, -won), position, state.turn_num - 1)

    def keeps(self, due: VariablePart, paid: Outcome) -> bool:
        """Whether what is paid is a position's that `due` leads to, or its own."""
        position = self._positions.get(paid[0].amount - self.deposit)
        return position is not None and position.startswith(self._positions[due.outcome[0].amount - self.deposit])

    def _won(self, position: bytes) -> int:
        """Different for each position: the number with these digits, in the base of one more than there are moves."""
        won = 0
        for choice in position:
            won = won * (self.width + 1) + choice + 1
        return won


def _shifted(outcome: Outcome, amount: int) -> Outcome:
    first, *rest, last = outcome
    return replace(first, amount=first.amount + amount), *rest, replace(last, amount=last.amount - amount)
