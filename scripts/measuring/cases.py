"""What a case of `scripts/measure` is: rows, and a function that measures them. Knows none of the cases."""

from __future__ import annotations

import inspect
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

__all__ = ["CASES", "Case", "Measured", "Row", "case", "least", "medians", "ratios", "require", "timed"]

Measured = Mapping[str, float]
"""Values by the names of their rows."""
Measure = TypeVar("Measure", bound=Callable[..., Measured])


@dataclass(frozen=True, slots=True)
class Row:
    """A number that a case yields. `bound`: what it may be at most, or `at_least`; None where nothing is asked."""

    name: str
    unit: str
    meaning: str = ""
    bound: float | None = None
    at_least: bool = False

    def holds(self, value: float) -> bool:
        """Whether a value is within the bound, if there is one."""
        if self.bound is None:
            return True
        return value >= self.bound if self.at_least else value <= self.bound


@dataclass(frozen=True, slots=True)
class Case:
    """What is measured together. `measure`: its parameters are options of the command. `rows`: those with a bound; what
    the others are, their names say, and last of it the unit. `write`: puts what was measured into a page."""

    measure: Callable[..., Measured]
    rows: Mapping[str, Row]
    write: Callable[[Measured], None] | None = None

    @property
    def sentence(self) -> str:
        """What it is."""
        return " ".join((self.measure.__doc__ or "").partition("\n\n")[0].split())

    @property
    def parameters(self) -> dict[str, Any]:
        """Each with its value where none is given."""
        return {each.name: each.default for each in inspect.signature(self.measure).parameters.values()}

    def row(self, name: str) -> Row:
        """The row of a value."""
        return self.rows.get(name) or Row(name, "/s" if name.endswith("_per_second") else name.rpartition("_")[2])


CASES: dict[str, Case] = {}
"""By name. A module adds its cases when it is imported."""


def case(*rows: Row, write: Callable[[Measured], None] | None = None) -> Callable[[Measure], Measure]:
    """Make a case of a function, with the function's name and docstring."""

    def added(measure: Measure) -> Measure:
        CASES[measure.__name__] = Case(measure, {row.name: row for row in rows}, write)
        return measure

    return added


# ------------------------------------------------------------------------------------------------------------ measuring


def timed(action: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    """Seconds that an action takes; with `time.process_time`, of this process's CPU."""
    start = clock()
    action()
    return clock() - start


def least(rounds: int, action: Callable[[], object]) -> float:
    """Milliseconds of CPU that an action takes, the least of the rounds: as on a core that nobody else uses."""
    return min(timed(action, time.process_time) for _ in range(rounds)) * 1e3


def medians(rounds: int, measure: Callable[[], Measured]) -> dict[str, float]:
    """The median of each row over the rounds."""
    found = [measure() for _ in range(rounds)]
    return {name: statistics.median(each[name] for each in found) for name in found[0]}


def ratios(
    rounds: int, actions: Mapping[str, Callable[[], object]], compared: Mapping[str, tuple[str, str]]
) -> dict[str, float]:
    """For each row the median of an action's time over another's. In each round every action is timed once: shared
    machines are slower at times."""

    def measure() -> Measured:
        seconds = {name: timed(action) for name, action in actions.items()}
        return {row: seconds[one] / seconds[other] for row, (one, other) in compared.items()}

    return medians(rounds, measure)


def require(is_so: bool, what: str) -> None:
    """End the program where something else would be measured than a row says."""
    if not is_so:
        raise SystemExit(f"{what}: what was measured is worthless")
