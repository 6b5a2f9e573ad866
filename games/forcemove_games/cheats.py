"""Illegal moves for tests and demonstrations: what a cheat could sign, the core would let pass, and a game refuses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from forcemove import AppError, Move, Outcome, VariablePart
from forcemove_games.two_player import PLAYERS, shift

Labelled = tuple[str, Move]
"""What a cheat does, and the move."""
RequireLegal = Callable[[VariablePart, VariablePart, int], None]
"""A game's rules about two states of this many participants; raises an `AppError`."""


def refused(
    require_legal: RequireLegal, state: VariablePart, moves: Iterable[Labelled]
) -> list[tuple[str, VariablePart]]:
    """The successors of `state` by those moves that are illegal: a change that changes nothing may be a legal move."""
    found = []
    for label, move in moves:
        successor = move.after(state)
        try:
            require_legal(state, successor, PLAYERS)
        except AppError:
            found.append((label, successor))
    return found


def wrong_payments(state: VariablePart, move: Move, stake: int) -> Iterator[Labelled]:
    """A legal move with other payments, as far as the balances allow them."""
    mover = (state.turn_num + 1) % PLAYERS
    taken = move.outcome[mover].amount - state.outcome[mover].amount
    payments = (
        ("takes a stake too much", taken + stake),
        ("takes the smallest unit too much", taken + 1),
        ("takes the smallest unit too little", taken - 1),
        ("credits the other side", -taken),
        ("leaves the outcome as it was", 0),
    )
    for label, payment in payments:
        if _can_pay(state.outcome, mover, payment):
            yield label, move._replace(outcome=shift(state.outcome, mover, payment))


def _can_pay(outcome: Outcome, mover: int, payment: int) -> bool:
    payer = outcome[1 - mover] if payment > 0 else outcome[mover]
    return abs(payment) <= payer.amount
