"""Imports point down."""

from __future__ import annotations

import pytest

from tests.structure.imports import Imports, imports_of, read_imports, source_files
from tests.structure.order import ORDER, line_of, violations

OURS = frozenset({"forcemove.errors", "forcemove.protocol", "forcemove.protocol.rules", "forcemove_games"})


@pytest.fixture(scope="module")
def imports() -> Imports:
    return read_imports(source_files())


def test_no_import_breaks_the_order_or_a_ban(imports: Imports) -> None:
    assert violations(imports) == []


def test_every_line_of_the_order_is_some_modules_place(imports: Imports) -> None:
    assert {line_of(module) for module in imports} == set(range(len(ORDER)))


@pytest.mark.parametrize(
    ("module", "imported", "reason"),
    [
        ("forcemove.protocol.types", "forcemove.protocol.outcome", "it is not above"),
        ("forcemove.protocol.outcome", "forcemove.protocol.outcome", "it is not above"),
        ("forcemove.protocol.rules", "forcemove.protocol.unheard_of", "it is not above"),
        ("forcemove.chain.reverts", "forcemove.chain.local", "it is not above"),
        ("forcemove.cli.demo", "forcemove_games.tic_tac_toe", "a game arrives as a value or by entry point"),
        (
            "forcemove_games.tic_tac_toe.rules",
            "forcemove.protocol.signing",
            "games do not see this much of the channel",
        ),
        ("forcemove_games.tic_tac_toe.rules", "forcemove.protocol", "games do not see this much of the channel"),
        ("forcemove.protocol.machine.machine", "time", "the core is pure"),
        ("forcemove.protocol.codec.wire", "secrets", "the core is pure"),
        ("forcemove.node.client", "time", "the core is pure"),
        ("forcemove.node.node", "web3", "only forcemove.chain knows web3"),
        ("forcemove.node.client", "sqlalchemy", "only forcemove.store knows databases"),
        ("forcemove.store.journal", "forcemove.chain.errors", "the journal knows no chain and no node"),
        ("forcemove.inspect.apps", "click", "inspection never prints"),
        ("forcemove.inspect.apps", "sys", "inspection never prints"),
        ("forcemove.inspect.apps", "forcemove.cli.pages", "it is not above"),
        ("forcemove.tables.service", "click", "a table speaks through its port"),
        ("forcemove.tables.playing.match", "prompt_toolkit", "a table speaks through its port"),
        ("forcemove.text.explanations", "rich", "texts are values"),
    ],
)
def test_a_wrong_import_is_seen(module: str, imported: str, reason: str) -> None:
    assert f"{module} imports {imported}: {reason}" in violations({module: frozenset({imported})})


def test_a_script_that_is_run_as_a_file_finds_the_folders_beside_it(imports: Imports) -> None:
    """Python looks for `scripts` and `tests` in the script's own folder otherwise."""
    texts = {name: path.read_text("utf-8") for name, path in source_files().items() if name.startswith("scripts.")}
    programs = {name: text for name, text in texts.items() if "__main__" in text}
    needing = {name for name in programs if any(each.startswith(("scripts", "tests")) for each in imports[name])}
    assert {name for name in needing if "sys.path.insert(0, str(ROOT))" not in programs[name]} == set()


def test_a_module_without_a_place_is_seen() -> None:
    assert violations({"forcemove.node.surprise": frozenset()}) == ["forcemove.node.surprise has no place in the order"]


def test_a_circle_among_programs_is_seen() -> None:
    circle = {"forcemove.cli.a": frozenset({"forcemove.cli.b"}), "forcemove.cli.b": frozenset({"forcemove.cli.a"})}
    assert [found.partition(":")[0] for found in violations(circle)] == ["in a circle"]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import web3.types", {"web3"}),
        ("import forcemove.errors as e", {"forcemove.errors"}),
        ("from forcemove.protocol import rules", {"forcemove.protocol.rules"}),
        ("from forcemove.errors import InvalidValue", {"forcemove.errors"}),
        ("def f():\n    from forcemove_games import x\n    import os.path", {"forcemove_games", "os"}),
        ("if TYPE_CHECKING:\n    import asyncio", {"asyncio"}),
    ],
)
def test_imports_are_found_wherever_they_stand(source: str, expected: set[str]) -> None:
    assert imports_of(source, OURS) == expected
