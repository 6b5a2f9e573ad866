"""Commands that need no journal do not wait for SQLAlchemy, which takes a fifth of a second to load."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    "module",
    [
        "forcemove.cli.main",
        "forcemove.text.explanations",
        "forcemove.node.client",
        "forcemove.store.errors",
        "forcemove.store.records",
    ],
)
def test_sqlalchemy_is_not_loaded_by(module: str) -> None:
    program = f"import sys, {module}; print('sqlalchemy' in sys.modules)"
    said = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)  # noqa: S603
    assert said.stdout.strip() == "False"
