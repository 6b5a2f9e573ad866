"""Compiles the modules of a page and packs them. Runs in the Pyodide that will run them, see `compile.mjs`."""

from __future__ import annotations

import ast
import io
import json
import marshal
import sys
import zipfile
from collections.abc import Iterable, Mapping
from contextlib import suppress
from importlib import import_module
from importlib._bootstrap_external import _code_to_hash_pyc  # type: ignore[attr-defined]  # of CPython
from pathlib import Path
from typing import Any

_EPOCH = (1980, 1, 1, 0, 0, 0)
_NO_HASH = bytes(8)
_BY_NAME = (
    "_sysconfigdata__emscripten_wasm32-emscripten",
    "encodings.aliases",
    "encodings.ascii",
    "encodings.latin_1",
    "encodings.raw_unicode_escape",
    "encodings.unicode_escape",
    "encodings.utf_16",
    "encodings.utf_8",
    "encodings.utf_8_sig",
)
"""What is imported by names that are made up."""


class _Shortened(ast.NodeTransformer):
    """Leaves out what people and type checkers read: docstrings, a third of the bytes; of functions the annotations,
    and each signature of `overload`; what is imported for types alone. What is asserted stays."""

    def visit(self, node: ast.AST) -> Any:
        """A node, or what takes its place."""
        match node:
            case ast.If(test=ast.Name("TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING")):
                return [self.visit(each) for each in node.orelse]
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                if any(ast.unparse(each).endswith("overload") for each in node.decorator_list):
                    return None
                if not node.decorator_list:  # a decorator may read them
                    _forget_annotations(node)
        self.generic_visit(node)
        match node:
            case ast.Module() | ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                _shorten_docstring(node)
        if getattr(node, "body", None) == []:
            node.body = [ast.Pass()]  # type: ignore[attr-defined]  # it has one
        return node


def _forget_annotations(node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    of = node.args
    for each in (*of.posonlyargs, *of.args, *of.kwonlyargs, of.vararg, of.kwarg):
        if each is not None:
            each.annotation = None
    node.returns = None


def _shorten_docstring(node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    """Of a class without one, dataclasses works out the signature."""
    if ast.get_docstring(node, clean=False) is not None:
        node.body[0] = ast.Expr(ast.Constant("-"))


def shortened(source: bytes) -> ast.Module:
    """A module without what nothing reads while it runs."""
    tree: ast.Module = ast.fix_missing_locations(_Shortened().visit(ast.parse(source)))
    return tree


def _compiled(source: bytes, name: str) -> bytes:
    code = compile(shortened(source), name, "exec", dont_inherit=True, optimize=0)
    return bytes(_code_to_hash_pyc(code, _NO_HASH, checked=False))


def compiled_modules(folder: str, place: str) -> dict[str, bytes]:
    """The files of a folder by name, modules compiled. `place`: where they will be."""
    paths = sorted(path for path in Path(folder).rglob("*") if path.is_file())
    return dict(_packed(path.relative_to(folder).as_posix(), path.read_bytes(), place) for path in paths)


def archive_of(files: Mapping[str, bytes]) -> bytes:
    """Files as the page's worker unpacks them: the length of a list, 4 bytes; the list, as JSON, with name and size of
    each file; and the files."""
    listed = json.dumps([(name, len(data)) for name, data in files.items()], separators=(",", ":")).encode()
    return b"".join((len(listed).to_bytes(4), listed, *files.values()))


def _packed(name: str, data: bytes, place: str) -> tuple[str, bytes]:
    return (f"{name}c", _compiled(data, f"{place}/{name}")) if name.endswith(".py") else (name, data)


def prepared(first: Iterable[str]) -> bytes:
    """What Python compiles where these modules are imported, and pages shown, as `prepared.take_prepared` wants it."""
    found = import_module("prepared").take({})
    for name in first:
        import_module(name)
    import_module("forcemove.registry").installed_games()
    environment = import_module("forcemove.browser.templating").environment()
    for name in environment.list_templates():
        environment.get_template(name)
    return marshal.dumps(found)


def standard_files(imported: Iterable[str]) -> list[str]:
    """The files of the standard library that have been read by now. `imported`: names that modules import, some of them
    later; a name may be none of a module, and a module one that cannot be there."""
    for name in (*imported, *_BY_NAME):
        with suppress(ImportError):
            import_module(name)
    specs = (getattr(each, "__spec__", None) for each in tuple(sys.modules.values()))
    places = (str(spec.origin).partition(".zip/") for spec in specs if spec is not None)  # some are built in
    return sorted({name for archive, _, name in places if archive.startswith("/lib/python")})


def pack_stdlib(archive: str, names: Iterable[str], place: str, is_stored: bool) -> bytes:
    """The standard library's archive, of which these files are left. `place`: where it will be; `is_stored`: whether it
    is packed again."""
    packed, method = io.BytesIO(), zipfile.ZIP_STORED if is_stored else zipfile.ZIP_DEFLATED
    with zipfile.ZipFile(archive) as whole, zipfile.ZipFile(packed, "w", method, compresslevel=9) as opened:
        for name in names:
            inner, data = _packed(name, whole.read(name), place)
            opened.writestr(zipfile.ZipInfo(inner, _EPOCH), data, method)
    return packed.getvalue()
