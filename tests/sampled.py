"""Cases of which a sample is in the normal run, and all are under --long. For `parametrize`; cases of several
parameters are tuples."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence

import pytest

__all__ = ["sampled", "with_sample"]


def sampled(cases: Sequence[object], every: int) -> list[object]:
    """The first of `every` this many belongs to the sample."""
    return with_sample(cases, cases[::every])


def with_sample(cases: Iterable[object], sample: Container[object]) -> list[object]:
    """Those of `sample` belong to it."""

    def marked(case: object) -> object:
        if case in sample:
            return case
        return pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.long)

    return [marked(case) for case in cases]
