"""Where the contracts are: sources, artifacts and vectors."""

from __future__ import annotations

from pathlib import Path

_HERE = Path(__file__).resolve().parent
"""The folder of this module, in which a wheel has the contracts."""

CONTRACTS = _HERE if (_HERE / "artifacts").is_dir() else _HERE.parents[2] / "contracts"
"""The folder of the contracts; in a checkout it is not part of the import package."""
