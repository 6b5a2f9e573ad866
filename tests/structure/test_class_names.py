"""A public class has a name of its own: who searches for it finds one place."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from tests.structure.imports import source_files

OF_EACH_GAME = frozenset({"Move", "Player", "Position", "PositionType", "Row"})
"""Names that each game gives to what every game has; `Move` is that of all games, too."""


def places(files: Mapping[str, Path]) -> dict[str, list[str]]:
    """The modules that have a public class of each name."""
    found: dict[str, list[str]] = defaultdict(list)
    for module, path in files.items():
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(module)
    return found


def test_a_name_stands_for_one_class() -> None:
    packages = {module: path for module, path in source_files().items() if not module.startswith("scripts")}
    twice = {name: modules for name, modules in places(packages).items() if len(modules) > 1}
    assert {name: modules for name, modules in twice.items() if name not in OF_EACH_GAME} == {}
    assert all(sum(not each.startswith("forcemove_games.") for each in modules) <= 1 for modules in twice.values())


def test_a_name_that_stands_for_two_is_seen(tmp_path: Path) -> None:
    for name, text in (("one", "class Hall: ..."), ("two", "class Hall: ...\nclass _Hall: ...")):
        (tmp_path / name).write_text(text, "utf-8")
    assert places({each: tmp_path / each for each in ("one", "two")}) == {"Hall": ["one", "two"]}
