"""What the page's worker answers, without a browser around it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from forcemove.browser.playground.playground_pages import PlaygroundPages
from forcemove.link_page.begin_playground import begin
from forcemove.link_page.tab import PageTab
from forcemove.store.errors import JournalUnwritable
from forcemove.text.explanations import headline
from tests.link_page.tabs import end, html, move, send, shows, until


@asynccontextmanager
async def playing() -> AsyncIterator[PageTab]:
    """A playground in a tab."""
    over: list[str] = []
    tab = begin(over.append)
    yield tab
    await end(tab)
    assert over == []


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (JournalUnwritable("this browser", "full"), headline(JournalUnwritable("this browser", "full"))[:-1]),
        (KeyError("a mistake"), "KeyError('a mistake')"),
    ],
)
async def test_what_ends_all_games_is_said(monkeypatch: pytest.MonkeyPatch, error: Exception, said: str) -> None:
    """Nobody defends them from then on."""

    async def fail(_: object) -> None:
        raise error

    monkeypatch.setattr(PlaygroundPages, "run", fail)
    over: list[str] = []
    tab = begin(over.append)
    await until(lambda: over == [said])
    await end(tab)


async def test_a_move_is_made_by_a_form_and_shown_to_who_listens() -> None:
    async with playing() as tab:
        shown: dict[str, str] = {}
        tab.listen(f"{tab.path}/events", lambda panels: shown.update(json.loads(panels)))
        await move(tab, "4")
        await until(lambda: "You signed turn 4" in shown.get("happened", ""))
        await until(lambda: "signed turn 5" in shown["happened"])


async def test_a_page_that_cannot_be_shown_says_so_and_is_shown_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise KeyError("<a mistake>")

    async with playing() as tab:
        shown: dict[str, str] = {}
        tab.listen(f"{tab.path}/events", lambda panels: shown.update(json.loads(panels)))
        await until(lambda: "board" in shown)
        assert "live" not in shown  # what the page's own scripts say there stays
        monkeypatch.setattr(PlaygroundPages, "view", fail)
        tab.post("/playground/press", {"button": "silent"})
        await until(lambda: "KeyError(&#x27;&lt;a mistake&gt;&#x27;). Reload the page." in shown.get("live", ""))
        monkeypatch.undo()
        await send(tab, "/playground/press", button="fair")
        await until(lambda: ">live<" in shown["live"])


async def test_a_game_that_was_played_is_listed_replayed_and_recorded() -> None:
    async with playing() as tab:
        await move(tab, "4")
        await until(shows(tab, "signed turn 5"))
        played = tab.path.replace("/c/", "/games/")

        assert played in await html(tab, "/games")
        assert "move 1 of" in await html(tab, f"{played}?at=1")
        assert json.loads(await html(tab, f"{played}/record?file"))["format"].startswith("forcemove-game-record")
        assert (await tab.get(f"{played}/record")).status == 404  # a file in place of a page would leave none


async def test_a_button_is_pressed_and_a_new_game_has_a_page_of_its_own() -> None:
    async with playing() as tab:
        before = tab.path
        assert (await send(tab, "/playground/press", button="silent")).path == ""
        assert "Bob is silent." in await html(tab)
        assert (await send(tab, "/playground/press", button="new-rock-paper-scissors")).path == tab.path != before
        assert (await tab.get(before)).status == 200


@pytest.mark.parametrize(
    "path", ["/c/0x" + "00" * 32, "/c/0x00", "/lobby", "/c/../", "/s/page.js", "", "/games/x", "//["]
)
async def test_what_is_not_there_is_said_on_a_page(path: str) -> None:
    async with playing() as tab:
        answer = await tab.get(path)
        assert answer.status == 404
        assert "<h1" in answer.text
        assert tab.post(path, {}).status == 404


@pytest.mark.parametrize("at", ["x", "-1", "1234567", "²"])
async def test_an_entry_that_cannot_be_is_refused(at: str) -> None:
    async with playing() as tab:
        assert (await tab.get(f"{tab.path}?at={at}")).status == 404


async def test_a_form_without_its_turn_is_refused() -> None:
    async with playing() as tab:
        assert tab.post(f"{tab.path}/act", {"do": "move", "word": "4"}) == (400, "The form has no turn.", "")


async def test_only_the_page_that_is_shown_is_listened_to() -> None:
    async with playing() as tab:
        earlier, later = list[str](), list[str]()
        tab.listen("/events", earlier.append)
        await until(lambda: earlier)
        tab.listen(f"{tab.path}/events", later.append)
        await until(lambda: later)
        await send(tab, "/playground/press", button="silent")
        await until(lambda: len(later) > 1)
        assert len(earlier) == 1


async def test_nobody_is_shown_anything_who_does_not_listen() -> None:
    async with playing() as tab:
        shown = list[str]()
        tab.listen(f"{tab.path}/events", shown.append)
        await until(lambda: shown)
        tab.listen_no_more()
        before = len(shown)
        await send(tab, "/playground/press", button="silent")
        await until(shows(tab, "Bob is silent."))
        assert len(shown) == before


async def test_the_page_begins_with_all_games_for_two() -> None:
    async with playing() as tab:
        found = await html(tab)
        assert "Your turn" in found or "Tic-tac-toe" in found
        for name in ("discard", "rock-paper-scissors", "tic-tac-toe"):
            assert f"p-new-{name}" in found
