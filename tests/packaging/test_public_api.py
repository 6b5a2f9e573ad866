"""What `forcemove` itself offers: lazily, typed, and the same to programs and to type checkers."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import forcemove
from tests.packaging.wheel import ROOT

STUB = ROOT / "channel" / "forcemove" / "__init__.pyi"


def test_the_names_are_imports_that_type_checkers_pass_on() -> None:
    _, *statements, last = ast.parse(STUB.read_text("utf-8")).body
    imports = [each for each in statements if isinstance(each, ast.ImportFrom)]
    assert len(imports) == len(statements) == len(forcemove.__all__)
    assert all(alias.asname == alias.name for each in imports for alias in each.names)
    assert ast.unparse(last) == "__all__: list[str]"


@pytest.mark.parametrize("name", forcemove.__all__)
def test_every_name_is_there(name: str) -> None:
    assert getattr(forcemove, name) is not None
    assert name in dir(forcemove)


def test_another_name_is_an_attribute_error() -> None:
    name = "no_such_name"
    with pytest.raises(AttributeError, match=name):
        getattr(forcemove, name)


def test_importing_it_loads_nothing_else() -> None:
    program = "import sys, forcemove; print(sorted(name for name in sys.modules if name.startswith('forcemove')))"
    said = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)  # noqa: S603
    assert said.stdout.strip() == "['forcemove']"


def test_no_module_inside_takes_the_public_names_from_the_top() -> None:
    """They are for those outside, our games among them: inside, imports say where a thing is."""
    sources = (ROOT / "channel").rglob("*.py")
    assert [str(path) for path in sources if _imports_the_top(path)] == []


def _imports_the_top(path: Path) -> bool:
    if {"node_modules", "template"} & {*path.parts}:
        return False
    nodes = ast.walk(ast.parse(path.read_text("utf-8")))
    return any(isinstance(node, ast.ImportFrom) and node.module == "forcemove" for node in nodes)
