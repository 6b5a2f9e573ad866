"""Reads the import statements of the source: which module imports which, wherever the statement is."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROOTS = {"forcemove": ROOT / "channel", "forcemove_games": ROOT / "games", "scripts": ROOT}
"""Where each of our import packages is, tests aside."""

Imports = Mapping[str, frozenset[str]]
"""For each of our modules the modules that it imports: ours in full, others by their first name."""


def source_files() -> dict[str, Path]:
    """Each of our modules, tests aside, by name."""
    return {
        _module_name(path.relative_to(root)): path
        for package, root in ROOTS.items()
        for path in (root / package).rglob("*.py")
        if "template" not in path.parts
    }


def _module_name(path: Path) -> str:
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


def read_imports(files: Mapping[str, Path]) -> Imports:
    """The imports of each of the files."""
    return {name: imports_of(path.read_text("utf-8"), frozenset(files)) for name, path in files.items()}


def imports_of(source: str, ours: frozenset[str]) -> frozenset[str]:
    """What a module's text imports. `from package import name` imports `package.name` where that is a module, and
    `from forcemove import name` the module that has the name: `forcemove` itself loads nothing else."""
    return frozenset(_shown(name, ours) for node in ast.walk(ast.parse(source)) for name in _names(node, ours))


@cache
def homes(root: Path = ROOTS["forcemove"]) -> dict[str, str]:
    """The module that has each of the names of `forcemove`. `root`: the folder that the package is in."""
    tree = ast.parse((root / "forcemove" / "__init__.pyi").read_text("utf-8"))
    found = (node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module)
    return {alias.name: str(node.module) for node in found for alias in node.names}


def _names(node: ast.AST, ours: frozenset[str]) -> Iterator[str]:
    match node:
        case ast.Import(names):
            yield from (alias.name for alias in names)
        case ast.ImportFrom(module, names, 0) if module:
            for alias in names:
                inner = f"{module}.{alias.name}"
                home = homes().get(alias.name, module) if module == "forcemove" else module
                yield inner if inner in ours else home
        case ast.ImportFrom(level=level) if level:
            raise AssertionError("imports are absolute here")


def _shown(name: str, ours: frozenset[str]) -> str:
    first = name.split(".", maxsplit=1)[0]
    return name if name in ours or first in ROOTS else first
