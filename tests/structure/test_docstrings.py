"""What has many parameters says of each, in a list, what it is."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.structure.imports import source_files

MOST = 4
"""Parameters that a docstring may speak of in a sentence, or not at all; more than that are listed."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


def unlisted(source: str) -> list[str]:
    """Each public function and method of a module's text that leaves a parameter out, with what it leaves out."""
    return [
        f"{name} does not list {', '.join(missing)}"
        for name, function, text in _public(ast.parse(source), "", "")
        if len(parameters := _parameters(function)) > MOST
        and (missing := [each for each in parameters if f"\n- `{each}`: " not in text])
    ]


def _public(parent: ast.Module | ast.ClassDef, prefix: str, about: str) -> Iterator[tuple[str, Function, str]]:
    """Name, function, and the docstring that counts: of `__init__` its own and its class's."""
    for node in parent.body:
        match node:
            case ast.ClassDef(name=name) if not name.startswith("_"):
                yield from _public(node, f"{prefix}{name}.", ast.get_docstring(node) or "")
            case ast.FunctionDef(name="__init__") as function:
                yield f"{prefix}__init__", function, f"{about}\n{ast.get_docstring(function) or ''}"
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) if not name.startswith("_"):
                if not _is_command(node):
                    yield prefix + name, node, ast.get_docstring(node) or ""


def _is_command(function: Function) -> bool:
    """Whether click makes a command of it: its options have help texts, which the command prints."""
    decorators = [each.func if isinstance(each, ast.Call) else each for each in function.decorator_list]
    return any(isinstance(each, ast.Attribute) and each.attr in ("command", "group") for each in decorators)


def _parameters(function: Function) -> list[str]:
    arguments = function.args
    names = [each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    return [name for name in names if name not in ("self", "cls")]


def test_many_parameters_are_listed_one_by_one() -> None:
    files = source_files().items()
    assert [f"{name}: {each}" for name, path in files for each in unlisted(path.read_text("utf-8"))] == []


LISTED = "class Hall:\n    def __init__(self, {0}):\n        '''A hall.\n\n        {1}\n        '''"
ITEMS = "\n        ".join(f"- `{name}`: its number." for name in "abcde")


def test_a_parameter_that_is_left_out_is_seen() -> None:
    assert unlisted(LISTED.format("a, b, *, c, d, e", ITEMS)) == []
    assert unlisted(LISTED.format("a, b, *, c, d, f", ITEMS)) == ["Hall.__init__ does not list f"]
    assert unlisted("async def f(a, b, c, d, e): ...") == ["f does not list a, b, c, d, e"]


def test_what_need_not_list_them_is_passed() -> None:
    assert unlisted("def f(a, b, c, d): ...") == []
    assert unlisted("def _f(a, b, c, d, e): ...") == []
    assert unlisted("class _Hall:\n    def f(self, a, b, c, d, e): ...") == []
    assert unlisted("@group.command('f')\n@click.option('--a')\ndef f(a, b, c, d, e): ...") == []
