"""Powers modulo a prime of 2048 bits are most of what the tests of card games take, and with the same secrets they are
the same again and again."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import gmpy2
import pytest

_powmod = lru_cache(maxsize=10_000)(gmpy2.powmod)


@pytest.fixture(autouse=True, scope="module")
def _each_power_is_computed_once() -> Iterator[None]:
    """What it comes to follows from its arguments, and the first time it is gmpy2 that computes it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gmpy2, "powmod", _powmod)
        yield
