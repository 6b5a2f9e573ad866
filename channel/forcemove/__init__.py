"""Forcemove: turn-based games in state channels.

Programs can rely on the names in `__all__`, which are those of `__init__.pyi`; the modules beneath may move. A name is
imported when it is first used: `import forcemove` loads nothing else.
"""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path

_NAMES = ast.parse(Path(__file__).with_suffix(".pyi").read_text("utf-8")).body
_HOMES = {each.name: str(node.module) for node in _NAMES if isinstance(node, ast.ImportFrom) for each in node.names}

__all__ = sorted(_HOMES)  # noqa: PLE0605  # it is a list of names


def __getattr__(name: str) -> object:
    """Import a name of the public API when it is first asked for."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found: object = getattr(import_module(_HOMES[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
