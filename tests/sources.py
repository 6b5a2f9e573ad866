"""Where Python finds the sources beside these tests, and not those that are installed: a copy of the tree with a change
in it is tested by what it has itself, in processes of its own, too."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["FROM_SOURCES"]

_ROOT = Path(__file__).parents[1]
FROM_SOURCES = {"PYTHONPATH": os.pathsep.join(str(_ROOT / each) for each in ("channel", "games", "."))}
"""The variable of the environment that says so."""
