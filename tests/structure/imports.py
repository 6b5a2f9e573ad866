"""Reads the import statements of the source: which module imports which, wherever the statement is."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("channel", "contracts", "games", "scripts", "testing")
"""The folders with modules of ours. What the wheel has is imported by way of `forcemove`; names leave that out here."""
_ROOT = "forcemove."
_SHIPPED = frozenset(PACKAGES) - {"scripts"}

Imports = Mapping[str, frozenset[str]]
"""For each module of ours the modules that it imports: ours in full, others by their first name."""


def source_files() -> dict[str, Path]:
    """Every module of ours, tests aside, by name."""
    files = (path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
    return {_module_name(path): path for path in files if not {"node_modules", "template"} & {*path.parts}}


def _module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    if parts[:2] == ("channel", "public"):
        return ".".join(("forcemove", *parts[2:])).removesuffix(".__init__")
    if parts[:2] == ("channel", "testing"):
        parts = parts[1:]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def read_imports(files: Mapping[str, Path]) -> Imports:
    """The imports of each of the files."""
    return {name: imports_of(path.read_text("utf-8"), frozenset(files)) for name, path in files.items()}


def imports_of(source: str, ours: frozenset[str]) -> frozenset[str]:
    """What a module's text imports. `from package import name` imports `package.name` where that is a module."""
    return frozenset(_shown(name, ours) for node in ast.walk(ast.parse(source)) for name in _names(node, ours))


def _names(node: ast.AST, ours: frozenset[str]) -> Iterator[str]:
    match node:
        case ast.Import(names):
            yield from (_within(alias.name) for alias in names)
        case ast.ImportFrom(module, names, 0) if module:
            for alias in names:
                inner = _within(f"{module}.{alias.name}")
                yield inner if inner in ours else _within(module)
        case ast.ImportFrom(level=level) if level:
            raise AssertionError("imports are absolute here")


def _within(name: str) -> str:
    """A module's name without `forcemove`. A short name would load the same module a second time."""
    if name.split(".", maxsplit=1)[0] in _SHIPPED:
        raise AssertionError(f"{name} is imported by its short name")
    return name.removeprefix(_ROOT)


def _shown(name: str, ours: frozenset[str]) -> str:
    return name if name in ours or name.split(".", maxsplit=1)[0] in PACKAGES else name.split(".", maxsplit=1)[0]
