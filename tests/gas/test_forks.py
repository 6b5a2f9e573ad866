"""The same under two forks in `@ethereumjs/vm`: Osaka, which py-evm has, too, and Amsterdam, whose prices are in Last
Call.

Where a change of the contracts is meant: `scripts/measure gas_amsterdam --json > tests/gas/amsterdam.json`.
"""

from __future__ import annotations

import json
from pathlib import Path

from scripts.measuring.__main__ import as_json
from scripts.measuring.bench import chain_of_fork
from scripts.measuring.cases import CASES
from scripts.measuring.gas import gas_amsterdam, measured_on

_HERE = Path(__file__).parent


def test_osaka_costs_in_another_evm_what_it_costs_in_ours() -> None:
    """To the unit of gas, in every row: so what the other says of Amsterdam can be believed."""
    rows = json.loads((_HERE / "snapshot.json").read_text("utf-8"))["rows"]
    with chain_of_fork("osaka") as chain:
        assert measured_on(chain) == {name: row["value"] for name, row in rows.items()}


def test_the_gas_of_amsterdam_is_that_of_its_snapshot_and_within_the_targets() -> None:
    rows = {name: (CASES["gas_amsterdam"].row(name), value) for name, value in gas_amsterdam().items()}
    assert f"{as_json(rows)}\n" == (_HERE / "amsterdam.json").read_text("utf-8")
    assert [name for name, (row, value) in rows.items() if row.bound is None or not row.holds(value)] == []
