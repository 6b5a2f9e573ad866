"""Gas, measured live: as in the snapshot, and within the targets.

Where a change of the contracts is meant: `scripts/gas_report.py --json > tests/gas/snapshot.json`.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.gas_report import ROOT, TARGETS

SNAPSHOT = Path(__file__).with_name("snapshot.json")


@pytest.fixture(scope="module")
def rows() -> dict[str, int]:
    command = [sys.executable, str(ROOT / "scripts" / "gas_report.py"), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603  # our own script
    measured: dict[str, int] = json.loads(done.stdout)["rows"]
    return measured


def test_the_gas_is_that_of_the_snapshot(rows: dict[str, int]) -> None:
    assert rows == json.loads(SNAPSHOT.read_text("utf-8"))["rows"]


@pytest.mark.parametrize("row", TARGETS)
def test_the_target_is_met(rows: dict[str, int], row: str) -> None:
    assert rows[row] <= TARGETS[row]
