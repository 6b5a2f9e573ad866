"""The same under two forks in `@ethereumjs/vm`: Osaka, which py-evm has, too, and Amsterdam, whose prices are in Last
Call.

Where a change of the contracts is meant: `scripts/measure gas_amsterdam --json > tests/gas/amsterdam.json`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from scripts.measuring.__main__ import as_json
from scripts.measuring.bench import Bench, chain_of_fork
from scripts.measuring.cases import CASES, Measured
from scripts.measuring.gas import gas_amsterdam, happy_on, measured_on

_HERE = Path(__file__).parent


@pytest.mark.parametrize("measure", [happy_on, pytest.param(measured_on, marks=pytest.mark.long)])
def test_osaka_costs_in_another_evm_what_it_costs_in_ours(measure: Callable[[Bench], Measured]) -> None:
    """To the unit of gas, in every row: so what the other says of Amsterdam can be believed."""
    rows = json.loads((_HERE / "snapshot.json").read_text("utf-8"))["rows"]
    with chain_of_fork("osaka") as chain:
        found = measure(Bench(chain))
    assert found == {name: rows[name]["value"] for name in found}


def test_the_gas_of_amsterdam_is_that_of_its_snapshot_and_within_the_targets() -> None:
    rows = {name: (CASES["gas_amsterdam"].row(name), value) for name, value in gas_amsterdam().items()}
    assert f"{as_json(rows)}\n" == (_HERE / "amsterdam.json").read_text("utf-8")
    assert [name for name, (row, value) in rows.items() if row.bound is None or not row.holds(value)] == []
