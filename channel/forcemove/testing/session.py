"""What a run of tests has in common: the seed of its samples, the time for each, and where progress and coverage are
said. `forcemove.testing.plugin` sets it from pytest's options; without that all goes to the standard error."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from secrets import randbelow

__all__ = ["SECONDS", "RunSettings", "session"]

SECONDS = 2.0
"""How long one look at a game takes at most, unless a test or the command line says otherwise."""
_SEEDS = 2**32


def _print(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


@dataclass
class RunSettings:
    """The settings of one run of tests. `seed`: another one in each run, unless it is given. `seconds`: for each look.
    `say_progress`: is called with a line while a look goes on. `say_coverage`: is called with a line at the end of each
    look."""

    seed: int = field(default_factory=lambda: randbelow(_SEEDS))
    seconds: float = SECONDS
    say_progress: Callable[[str], None] = _print
    say_coverage: Callable[[str], None] = _print


session = RunSettings()
"""That of this process."""
