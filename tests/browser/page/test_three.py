"""The page of a channel among three, of a game that forcemove new writes."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from forcemove import ChannelHistory, ChooseMove, ConcludeWanted, MoveChosen, local_table, moves_of, overview
from forcemove.browser.render import channel_panels
from forcemove.browser.view import ChannelView
from forcemove.scaffold.scaffold import write_game
from tests.browser.html import elements, text_of
from tests.browser.views import WALL

LAST = 7


@pytest.fixture(scope="module")
def game(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    folder = write_game("page-three", tmp_path_factory.mktemp("game"), 3)
    sys.path.insert(0, str(folder))
    try:
        yield importlib.import_module("page_three").GAME
    finally:
        sys.path.remove(str(folder))
        for name in [each for each in sys.modules if each.partition(".")[0] == "page_three"]:
            del sys.modules[name]


def view_for(game: Any, seat: int) -> ChannelView:
    def choose(question: ChooseMove) -> MoveChosen | ConcludeWanted | None:
        state = question.state
        if state.turn_num >= LAST:
            return None
        return moves_of(game.bot((state.turn_num + 1) % 3))(question)

    table = local_table(game, choose, choose, choose, stake=10**17)
    table.play()
    channel, now = table.channels[seat].channel, table.chain.now()
    choices = game.choices(channel.newest.state, bytes, b"") if channel.newest and channel.is_our_turn else ()
    seen = overview(channel, ChannelHistory(), now, choices=choices)
    names = ("Alice", "Bob", "Carol")
    return ChannelView(game, channel, ChannelHistory(), seen, now, WALL, names, b"", "/c", None, "token")


@pytest.mark.parametrize("seat", range(3))
def test_three_see_the_same_heap_and_their_own_choices(game: Any, seat: int) -> None:
    view = view_for(game, seat)
    panels = channel_panels(view)
    board = text_of(panels["board"])
    assert view.seen.next_turn == LAST + 1
    assert view.seen.is_ours == (seat == (LAST + 1) % 3)
    for name in ("Alice", "Bob", "Carol"):
        assert name in board
    (picture,) = [each for each in elements(panels["board"]) if each.attributes.get("class") == "picture"]
    assert "on the heap" in (picture.attributes["aria-label"] or "")
    words = [
        each.attributes.get("value") for each in elements(panels["board"]) if each.attributes.get("name") == "word"
    ]
    assert words == ([each.word for each in view.seen.options if each.kind == "move"] if view.seen.is_ours else [])
    if view.seen.is_ours:
        assert words
    else:
        assert "Carol" in text_of(panels["clock"])
    lanes = [each.text for each in elements(panels["happened"]) if each.attributes.get("class") == "f-muted"]
    assert lanes == ["Alice", "Bob", "Carol", "Chain"]


def test_a_channel_without_a_history_has_a_page(game: Any) -> None:
    panels = channel_panels(view_for(game, 0))
    assert not [each for each in elements(panels["happened"]) if each.name == "a"]
