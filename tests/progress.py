"""The grid of the property that each cycle leaves less undone than the one before: how many seconds a request takes,
and how many items of a kind there are. Tests of what reads a chain, or sends to it, take their cases from here."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest

__all__ = ["COUNTS", "SECONDS", "cells"]

SECONDS, COUNTS = (0.0, 0.1, 1.0, 5.0), (1, 100, 1_000, 10_000)


def cells(
    kinds: Iterable[object],
    is_slow: Callable[[object, float, int], bool],
    is_long: Callable[[object, float, int], bool] = lambda *_: False,
) -> list[object]:
    """Each kind with each number of seconds and of items, for `parametrize`. `is_slow`, `is_long`: which of these have
    that mark, since they take seconds each."""
    made = [(kind, seconds, count) for kind in kinds for seconds in SECONDS for count in COUNTS]
    return [
        pytest.param(*each, marks=pytest.mark.long if is_long(*each) else pytest.mark.slow if is_slow(*each) else ())
        for each in made
    ]
