"""Positions of Discard that play reaches: those of whole hands, to wins and ties. All of them are too many."""

from __future__ import annotations

from forcemove.protocol.state import VariablePart
from tests.games.discard.hands import STATES

__all__ = ["first_move", "reachable"]


def reachable() -> list[VariablePart]:
    """States of the sample, each position once."""
    return list({state.app_data: state for state in STATES}.values())


def first_move() -> tuple[VariablePart, VariablePart]:
    """The state in which a channel starts, and the first move."""
    return STATES[0], STATES[1]
