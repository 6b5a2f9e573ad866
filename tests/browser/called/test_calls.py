"""A tab calls its person: title and icon say whose turn it is, a sound and a notification where they were switched on,
and a new board is gone to, unless somebody types or plays."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest
from playwright.sync_api import Browser, Page, expect

from forcemove.browser.inspecting.render import InspectView, inspect_page
from forcemove.browser.render import channels_page, message_page, nav_panel
from forcemove.browser.templating import Nav, PlayedGame, fill_in
from tests.browser.page.routed import opened

STREAMS = """
window.streams = [];
window.EventSource = class {
  constructor(url) { this.url = url; this.takers = {}; window.streams.push(this); setTimeout(() => this.onopen?.()); }
  addEventListener(name, taker) { this.takers[name] = taker; }
  close() { this.isClosed = true; }
};
window.tell = (panels) => {
  for (const each of window.streams) if (!each.isClosed) each.takers.panels({ data: JSON.stringify(panels) });
};
"""
"""Streams that say what a test tells them to."""
HEARD = """
window.heard = [];
window.AudioContext = class {
  currentTime = 0;
  resume() { return Promise.resolve(); }
  createGain() {
    return { gain: { setValueAtTime() {}, exponentialRampToValueAtTime() {} }, connect(to) { return to; } };
  }
  createOscillator() { return { connect(to) { return to; }, start() { window.heard.push("sound"); }, stop() {} }; }
};
window.Notification = class {
  static permission = "default";
  static async requestPermission() { this.permission = window.answer || "granted"; }
  constructor(text) { window.heard.push(text); window.notice = this; }
};
document.hasFocus = () => false;
"""
THEIRS = PlayedGame("/c/0x01", "Bob's turn: Tic-tac-toe", is_ours=False)
OURS = PlayedGame("/c/0x01", "Your turn: Tic-tac-toe", is_ours=True)
OTHER = PlayedGame("/c/0x02", "Your turn: Discard", is_ours=True)


def titled(text: str) -> str:
    return f"{text} \N{EN DASH} forcemove"


def page_with(*games: PlayedGame) -> str:
    return channels_page((), 0, Nav(games=games))


@dataclass
class Tab:
    page: Page

    def tell(self, *games: PlayedGame, **panels: str) -> None:
        self.page.evaluate("(panels) => window.tell(panels)", nav_panel(Nav(games=games)) | panels)

    @property
    def heard(self) -> list[str]:
        found: list[str] = self.page.evaluate("window.heard")
        return found

    @property
    def icon(self) -> str:
        found: str = self.page.evaluate("document.querySelector('link[rel=icon]').href")
        return found.rpartition("/")[2]


@contextmanager
def at(browser: Browser, pages: dict[str, str], path: str = "/") -> Iterator[Tab]:
    for board in ("/c/0x01", "/c/0x02"):
        pages.setdefault(board, page_with(OURS, OTHER))
    with opened(browser, pages, path, before=STREAMS + HEARD) as page:
        expect(page.locator("#live")).to_have_text("live")
        yield Tab(page)


def test_title_and_icon_say_whose_turn_it_is(browser: Browser) -> None:
    with at(browser, {"/c/0x01": page_with(THEIRS)}, "/c/0x01") as tab:
        expect(tab.page).to_have_title(titled("Bob's turn: Tic-tac-toe"))
        assert tab.icon == "icon.svg"
        tab.tell(OURS)
        expect(tab.page).to_have_title(titled("Your turn: Tic-tac-toe"))
        assert tab.icon == "turn.svg"
        tab.tell(OURS, OTHER)
        expect(tab.page).to_have_title(titled("(1) Your turn: Tic-tac-toe"))
        tab.tell(title=fill_in("title.html", title="Tic-tac-toe: closed"))
        expect(tab.page).to_have_title(titled("Tic-tac-toe: closed"))
        assert tab.icon == "icon.svg"
        assert tab.heard == []  # nobody has switched them on


def test_another_page_says_how_many_games_wait(browser: Browser) -> None:
    with at(browser, {"/": page_with(THEIRS)}) as tab:
        tab.tell(OURS)
        expect(tab.page).to_have_title(titled("(1) Games"))
        expect(tab.page.locator("#live")).to_have_text("Your turn: Tic-tac-toe")
        tab.tell(THEIRS)
        expect(tab.page).to_have_title(titled("Games"))


def test_a_sound_and_a_notification_once_they_are_switched_on_and_each_turn_once(browser: Browser) -> None:
    with at(browser, {"/": page_with(THEIRS)}) as tab:
        sound, notices = tab.page.locator("#sound"), tab.page.locator("#notices")
        for each in (sound, notices):
            expect(each).to_have_attribute("aria-pressed", "false")
            each.click()
            expect(each).to_have_attribute("aria-pressed", "true")
        assert tab.heard == ["sound"]  # so that one knows it
        for _ in range(2):
            tab.tell(THEIRS)
            tab.tell(OURS)
            tab.tell(OURS)
        assert tab.heard == ["sound", *(["sound", "Your turn: Tic-tac-toe"] * 2)]
        sound.click()
        notices.click()
        tab.tell(THEIRS)
        tab.tell(OURS)
        assert len(tab.heard) == 5
        tab.page.evaluate("window.notice.onclick()")
        tab.page.wait_for_url("**/c/0x01")


def test_the_switches_are_remembered(browser: Browser) -> None:
    with at(browser, {"/": page_with(THEIRS)}) as tab:
        tab.page.locator("#sound").click()
        tab.page.reload()
        expect(tab.page.locator("#sound")).to_have_attribute("aria-pressed", "true")
        expect(tab.page.locator("#notices")).to_have_attribute("aria-pressed", "false")


def test_a_browser_that_shows_no_notifications_says_so(browser: Browser) -> None:
    with at(browser, {"/": page_with()}) as tab:
        tab.page.evaluate("window.answer = 'denied'")
        tab.page.locator("#notices").click()
        expect(tab.page.locator("#live")).to_contain_text("shows none")
        expect(tab.page.locator("#notices")).to_have_attribute("aria-pressed", "false")


@pytest.mark.parametrize("page", [page_with(), message_page("Not here", "There is no such channel.", events="/events")])
def test_a_new_board_is_gone_to_from_every_page(browser: Browser, page: str) -> None:
    with at(browser, {"/": page}) as tab:
        tab.tell(THEIRS)
        tab.page.wait_for_url("**/c/0x01")


def test_a_board_that_came_while_a_page_was_loaded_is_gone_to(browser: Browser) -> None:
    pages = {"/": page_with()}
    with at(browser, pages) as tab:
        pages["/"] = page_with(THEIRS)
        tab.page.goto(tab.page.url)
        tab.page.wait_for_url("**/c/0x01")


def test_a_board_that_is_known_is_not_gone_to(browser: Browser) -> None:
    with at(browser, {"/": page_with(THEIRS)}) as tab:
        tab.tell(OURS)
        tab.page.reload()
        expect(tab.page.locator("#live")).to_have_text("live")
        assert tab.page.url.endswith("localhost/")


def test_who_types_stays_and_has_a_link(browser: Browser) -> None:
    inspect = inspect_page(InspectView(None, "", (), (), "token"), Nav())
    with at(browser, {"/": inspect}) as tab:
        tab.page.locator("input:not([type=hidden]):not([type=file]), textarea").first.fill("0x12")
        tab.tell(OURS)
        expect(tab.page.locator("#live")).to_have_text("Your turn: Tic-tac-toe")
        assert tab.page.url.endswith("localhost/")
        tab.page.locator("#nav .play").click()
        tab.page.wait_for_url("**/c/0x01")


def test_who_plays_or_signs_is_not_taken_away(browser: Browser) -> None:
    signing = page_with().replace("<main", "<button disabled>Sign</button><main")
    for path, page, games in (("/c/0x01", page_with(OURS), (OURS,)), ("/", signing, ())):
        with at(browser, {path: page}, path) as tab:
            tab.tell(*games, OTHER)
            expect(tab.page.locator("#live")).to_have_text("Your turn: Discard")
            assert tab.page.url.endswith(path)


def test_nothing_is_asked_by_an_idle_page(browser: Browser) -> None:
    with at(browser, {"/": page_with(THEIRS)}) as tab:
        asked: list[str] = []
        tab.page.on("request", lambda request: asked.append(request.url))
        tab.tell(THEIRS)
        tab.tell(THEIRS)
        expect(tab.page.locator("#nav .play")).to_have_text(THEIRS.text)
        assert json.dumps(asked) == "[]"
