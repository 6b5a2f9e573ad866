"""The settings that all tests of a run share: the seed of samples, the time for each check, and where progress and
coverage are printed. `forcemove.testing.plugin` sets them from pytest's options; without it, standard error is used."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from secrets import randbelow

__all__ = ["SECONDS", "RunSettings", "session"]

SECONDS = 2.0
"""Seconds that one check of a game takes at most by default."""
_SEEDS = 2**32


def _print(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


@dataclass
class RunSettings:
    """The settings of one run of tests. `seed`: by default another one in each run. `seconds`: for each check.
    `say_progress`: is called with a line while a check goes on. `say_coverage`: is called with a line at the end of
    each check."""

    seed: int = field(default_factory=lambda: randbelow(_SEEDS))
    seconds: float = SECONDS
    say_progress: Callable[[str], None] = _print
    say_coverage: Callable[[str], None] = _print


session = RunSettings()
"""The settings of this process."""
