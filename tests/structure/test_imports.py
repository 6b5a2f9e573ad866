"""Imports point down."""

from __future__ import annotations

import pytest

from tests.structure.imports import Imports, imports_of, read_imports, source_files
from tests.structure.order import ORDER, line_of, violations

OURS = frozenset({"channel.errors", "channel.protocol", "channel.protocol.rules", "games"})


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
        ("channel.protocol.types", "channel.protocol.outcome", "it is not above"),
        ("channel.protocol.outcome", "channel.protocol.outcome", "it is not above"),
        ("channel.protocol.rules", "channel.protocol.unheard_of", "it is not above"),
        ("channel.chain.reverts", "channel.chain.local", "it is not above"),
        ("channel.cli.demo", "games.tic_tac_toe", "a game arrives as a value or by entry point"),
        ("games.tic_tac_toe.rules", "channel.protocol.signing", "games do not see this much of the channel"),
        ("games.tic_tac_toe.rules", "channel.protocol", "games do not see this much of the channel"),
        ("channel.protocol.machine", "time", "the core is pure"),
        ("channel.protocol.wire", "secrets", "the core is pure"),
        ("channel.node.client", "time", "the core is pure"),
        ("channel.node.polled", "web3", "only channel.chain knows web3"),
        ("channel.node.client", "sqlalchemy", "only channel.store knows databases"),
        ("channel.store.journal", "channel.chain.errors", "the journal knows no chain and no node"),
        ("channel.inspect.apps", "click", "inspection never prints"),
        ("channel.inspect.apps", "sys", "inspection never prints"),
        ("channel.inspect.apps", "channel.cli.pages", "it is not above"),
    ],
)
def test_a_wrong_import_is_seen(module: str, imported: str, reason: str) -> None:
    assert f"{module} imports {imported}: {reason}" in violations({module: frozenset({imported})})


def test_a_module_without_a_place_is_seen() -> None:
    assert violations({"channel.node.surprise": frozenset()}) == ["channel.node.surprise has no place in the order"]


def test_a_circle_among_programs_is_seen() -> None:
    circle = {"channel.cli.a": frozenset({"channel.cli.b"}), "channel.cli.b": frozenset({"channel.cli.a"})}
    assert [found.partition(":")[0] for found in violations(circle)] == ["in a circle"]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import web3.types", {"web3"}),
        ("import forcemove.channel.errors as e", {"channel.errors"}),
        ("from forcemove.channel.protocol import rules", {"channel.protocol.rules"}),
        ("from forcemove.channel.errors import InvalidValue", {"channel.errors"}),
        ("def f():\n    from forcemove.games import x\n    import os.path", {"games", "os"}),
        ("if TYPE_CHECKING:\n    import asyncio", {"asyncio"}),
    ],
)
def test_imports_are_found_wherever_they_stand(source: str, expected: set[str]) -> None:
    assert imports_of(source, OURS) == expected
