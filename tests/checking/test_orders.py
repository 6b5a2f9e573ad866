"""Every order of events up to a bound: nothing that was promised is broken, and as much is tried as was before."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.checking.replay import write
from tests.checking.rows import COUNTS, ROWS, counted
from tests.checking.world import Bounds

_DURATIONS = 2
"""Challenge durations in which she was out of every channel that was searched, while Bob was silent: four are
promised."""
_SHORTEST = 2_500
"""States of a long search that are in the normal run, too. All faults but one are found among fewer."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.long) if row.is_long else name for name, row in ROWS.items()]
)
def test_no_order_of_events_breaks_what_is_promised(name: str, tmp_path: Path) -> None:
    row, kept = ROWS[name], tmp_path / "counterexample.json"
    found = row.run()
    if found.violated is not None:
        write(row.broken(found), kept)
    assert found.violated is None, f"python -m tests.checking.replay {kept}"
    assert found.is_complete == (row.most_states is None)
    expected = json.loads(COUNTS.read_text())[name]
    assert counted(found) == {each: expected[each] for each in counted(found)}, "python -m tests.checking.rows"
    assert found.longest_way_out <= _DURATIONS * row.bounds.ticks


@pytest.mark.parametrize(
    "name",
    [
        "rock-paper-scissors, a round",
        "one transaction, a crash",
        "one transaction, two choices, second seat",
        "three players, two moves, one transaction, the first half million states",
    ],
)
def test_the_shortest_runs_of_a_long_search_break_nothing(name: str) -> None:
    found = ROWS[name].run(most_states=_SHORTEST)
    assert found.violated is None
    assert found.states >= _SHORTEST


def test_every_row_was_counted() -> None:
    assert list(json.loads(COUNTS.read_text())) == list(ROWS)


def test_a_search_that_stops_early_is_not_complete() -> None:
    row = ROWS["one transaction"]
    found = row.run(most_states=100)
    assert not found.is_complete
    assert found.states < json.loads(COUNTS.read_text())["one transaction"]["states"]


def test_what_is_left_out_by_default_has_a_name() -> None:
    """Anyone who wants everything switches these on."""
    lean = Bounds()
    assert lean.eager
    assert not any((lean.greetings, lean.strays, lean.all_states))
