"""Positions of Discard that play reaches: those of whole hands, to wins and ties. All of them are too many."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from math import inf

from forcemove.protocol.types import VariablePart
from forcemove_games.discard.position import PositionType, decode
from tests.games.discard.hands import games, states

__all__ = ["Pair", "first_move", "moves_of_each_form", "reachable", "shape"]

Pair = tuple[VariablePart, VariablePart]


def reachable() -> list[VariablePart]:
    """States of the sample, each position once."""
    return list({state.app_data: state for state in states()}.values())


def first_move() -> tuple[VariablePart, VariablePart]:
    """The state in which a channel starts, and the first move."""
    first, second, *_ = states()
    return first, second


def shape(state: VariablePart) -> tuple[int, ...]:
    """What tells moves from others of another form."""
    core = decode(state.app_data).core
    shows = core.position_type in (PositionType.SHOWING, PositionType.TIED)
    return core.position_type, bool(core.pending), bool(core.shared), core.laid if shows else bool(core.laid)


def moves_of_each_form(most: float = inf) -> Iterator[Pair]:
    """Moves of whole hands; of each form at most this many."""
    found: dict[tuple[int, ...], int] = {}
    for played in games().values():
        for from_, to in pairwise(played):
            kind = shape(to)
            found[kind] = found.get(kind, 0) + 1
            if found[kind] <= most:
                yield from_, to
