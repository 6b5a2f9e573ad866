"""How long a server has answered without being of use, and when to give it up. Knows no network."""

from __future__ import annotations

import time
from collections.abc import Callable

FAULT_SECONDS = 60.0
"""Seconds after which a player who has no money there gives up a server whose every answer is a fault."""
_LEAST = 5
"""Faults in a row, in whatever time: a server that was away for long and then errs once is not hopeless."""


class Faults:
    """The faults of one server, in a row."""

    def __init__(self, patience: float | None, clock: Callable[[], float] = time.monotonic) -> None:
        """`patience`: seconds of nothing but faults until the server is given up; None never gives up."""
        self._patience, self._clock = patience, clock
        self._count, self._since = 0, 0.0

    def add(self) -> None:
        """Count an answer of no use."""
        if not self._count:
            self._since = self._clock()
        self._count += 1

    def clear(self) -> None:
        """Forget the faults: an answer was of use."""
        self._count = 0

    @property
    def seconds(self) -> float:
        """Seconds since the first fault in a row; 0 where the last answer was of use."""
        return self._clock() - self._since if self._count else 0.0

    @property
    def are_hopeless(self) -> bool:
        """Whether the server is to be given up."""
        return self._patience is not None and self._count >= _LEAST and self.seconds >= self._patience
