"""Which modules a build takes, and which it leaves out."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from scripts.page.files import MissingImport, needed_modules


def made(folder: Path, sources: Mapping[str, str]) -> Path:
    for name, source in {"forcemove/__init__.pyi": "from forcemove.a import Thing", **sources}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source, "utf-8")
    return folder


def needed(folder: Path, sources: Mapping[str, str]) -> set[str]:
    return set(needed_modules(made(folder, sources), ["forcemove.first"]))


@pytest.mark.parametrize(
    "source",
    [
        "import forcemove.a",
        "from forcemove import a",
        "from forcemove.a import Thing",
        "from forcemove import Thing",
        "from . import a",
        "from .a import Thing",
        "def f():\n    import forcemove.a",
        "class C:\n    async def f(self):\n        from forcemove import Thing",
        "if True:\n    import forcemove.a",
    ],
)
def test_what_is_imported_is_taken_wherever_that_stands(source: str, tmp_path: Path) -> None:
    assert "forcemove.a" in needed(tmp_path, {"forcemove/first.py": source, "forcemove/a.py": "import json"})


def test_what_is_imported_for_types_alone_is_not_taken(tmp_path: Path) -> None:
    source = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import forcemove.a"
    assert needed(tmp_path, {"forcemove/first.py": source, "forcemove/a.py": ""}) == {"forcemove.first"}


def test_what_needs_a_server_is_left_out_where_it_is_imported_later(tmp_path: Path) -> None:
    sources = {
        "forcemove/first.py": "def f():\n    import forcemove.a",
        "forcemove/a.py": "import forcemove.b",
        "forcemove/b.py": "import aiohttp",
    }
    assert needed(tmp_path, sources) == {"forcemove.first"}


def test_what_needs_a_server_at_once_ends_the_build_and_is_named(tmp_path: Path) -> None:
    sources = {
        "forcemove/first.py": "from forcemove import Thing",
        "forcemove/a.py": "from forcemove.b import c",
        "forcemove/b.py": "import web3.providers",
    }
    with pytest.raises(
        MissingImport, match=r"^forcemove.first imports forcemove.a imports .*b imports web3.providers$"
    ):
        needed(tmp_path, sources)
