"""The grid of the property that each cycle leaves less undone than the one before: how many seconds a request takes,
and how many items of a kind there are. Tests of what reads a chain, or sends to it, take their cases from here."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest

__all__ = ["COUNTS", "SECONDS", "cells"]

SECONDS, COUNTS = (0.0, 0.1, 1.0, 5.0), (1, 100, 1_000, 10_000)


_FEW = 100
"""Up to this many are tried in the quick run."""


def cells(
    kinds: Iterable[object], is_long: Callable[[object, int], bool] = lambda _kind, _count: False
) -> list[object]:
    """Each kind with each number of seconds and of items, for `parametrize`. `is_long`: which of these take so long
    that they are left out of the run of all tests, too. More than a few items are tried there where a request takes
    no time, and where it takes the longest."""
    return [
        pytest.param(kind, seconds, count, marks=_mark(seconds, count, is_long=is_long(kind, count)))
        for kind in kinds
        for seconds in SECONDS
        for count in COUNTS
    ]


def _mark(seconds: float, count: int, *, is_long: bool) -> tuple[pytest.MarkDecorator, ...]:
    if is_long or (count > _FEW and seconds not in (SECONDS[0], SECONDS[-1])):
        return (pytest.mark.long,)
    return (pytest.mark.slow,) if count > _FEW else ()
