"""What is written of rooms in channel/README.md, made of imports that are made up. That the page is current, and so
shows the imports as they are, `test_generated` asks."""

from __future__ import annotations

import pytest

from scripts.rooms import NOT_DRAWN, arrows, needed, picture, room_shown, rooms, rooms_picture, sentence, table


@pytest.mark.parametrize(
    ("module", "room"),
    [
        ("forcemove.protocol.machine.machine", "core"),
        ("forcemove.errors", "core"),
        ("forcemove.chain", "chain"),
        ("forcemove.relay.storage.store", "relay"),
        ("forcemove_games.cards.deck", "games"),
        ("forcemove", ""),
        ("forcemove.__main__", ""),
        ("scripts.vectors", ""),
        ("web3", ""),
    ],
)
def test_a_module_is_shown_in_its_room(module: str, room: str) -> None:
    assert room_shown(module) == room


def test_imports_inside_a_room_and_of_others_are_no_arrows() -> None:
    imports = {
        "forcemove.chain.chain": frozenset({"forcemove.chain.errors", "forcemove.errors", "web3"}),
        "forcemove_games.views": frozenset({"forcemove.flow.steps"}),
        "scripts.vectors": frozenset({"forcemove.chain.chain"}),
    }
    assert arrows(imports) == {("chain", "core"), ("games", "flow")}


def test_an_arrow_is_not_drawn_where_a_longer_way_leads_there() -> None:
    found = {("cli", "node"), ("cli", "chain"), ("cli", "core"), ("node", "chain"), ("chain", "core")}
    assert needed(found) == {("cli", "node"), ("node", "chain"), ("chain", "core")}
    assert needed({("cli", "node"), ("cli", "chain")}) == {("cli", "node"), ("cli", "chain")}


def test_the_picture_begins_with_the_highest_room() -> None:
    drawn = picture(["core", "chain", "testing", "cli"], {("chain", "core"), ("cli", "chain"), ("testing", "chain")})
    assert [line.strip() for line in drawn.splitlines()[2:4]] == ["cli --> chain", "chain --> core"]
    assert "testing" not in drawn


def test_every_room_is_drawn_but_the_kit_for_tests() -> None:
    words = set(rooms_picture().split())
    assert [room for room in rooms() if room not in words] == [NOT_DRAWN]


def test_the_table_lists_what_a_room_imports_in_the_order_of_the_rooms() -> None:
    rows = table({"core": "Rules.", "chain": "Calls.", "cli": "Commands."}, {("cli", "chain"), ("cli", "core")})
    assert rows.splitlines()[2:] == [
        "| core | Rules. | nothing |",
        "| chain | Calls. | nothing |",
        "| cli | Commands. | core, chain |",
    ]


@pytest.mark.parametrize("room", rooms())
def test_every_room_says_in_a_sentence_what_it_does(room: str) -> None:
    assert sentence(room).endswith("."), "its __init__.py begins with a sentence"
