"""What the page's worker answers, without a browser around it."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable

import pytest

from forcemove.link_page.beginning import begin
from forcemove.link_page.tab import PlaygroundTab
from forcemove_games.rock_paper_scissors import GAME as ROCK_PAPER_SCISSORS
from forcemove_games.tic_tac_toe import GAME as TIC_TAC_TOE


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(30):
        while not condition():
            await asyncio.sleep(0.01)


@pytest.fixture
def tab() -> PlaygroundTab:
    return PlaygroundTab([TIC_TAC_TOE, ROCK_PAPER_SCISSORS])


def fields_of(html: str) -> dict[str, str]:
    """What every form of a page brings with it."""
    return dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', html))


async def play(tab: PlaygroundTab, word: str) -> None:
    """Make a move, once it is ours."""
    await until(lambda: f'value="{word}"' in tab.get(tab.path).text)
    answer = tab.post(f"{tab.path}/act", {**fields_of(tab.get(tab.path).text), "do": "move", "word": word})
    assert answer.status == 204


async def test_a_move_is_made_by_a_form_and_shown_to_who_listens(tab: PlaygroundTab) -> None:
    shown: dict[str, str] = {}
    running = asyncio.create_task(tab.run())
    tab.listen(f"{tab.path}/events", lambda panels: shown.update(json.loads(panels)))
    await play(tab, "4")
    await until(lambda: "You signed turn 4" in shown.get("happened", ""))
    await until(lambda: "signed turn 5" in shown["happened"])
    running.cancel()


async def test_a_game_that_was_played_is_listed_replayed_and_recorded(tab: PlaygroundTab) -> None:
    running = asyncio.create_task(tab.run())
    await play(tab, "4")
    await until(lambda: "signed turn 5" in tab.get(tab.path).text)
    running.cancel()
    played = tab.path.replace("/c/", "/games/")

    assert played in tab.get("/games").text
    assert "move 1 of" in tab.get(f"{played}?at=1").text
    assert json.loads(tab.get(f"{played}/record").text)["format"].startswith("forcemove-game-record")


async def test_a_button_is_pressed_and_a_new_game_has_a_page_of_its_own(tab: PlaygroundTab) -> None:
    fields = fields_of(tab.get(tab.path).text)
    before = tab.path
    assert tab.post("/playground/press", {**fields, "button": "silent"}).path == ""
    assert "Bob is silent." in tab.get(tab.path).text
    assert tab.post("/playground/press", {**fields, "button": "new-rock-paper-scissors"}).path == tab.path != before
    assert tab.get(before).status == 200


@pytest.mark.parametrize("path", ["/c/0x" + "00" * 32, "/c/0x00", "/lobby", "/c/../", "/s/page.js", "", "/games/x"])
async def test_what_is_not_there_is_said_on_a_page(tab: PlaygroundTab, path: str) -> None:
    answer = tab.get(path)
    assert answer.status == 404
    assert "<h1" in answer.text
    assert tab.post(path, {}).status == 404


@pytest.mark.parametrize("at", ["x", "-1", "1234567", "²"])
async def test_an_entry_that_cannot_be_is_refused(tab: PlaygroundTab, at: str) -> None:
    assert tab.get(f"{tab.path}?at={at}").status == 404


async def test_a_form_without_its_turn_is_refused(tab: PlaygroundTab) -> None:
    assert tab.post(f"{tab.path}/act", {"do": "move", "word": "4"}) == (400, "The form has no turn.", "")


async def test_only_the_page_that_is_shown_is_listened_to(tab: PlaygroundTab) -> None:
    earlier, later = list[str](), list[str]()
    tab.listen("/events", earlier.append)
    await until(lambda: earlier)
    tab.listen(f"{tab.path}/events", later.append)
    await until(lambda: later)
    tab.post("/playground/press", {**fields_of(tab.get(tab.path).text), "button": "silent"})
    await until(lambda: len(later) > 1)
    assert len(earlier) == 1


async def test_the_page_begins_with_all_games_for_two() -> None:
    page = begin()
    html = page.get(page.path).text
    assert "Your turn" in html or "Tic-tac-toe" in html
    for name in ("discard", "rock-paper-scissors", "tic-tac-toe"):
        assert f"p-new-{name}" in html
