"""Walks through the positions of a game that play reaches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from forcemove.channel.game import Move
from forcemove.channel.protocol.app import Deposits, Terms
from forcemove.channel.protocol.outcome import Outcome
from forcemove.channel.protocol.state import VariablePart
from forcemove.channel.protocol.types import ETHER
from forcemove.testing.calls import ID, outcome

__all__ = ["Key", "LegalMoves", "TooManyStates", "first_state", "key_of", "moves_from", "reachable"]

LegalMoves = Callable[[VariablePart], Iterable[Move]]
"""Every legal move after a state; none after what only concluding may follow. Of hidden choices it knows what the mover
knows: a game gives it as many openings of commitments as it wants to try."""

Key = tuple[bytes, Outcome, int]


class TooManyStates(AssertionError):
    """The walk has met more states than it may: give a smaller beginning, or a higher limit."""


def first_state(app_data: bytes, amounts: tuple[int, ...]) -> VariablePart:
    """The last state of a channel's opening, from which participant 0 moves next: turn `2 * seats - 1`."""
    return VariablePart(outcome(*amounts), app_data, 2 * len(amounts) - 1)


def terms_of(amounts: tuple[int, ...], stake: int) -> Terms:
    """Terms for so many seats, who put in these amounts of ether (wei)."""
    deposits: Deposits = ((ETHER, amounts),)
    return Terms(ID, tuple(bytes((seat + 1,)) * 20 for seat in range(len(amounts))), stake, deposits)


def reachable(begin: VariablePart, moves: LegalMoves, *, limit: int = 200_000) -> Iterator[VariablePart]:
    """Every state that play reaches, `begin` first; two states are one if only their turn numbers differ, by a multiple
    of the seats. Raises `TooManyStates`."""
    seen, waiting = {key_of(begin)}, [begin]
    while waiting:
        state = waiting.pop()
        yield state
        for successor in successors(state, moves):
            if key_of(successor) not in seen:
                seen.add(key_of(successor))
                waiting.append(successor)
        if len(seen) > limit:
            raise TooManyStates(f"more than {limit:,} states are reached")


def moves_from(
    begin: VariablePart, moves: LegalMoves, *, limit: int = 200_000
) -> Iterator[tuple[VariablePart, VariablePart]]:
    """Every legal move that play reaches: the states before and after it."""
    for state in reachable(begin, moves, limit=limit):
        yield from ((state, successor) for successor in successors(state, moves))


def successors(state: VariablePart, moves: LegalMoves) -> list[VariablePart]:
    """What the mover can sign next, final states aside."""
    return [move.after(state) for move in moves(state)]


def key_of(state: VariablePart) -> Key:
    """What tells a state from the others that play reaches, wherever in the game it comes."""
    return state.app_data, state.outcome, state.turn_num % len(state.outcome)
