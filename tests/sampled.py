"""Cases of which a sample is in the normal run, and all are under --long."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

__all__ = ["sampled"]


def sampled(cases: Sequence[object], every: int) -> list[object]:
    """For `parametrize`: the first of `every` so many belongs to the sample. Cases of several parameters are tuples."""

    def marked(number: int, case: object) -> object:
        if number % every == 0:
            return case
        return pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.long)

    return [marked(number, case) for number, case in enumerate(cases)]
