"""Where the contracts are: sources, artifacts and vectors."""

from __future__ import annotations

from pathlib import Path

__all__ = ["CONTRACTS"]

_BESIDE = Path(__file__).resolve().parent
"""Here a wheel has them."""

CONTRACTS = _BESIDE if (_BESIDE / "artifacts").is_dir() else _BESIDE.parents[2] / "contracts"
"""The folder of them; in a checkout its own, which is no part of the import package."""
