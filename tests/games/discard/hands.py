"""Whole hands of Discard, played once for all tests: to wins and to ties, at random and by two strategies."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from random import Random

from forcemove.protocol.state import VariablePart
from forcemove_games.discard.position import PositionType, decode
from tests.games.discard.dealer import Dealer, Strategy, draw_first, lay_first, one_draws

__all__ = ["BY_TYPE", "GAMES", "STATES"]

_STRATEGIES: dict[str, Strategy] = {"lay first": lay_first, "draw first": draw_first, "at random": Random(27).choice}
_LONG_ENDS = {"draw first 62": draw_first, "one draws 11": one_draws}
"""Ties in which somebody shows more than four cards; in the second one the other has shown all before."""


def _games() -> Iterator[tuple[str, list[VariablePart]]]:
    for name, strategy in _STRATEGIES.items():
        for number in range(4):
            label = f"{name} {number}"
            yield label, Dealer(label, hands=2).play(strategy)
    for label, strategy in _LONG_ENDS.items():
        yield label, Dealer(label).play(strategy)


GAMES: dict[str, list[VariablePart]] = dict(_games())
"""The states of games of one hand or two, by their name."""
STATES: list[VariablePart] = [state for states in GAMES.values() for state in states]
"""The states of all games."""
BY_TYPE: dict[PositionType, list[VariablePart]] = defaultdict(list)
for _state in STATES:
    BY_TYPE[decode(_state.app_data).position_type].append(_state)
