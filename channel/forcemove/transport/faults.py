"""How long a place has answered, and has said nothing of use: when that is hopeless. Knows no network."""

from __future__ import annotations

import time
from collections.abc import Callable

__all__ = ["FAULT_SECONDS", "Faults"]

FAULT_SECONDS = 60.0
"""After which a player who has no money there leaves a place that does nothing but faults."""
_LEAST = 5
"""Faults in a row, however long they take: one that was away for long and then errs once is no hopeless one."""


class Faults:
    """The faults of one place, in a row."""

    def __init__(self, patience: float | None, clock: Callable[[], float] = time.monotonic) -> None:
        """`patience`: seconds of nothing but faults that are borne; None bears them for ever."""
        self._patience, self._clock = patience, clock
        self._count, self._since = 0, 0.0

    def add(self) -> None:
        """It has answered, and that was of no use."""
        if not self._count:
            self._since = self._clock()
        self._count += 1

    def clear(self) -> None:
        """It has said something of use."""
        self._count = 0

    @property
    def seconds(self) -> float:
        """Since the first fault in a row; 0 where the last thing said was of use."""
        return self._clock() - self._since if self._count else 0.0

    @property
    def are_hopeless(self) -> bool:
        """Whether it is to be left."""
        return self._patience is not None and self._count >= _LEAST and self.seconds >= self._patience
