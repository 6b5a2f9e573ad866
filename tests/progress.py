"""The grid of the property that each cycle leaves less undone than the one before: how many seconds a request takes,
and how many items of a kind there are. Tests of what reads a chain, or sends to it, take their cases from here."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest

__all__ = ["COUNTS", "SECONDS", "cells"]

SECONDS, COUNTS = (0.0, 0.1, 1.0, 5.0), (1, 100, 1_000, 10_000)


def cells(kinds: Iterable[object], is_slow: Callable[[object, float, int], bool]) -> list[object]:
    """Each kind with each number of seconds and of items, for `parametrize`. `is_slow`: which of these take so long
    that the quick run leaves them out."""
    made = [(kind, seconds, count) for kind in kinds for seconds in SECONDS for count in COUNTS]
    return [pytest.param(*each, marks=[pytest.mark.slow] if is_slow(*each) else []) for each in made]
