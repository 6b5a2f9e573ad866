"""Gas, measured live: as in the snapshot, and within the targets.

Where a change of the contracts is meant: `scripts/measure gas --json > tests/gas/snapshot.json`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.measuring.__main__ import as_json
from scripts.measuring.cases import CASES
from scripts.measuring.gas import TARGETS, gas

SNAPSHOT = Path(__file__).with_name("snapshot.json")


@pytest.fixture(scope="module")
def rows() -> dict[str, float]:
    return {**gas()}


def test_the_gas_is_that_of_the_snapshot(rows: dict[str, float]) -> None:
    shown = as_json({name: (CASES["gas"].row(name), value) for name, value in rows.items()})
    assert f"{shown}\n" == SNAPSHOT.read_text("utf-8")


@pytest.mark.parametrize("row", TARGETS)
def test_the_target_is_met(rows: dict[str, float], row: str) -> None:
    assert rows[row] <= TARGETS[row]
