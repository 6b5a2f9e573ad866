"""The tables of the API reference: what each public module offers, with the first sentence of its docstring.

`scripts/diagrams.py` puts them into the pages of `docs/api`; below each of them Sphinx shows the whole docstrings. A
package without names of its own is shown module by module. What `forcemove` offers as well is described there.
"""

from __future__ import annotations

import ast
import inspect
import re
from functools import cache
from importlib import import_module
from itertools import pairwise
from pkgutil import iter_modules
from types import ModuleType

import forcemove

PUBLIC = {
    "forcemove": ("forcemove", "forcemove.contracts"),
    "flow": ("forcemove.flow",),
    "picture": ("forcemove.picture",),
    "testing": ("forcemove.testing",),
    "games": ("forcemove_games.commitment", "forcemove_games.randomness", "forcemove_games.views"),
}
"""The pages of `docs/api`, and the modules that each is about."""
_SENTENCE = re.compile(r"(.*?\.)(?= [A-Z`0-9]|$)")


def offered(names: tuple[str, ...]) -> list[str]:
    """The modules that have names for programs: those named, or the modules of a package that has none itself."""
    found = []
    for name in names:
        module = import_module(name)
        beneath = [f"{name}.{each.name}" for each in iter_modules(getattr(module, "__path__", ()))]
        found += [name] if hasattr(module, "__all__") else [each for each in beneath if _has_names(each)]
    return found


@cache
def reference(page: str) -> str:
    """The generated part of a page."""
    return "\n\n".join(_section(name) for name in offered(PUBLIC[page]))


def _has_names(name: str) -> bool:
    return bool(getattr(import_module(name), "__all__", ()))


def _section(name: str) -> str:
    module = import_module(name)
    rows = [f"| `{each}` | {_summary(module, each)} |" for each in module.__all__]
    table = "\n".join(["| name | what it is |", "|---|---|", *rows])
    elsewhere = [each for each in module.__all__ if module is not forcemove and _is_at_the_top(module, each)]
    but = f"   :exclude-members: {', '.join(elsewhere)}\n" if elsewhere else ""
    directive = f"```{{eval-rst}}\n.. automodule:: {name}\n   :members:\n{but}```"
    return f"## {name}\n\n{table}\n\n{directive}"


def _is_at_the_top(module: ModuleType, name: str) -> bool:
    """Whether `forcemove` itself offers the name: its description is there."""
    return getattr(forcemove, name, None) is getattr(module, name)


def _summary(module: ModuleType, name: str) -> str:
    """The first sentence of a name's docstring, for a cell of a table."""
    value = getattr(module, name)
    text = value.__doc__ if inspect.isclass(value) or inspect.isroutine(value) else _said_below(module, name)
    return first_sentence(text or "")


def first_sentence(docstring: str) -> str:
    """The first sentence of a docstring, for a cell of a table."""
    paragraph = " ".join(docstring.strip().split("\n\n")[0].split())
    sentence = _SENTENCE.match(paragraph)
    return (sentence[1] if sentence else paragraph).replace("|", "\\|")


def _said_below(module: ModuleType, name: str) -> str:
    """The text below an assignment, else what is assigned."""
    where = getattr(module, "_HOMES", {}).get(name)
    body = ast.parse(inspect.getsource(import_module(where) if where else module)).body
    for statement, after in pairwise(body):
        if isinstance(statement, ast.ImportFrom) and name in {each.name for each in statement.names}:
            return _said_below(import_module(str(statement.module)), name)
        targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
        is_it = any(isinstance(target, ast.Name) and target.id == name for target in targets)
        if is_it and isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
            return str(after.value.value)
        if is_it and isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
            return f"`{ast.unparse(statement.value)}`"
    return ""
