"""Whole hands of Discard, played once for all tests: to wins and to ties, at random and by two strategies."""

from __future__ import annotations

from functools import cache
from random import Random

from forcemove.protocol.types import VariablePart
from forcemove_games.discard.position import PositionType, decode
from tests.games.discard.dealer import Dealer, Strategy, draw_first, lay_first, one_draws

__all__ = ["NAMES", "by_type", "games", "states"]

_STRATEGIES: dict[str, Strategy] = {"lay first": lay_first, "draw first": draw_first, "at random": Random(27).choice}
_LONG_ENDS = {"draw first 62": draw_first, "one draws 11": one_draws}
"""Ties in which somebody shows more than four cards; in the second one the other has shown all before."""


NAMES = (*(f"{name} {number}" for name in _STRATEGIES for number in range(4)), *_LONG_ENDS)


@cache
def games() -> dict[str, list[VariablePart]]:
    """The states of games of one hand or two, by their name."""
    return {label: _game(label) for label in NAMES}


def _game(label: str) -> list[VariablePart]:
    if label in _LONG_ENDS:
        return Dealer(label).play(_LONG_ENDS[label])
    return Dealer(label, hands=2).play(_STRATEGIES[label[:-2]])


@cache
def states() -> list[VariablePart]:
    """The states of all games."""
    return [state for played in games().values() for state in played]


@cache
def by_type() -> dict[PositionType, list[VariablePart]]:
    """The same, by the type of the position."""
    found: dict[PositionType, list[VariablePart]] = {}
    for state in states():
        found.setdefault(decode(state.app_data).position_type, []).append(state)
    return found
