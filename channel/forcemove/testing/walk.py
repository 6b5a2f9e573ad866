"""Walks through the positions of a game that play reaches: all of them, breadth first, or the first this many."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import inf

from forcemove.game import Move
from forcemove.protocol.app import Deposits, Terms
from forcemove.protocol.types import ETHER, Outcome, VariablePart
from forcemove.testing.calls import ID, outcome

__all__ = ["Key", "LegalMoves", "Path", "Walk", "first_state", "key_of", "replay", "successors", "terms_of"]

LegalMoves = Callable[[VariablePart], Iterable[Move]]
"""Every legal move after a state; none after a state that only concluding may follow. Of hidden choices it knows what
the mover knows: a game gives it as many openings of commitments as it wants to try."""

Key = tuple[bytes, Outcome, int]
Path = tuple[int, ...]
"""The way to a state: which of the legal moves is made on each turn, counted from 0."""


def first_state(app_data: bytes, amounts: tuple[int, ...]) -> VariablePart:
    """The last state of a channel's opening, from which participant 0 moves next: turn `2 * seats - 1`."""
    return VariablePart(outcome(*amounts), app_data, 2 * len(amounts) - 1)


def terms_of(amounts: tuple[int, ...], stake: int) -> Terms:
    """Terms for this many seats, which pay in these amounts of ether (wei)."""
    deposits: Deposits = ((ETHER, amounts),)
    return Terms(ID, tuple(bytes((seat + 1,)) * 20 for seat in range(len(amounts))), stake, deposits)


def successors(state: VariablePart, moves: LegalMoves) -> list[VariablePart]:
    """The states that the mover can sign next, final ones aside."""
    return [move.after(state) for move in moves(state)]


def replay(begin: VariablePart, moves: LegalMoves, path: Path) -> list[VariablePart]:
    """The states on the way from `begin`, which is the first of them."""
    states = [begin]
    for place in path:
        states.append(successors(states[-1], moves)[place])
    return states


def key_of(state: VariablePart) -> Key:
    """A key that tells a state from the others that play reaches, wherever in the game it comes: two states are one if
    only their turn numbers differ, by a multiple of the seats."""
    return state.app_data, state.outcome, state.turn_num % len(state.outcome)


@dataclass(frozen=True, slots=True)
class Step:
    """A state on a walk: it was met first by move `place` of `parent`, a place on the walk (-1: of none)."""

    state: VariablePart
    parent: int
    place: int
    depth: int


class Walk:
    """The states that play reaches from `begin`, breadth first, until there are `limit` of them or it is stopped."""

    def __init__(self, begin: VariablePart, moves: LegalMoves, limit: float = inf) -> None:
        self.steps = [Step(begin, -1, 0, 0)]
        self._seen, self._moves, self._limit = {key_of(begin)}, moves, limit
        self._expanded = 0

    def advance(self) -> bool:
        """Add the successors of one more state; whether there is more to walk."""
        if self._is_full or self.is_whole:
            return False
        step = self.steps[self._expanded]
        for place, state in enumerate(successors(step.state, self._moves)):
            key = key_of(state)
            if key not in self._seen:
                self._seen.add(key)
                self.steps.append(Step(state, self._expanded, place, step.depth + 1))
        self._expanded += 1
        return not (self._is_full or self.is_whole)

    @property
    def _is_full(self) -> bool:
        return len(self.steps) >= self._limit and not self.is_whole

    @property
    def is_whole(self) -> bool:
        """Whether every state that play reaches is on the walk."""
        return self._expanded == len(self.steps)

    @property
    def depth(self) -> int:
        """The number of moves of which the walk has every state."""
        return self.steps[min(self._expanded, len(self.steps) - 1)].depth

    def path(self, number: int) -> Path:
        """The way to a state of the walk."""
        places: list[int] = []
        while self.steps[number].parent >= 0:
            places.append(self.steps[number].place)
            number = self.steps[number].parent
        return tuple(reversed(places))
