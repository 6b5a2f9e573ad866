"""Our games are made of what anybody's game can be made of: of the names that are stable for programs. Only what is
stable, or passed on, is listed."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

import forcemove
from scripts.reference import PUBLIC
from tests.structure.imports import source_files

STABLE = tuple(name for names in PUBLIC.values() for name in names if name not in ("forcemove", "forcemove_games"))
OURS = frozenset({("forcemove.contracts", "artifact"), ("forcemove.protocol", "curve")})
"""Games that come with Forcemove have their contracts beside its own, and the curve of cards is that of signatures."""


def hidden_names(source: str) -> Iterator[str]:
    """What a module's text imports of Forcemove that is not stable for programs."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names):
                yield from (each.name for each in names if _is_ours(each.name) and not _is_stable(each.name))
            case ast.ImportFrom(module=str(module), names=names) if _is_ours(module) and not _is_stable(module):
                yield from (
                    f"{module}.{each.name}"
                    for each in names
                    if not (module == "forcemove" and each.name in forcemove.__all__)
                    and not _is_stable(f"{module}.{each.name}")
                    and (module, each.name) not in OURS
                )
            case _:
                pass


def _is_ours(module: str) -> bool:
    return module.split(".", maxsplit=1)[0] == "forcemove"


def _is_stable(module: str) -> bool:
    return any(module == each or module.startswith(f"{each}.") for each in STABLE)


def test_games_use_what_anybodys_game_can_use() -> None:
    games = {module: path for module, path in source_files().items() if module.startswith("forcemove_games")}
    assert {
        module: found for module, path in games.items() if (found := [*hidden_names(path.read_text("utf-8"))])
    } == {}


def test_names_are_listed_where_they_are_stable_or_passed_on_and_nowhere_else() -> None:
    listed = {module for module, path in source_files().items() if _lists_its_own(path.read_text("utf-8"))}
    assert sorted(each for each in listed if each != "forcemove" and not _is_stable(each)) == []


def _lists_its_own(source: str) -> bool:
    """Whether a module has an `__all__` in which no name is another module's."""
    tree = ast.parse(source)
    imported = {
        each.asname or each.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for each in node.names
    }
    return any(
        isinstance(node, ast.Assign)
        and ast.unparse(node.targets[0]) == "__all__"
        and not _strings(node.value) & imported
        for node in tree.body
    )


def _strings(listed: ast.expr) -> set[object]:
    return {node.value for node in ast.walk(listed) if isinstance(node, ast.Constant)}


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("from forcemove import Game, keccak256", []),
        ("from forcemove.flow.steps import Step", []),
        ("from forcemove import picture", []),
        ("from forcemove_games.views import play", []),
        ("from forcemove.game import Game", ["forcemove.game.Game"]),
        ("from forcemove import game", ["forcemove.game"]),
        ("import forcemove.errors", ["forcemove.errors"]),
        ("def late():\n    from forcemove.protocol.rules import sign", ["forcemove.protocol.rules.sign"]),
    ],
)
def test_what_is_not_stable_is_seen(source: str, found: list[str]) -> None:
    assert list(hidden_names(source)) == found
