"""Where the contracts are: sources, artifacts and vectors."""

from __future__ import annotations

from pathlib import Path

__all__ = ["CONTRACTS"]

_HERE = Path(__file__).resolve().parent
"""Here a wheel has them."""

CONTRACTS = _HERE if (_HERE / "artifacts").is_dir() else _HERE.parents[2] / "contracts"
"""The folder of them; in a checkout its own, which is no part of the import package."""
