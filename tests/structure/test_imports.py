"""Imports point down, from room to room, and inside a room they go in no circle."""

from __future__ import annotations

import pytest

from tests.structure.imports import Imports, imports_of, read_imports, source_files
from tests.structure.order import ROOMS, room_of, violations

OURS = frozenset({"forcemove.errors", "forcemove.protocol", "forcemove.protocol.rules", "forcemove_games"})


@pytest.fixture(scope="module")
def imports() -> Imports:
    return read_imports(source_files())


def graph(*arrows: str) -> Imports:
    """Made-up imports, from arrows such as `module > imported`, which stand for the package's own modules, too."""
    pairs = [arrow.split(" > ") for arrow in arrows]
    return {module: frozenset(name for each, name in pairs if each == module) for module, _ in pairs}


def test_no_import_breaks_the_order_or_a_ban(imports: Imports) -> None:
    assert violations(imports) == []


def test_every_room_of_the_order_is_there_once(imports: Imports) -> None:
    assert sorted({room_of(module) for module in imports}) == sorted(ROOMS)


@pytest.mark.parametrize(
    ("module", "imported", "reason"),
    [
        ("errors", "protocol.types", "the room forcemove.protocol comes after forcemove.errors in the order of rooms"),
        ("chain.reverts", "node.node", "the room forcemove.node comes after forcemove.chain in the order of rooms"),
        ("store.journal", "chain.errors", "the room forcemove.chain comes after forcemove.store in the order of rooms"),
        ("flow.steps", "chain.chain", "the room forcemove.chain comes after forcemove.flow in the order of rooms"),
        (
            "sessions.service",
            "sessions.running.open_tables",
            "the room forcemove.sessions.running comes after forcemove.sessions in the order of rooms",
        ),
        ("game", "", "the room forcemove comes after forcemove.game in the order of rooms"),
        ("chain.chain", "flow.steps", "flows and chains do not know each other"),
    ],
)
def test_an_import_against_the_order_is_told_with_its_reason(module: str, imported: str, reason: str) -> None:
    here, there = f"forcemove.{module}", f"forcemove.{imported}".rstrip(".")
    assert violations(graph(f"{here} > {there}")) == [f"{here} imports {there}, but {reason}"]


@pytest.mark.parametrize(
    ("module", "imported", "reason"),
    [
        ("forcemove.cli.demo", "forcemove_games.tic_tac_toe", "a game arrives as a value or by entry point"),
        ("forcemove_games.sra.deck", "forcemove.protocol.signing", "games do not see this much of the channel"),
        ("forcemove_games.views", "forcemove.protocol", "games do not see this much of the channel"),
        ("forcemove_games.discard.bot", "forcemove.flow.steps", "games do not see this much of the channel"),
        ("forcemove.protocol.machine.machine", "time", "the core is pure"),
        ("forcemove.protocol.codec.wire", "secrets", "the core is pure"),
        ("forcemove.node.client", "time", "the core is pure"),
        ("forcemove.node.node", "web3", "only a chain in this process needs web3"),
        ("forcemove.chain.codec", "eth_abi", "forcemove.chain.abi has all that is needed of it"),
        ("forcemove.sender.signing", "eth_account", "only a chain in this process needs web3"),
        ("forcemove.protocol.signing", "coincurve", "only forcemove.protocol.curve knows by which library"),
        ("forcemove_games.cards.curve", "coincurve", "only forcemove.protocol.curve knows by which library"),
        ("forcemove.chain.chain", "eth_utils", "only forcemove.protocol.hashing knows by which library"),
        ("forcemove.node.client", "sqlalchemy", "only forcemove.store knows databases"),
        (
            "forcemove.transport.websocket.connection",
            "aiohttp",
            "clients reach servers through a module of their own",
        ),
        ("forcemove.watchtower.client", "aiohttp", "clients reach servers through a module of their own"),
        ("forcemove.relay.server", "nats", "only forcemove.transport knows NATS"),
        ("forcemove.inspect.apps", "click", "inspection never prints"),
        ("forcemove.inspect.apps", "sys", "inspection never prints"),
        ("forcemove.sessions.playing.played_channel", "prompt_toolkit", "a table speaks through its port"),
        ("forcemove.text.explanations", "rich", "texts are values"),
        ("forcemove.playground.match", "rich", "a page or a program shows it"),
        ("forcemove.demo.network.scenarios", "logging", "a program shows it"),
    ],
)
def test_an_import_that_a_ban_forbids_is_told_with_its_reason(module: str, imported: str, reason: str) -> None:
    assert violations(graph(f"{module} > {imported}")) == [f"{module} imports {imported}, but {reason}"]


@pytest.mark.parametrize(
    "arrow",
    [
        "forcemove.chain.chain > web3",
        "forcemove.node.node > forcemove.errors",
        "forcemove.protocol.codec.wire > forcemove.protocol.rules",
        "forcemove.browser.lobby.view > forcemove.browser.view",
        "forcemove_games.discard.flow > forcemove.flow.steps",
        "forcemove_games.discard_sra.demonstration > forcemove.protocol.signing",
        "scripts.vectors > forcemove_games.cards.deck",
    ],
)
def test_what_is_allowed_is_passed(arrow: str) -> None:
    assert violations(graph(arrow)) == []


@pytest.mark.parametrize("module", ["forcemove.surprise", "forcemove.surprise.module", "forcemove.nodes.node"])
def test_a_module_without_a_room_is_told(module: str) -> None:
    expected = [f"{module} is in no room: its folder needs a line in tests/structure/order.py"]
    assert violations(graph(f"{module} > time")) == expected


def test_a_circle_inside_a_room_is_told_in_the_direction_of_its_imports() -> None:
    arrows = ("forcemove.cli.a > forcemove.cli.b.c", "forcemove.cli.b.c > forcemove.cli.d")
    assert violations(graph(*arrows, "forcemove.cli.d > forcemove.errors")) == []

    (found,) = violations(graph(*arrows, "forcemove.cli.d > forcemove.cli.a"))

    assert found in {
        f"{x} imports {y}, which imports {z}, which imports {x}: inside a room no imports go in a circle"
        for x, y, z in [[f"forcemove.cli.{each}" for each in row.split()] for row in ("a b.c d", "b.c d a", "d a b.c")]
    }


def test_a_module_that_imports_itself_is_told() -> None:
    (found,) = violations(graph("scripts.vectors > scripts.vectors"))
    assert found == "scripts.vectors imports scripts.vectors: inside a room no imports go in a circle"


def test_a_script_that_is_run_as_a_file_finds_the_folders_beside_it(imports: Imports) -> None:
    """Python looks for `scripts` and `tests` in the script's own folder otherwise."""
    texts = {name: path.read_text("utf-8") for name, path in source_files().items() if name.startswith("scripts.")}
    texts = {name: text for name, text in texts.items() if not name.endswith(".__main__")}  # which `-m` runs
    programs = {name: text for name, text in texts.items() if 'if __name__ == "__main__"' in text}
    needing = {name for name in programs if any(each.startswith(("scripts", "tests")) for each in imports[name])}
    assert {name for name in needing if "sys.path.insert(0, str(ROOT))" not in programs[name]} == set()


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
