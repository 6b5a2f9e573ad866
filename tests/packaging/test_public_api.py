"""What `forcemove` itself offers: lazily, typed, and the same to programs and to type checkers."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import forcemove
from tests.packaging.wheel import ROOT

SOURCE = ROOT / "channel" / "forcemove" / "__init__.py"


def imported_for_type_checkers() -> dict[str, str]:
    """Each name of the imports that only type checkers run, with its module."""
    (block,) = (node for node in ast.parse(SOURCE.read_text("utf-8")).body if isinstance(node, ast.If))
    assert ast.unparse(block.test) == "TYPE_CHECKING"
    statements = [each for each in block.body if isinstance(each, ast.ImportFrom)]
    assert all(alias.asname == alias.name for each in statements for alias in each.names)
    return {alias.name: each.module or "" for each in statements for alias in each.names}


def test_type_checkers_see_what_programs_get() -> None:
    assert imported_for_type_checkers() == {
        name: module for module, names in forcemove._MODULES.items() for name in names
    }


@pytest.mark.parametrize("name", forcemove.__all__)
def test_every_name_is_there(name: str) -> None:
    assert getattr(forcemove, name) is not None
    assert name in dir(forcemove)


def test_another_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        forcemove.no_such_name  # noqa: B018


def test_importing_it_loads_nothing_else() -> None:
    program = "import sys, forcemove; print(sorted(name for name in sys.modules if name.startswith('forcemove')))"
    said = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)  # noqa: S603
    assert said.stdout.strip() == "['forcemove']"


def test_no_module_inside_takes_the_public_names_from_the_top() -> None:
    """They are for those outside, our games among them: inside, imports say where a thing is."""
    sources = (ROOT / "channel").rglob("*.py")
    assert [str(path) for path in sources if _imports_the_top(path) and path != SOURCE] == []


def _imports_the_top(path: Path) -> bool:
    if {"node_modules", "template"} & {*path.parts}:
        return False
    nodes = ast.walk(ast.parse(path.read_text("utf-8")))
    return any(isinstance(node, ast.ImportFrom) and node.module == "forcemove" for node in nodes)
