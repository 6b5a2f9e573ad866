"""Faults that are put in on purpose: the search finds each, in as many steps as are written down, and would not find it
without the property that it breaks."""

from __future__ import annotations

from functools import cache

import pytest

from tests.checking.faults import FAULTS, Fault
from tests.checking.properties import PROPERTIES
from tests.checking.search import OUT_IN_TIME, Found, Search, start
from tests.checking.world import Setting

_MOST = 20_000
"""States: each is found with fewer."""


def search(fault: Fault, *, saves_first: bool, without: str = "", most: int = _MOST) -> Found:
    setting = Setting(fault.game, fault.bounds, saves_first=saves_first)
    properties = {name: holds for name, holds in PROPERTIES.items() if name != without}
    return Search(setting, properties, looks_for_ways_out=without != OUT_IN_TIME).run(start(setting), most)


def with_fault(fault: Fault, without: str = "", most: int = _MOST) -> Found:
    """What a search finds where it is in."""
    with fault.present():
        return search(fault, saves_first=fault.saves_first, without=without, most=most)


@cache
def found_with(name: str) -> Found:
    """With this fault, and all properties."""
    return with_fault(FAULTS[name])


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_found_by_the_shortest_run(name: str) -> None:
    fault, found = FAULTS[name], found_with(name)
    assert found.violated is not None
    assert (found.violated.name, len(found.steps)) == (fault.finds, fault.steps), (found.violated, found.steps)


@pytest.mark.parametrize("name", FAULTS)
def test_nothing_is_found_where_the_fault_is_not(name: str) -> None:
    """Within the same bounds, among as many states."""
    most = max(found_with(name).states, 100)
    assert search(FAULTS[name], saves_first=True, most=most).violated is None


@pytest.mark.parametrize("name", [*PROPERTIES, OUT_IN_TIME])
def test_without_a_property_a_fault_passes(name: str) -> None:
    """Some fault is found by this property alone, or later."""
    passed = []
    for label, fault in FAULTS.items():
        if fault.finds == name:
            known = found_with(label)
            found = with_fault(fault, without=name, most=known.states)
            passed.append(found.violated is None or len(found.steps) > len(known.steps))
    assert any(passed)
