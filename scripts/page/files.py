"""Which modules a page in a browser needs: all that its first one imports, as far as what they import can be there."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator, Mapping, Set
from functools import cache
from pathlib import Path

from tests.structure.imports import homes

LIBRARIES = frozenset({"jinja2", "markupsafe", "msgspec", "sqlalchemy"})
"""What a build has of the libraries, beside what stands in for others."""
OURS = frozenset({"forcemove", "forcemove_games"})
"""Our packages."""
_STAND_INS = frozenset({"coincurve", "sha3", "typing_extensions"})
_THERE = frozenset({"forcemove_js", "js", "pyodide"}) | _STAND_INS | LIBRARIES | sys.stdlib_module_names
_WHOLE = ("sqlalchemy.sql", "sqlalchemy.engine", "sqlalchemy.util", "sqlalchemy.dialects.sqlite")
"""Packages of which modules are imported by names that are made up."""
_NEVER = (
    "sqlalchemy.dialects.postgresql",
    "sqlalchemy.dialects.sqlite.provision",
    "sqlalchemy.ext",
    "sqlalchemy.orm",
    "sqlalchemy.testing",
    "sqlalchemy.util.tool_support",
)
"""What its library imports only for what we do not use."""


class MissingImport(Exception):
    """What has to be in the build imports what cannot be in it."""


def needed_modules(root: Path, first: Iterable[str], ours: Set[str] = OURS) -> Mapping[str, Path]:
    """The files of all modules that these import, by name, in functions, too. What cannot be there may only be imported
    in functions. Raises `MissingImport`.

    - `root`: the folder from which modules are imported.
    - `first`: names of modules.
    - `ours`: the packages of games, and those beneath them; all others are libraries.
    """
    exported = {f"forcemove.{name}": home for name, home in homes(root).items()}
    found, waiting, tops = dict[str, Path](), list(first), dict[str, set[str]]()
    for package in _WHOLE:
        folder = root.joinpath(*package.split("."))
        waiting += [f"{package}.{path.stem}" for path in folder.glob("*.py") if path.stem != "__init__"]
    while waiting:
        name = waiting.pop()
        path = None if name in found else _file(root, name, ours)
        if path is None:
            continue
        found[name] = path
        top, inner = ({exported.get(each, each) for each in names} for names in imports_of(path, name))
        if name.partition(".")[0] in ours:
            tops[name] = top
        waiting += [each for name in top | inner for each in _with_packages(name)]
    left_out = _lacking(tops, _THERE | ours)
    for name in first:
        if name in left_out:
            raise MissingImport(" imports ".join(_chain(name, left_out)))
    return {name: path for name, path in found.items() if name not in left_out}


def _file(root: Path, name: str, ours: Set[str]) -> Path | None:
    if name.partition(".")[0] not in LIBRARIES | ours or name.startswith(_NEVER):
        return None
    base = root.joinpath(*name.split("."))
    return next((each for each in (base / "__init__.py", base.with_suffix(".py")) if each.is_file()), None)


def _with_packages(name: str) -> Iterator[str]:
    parts = name.split(".")
    return (".".join(parts[:length]) for length in range(1, len(parts) + 1))


def standard_imports(modules: Mapping[str, Path]) -> set[str]:
    """The names that these import of the standard library, in functions, too; a name in a module of it may be none of a
    module."""
    found = (name for module, path in modules.items() for part in imports_of(path, module) for name in part)
    return {name for name in found if name.partition(".")[0] in sys.stdlib_module_names}


@cache
def imports_of(path: Path, name: str) -> tuple[set[str], set[str]]:
    """The modules that one imports when it is imported, and those that it imports later. A name that is imported from a
    package may be a module, too."""
    top, inner = set[str](), set[str]()
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]

    def visit(nodes: Iterable[ast.AST], into: set[str]) -> None:
        for node in nodes:
            match node:
                case ast.Import():
                    into.update(each.name for each in node.names)
                case ast.ImportFrom():
                    base = _absolute(package, node)
                    into.update({base, *(f"{base}.{each.name}" for each in node.names)})
                case ast.If() if "TYPE_CHECKING" in ast.unparse(node.test):
                    visit(node.orelse, into)
                case ast.Try():  # what may be missing
                    visit(node.body, inner)
                    visit((*node.handlers, *node.orelse, *node.finalbody), into)
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    visit(node.body, inner)
                case _:
                    visit(ast.iter_child_nodes(node), into)

    visit(ast.parse(path.read_text("utf-8")).body, top)
    return top, inner


def _absolute(package: str, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    parts = package.split(".")
    return ".".join([*parts[: len(parts) - node.level + 1], *filter(None, [node.module])])


def _lacking(tops: Mapping[str, set[str]], there: Set[str]) -> Mapping[str, str]:
    """Our modules that cannot be imported, each with what it lacks."""
    lacking: dict[str, str] = {}
    while True:
        before = len(lacking)
        for name, imported in tops.items():
            for each in sorted(imported):
                if each in lacking or each.partition(".")[0] not in there:
                    lacking.setdefault(name, each)
        if len(lacking) == before:
            return lacking


def _chain(name: str, lacking: Mapping[str, str]) -> Iterator[str]:
    while name in lacking:
        yield name
        name = lacking[name]
    yield name
