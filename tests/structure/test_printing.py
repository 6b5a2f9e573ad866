"""Inspection is a library: it returns what it finds, and says nothing to a screen. (That it imports no way to one, the
order of the imports says.)"""

from __future__ import annotations

import ast

import pytest

from tests.structure.imports import source_files

TALKERS = frozenset({"print", "input", "breakpoint"})


def talkers(source: str) -> list[str]:
    """The built-in functions named in a module's text that talk to a person."""
    return [node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name) and node.id in TALKERS]


def test_inspection_never_prints() -> None:
    modules = {name: path for name, path in source_files().items() if name.startswith("forcemove.inspect.")}
    assert len(modules) > 10
    assert {name: found for name, path in modules.items() if (found := talkers(path.read_text("utf-8")))} == {}


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("print('x')", ["print"]),
        ("say = print", ["print"]),
        ("def f():\n    return [input() for _ in ()]", ["input"]),
        ("report.print()\n'print'", []),
    ],
)
def test_whatever_talks_is_seen(source: str, found: list[str]) -> None:
    assert talkers(source) == found
