"""The page in Chromium, from a host of files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import pytest
from playwright.sync_api import Browser, Page, Route

from forcemove.inspect.game_record import decode_game_record
from forcemove.inspect.game_record_report import report_record
from forcemove_games.tic_tac_toe import GAME as TIC_TAC_TOE
from tests.browser.page.routed import violations
from tests.browser.served.serving import until
from tests.link_page.visiting import MILLISECONDS

_NOTES = """
addEventListener("DOMContentLoaded", () => {
  const loaded = document.getElementById("loaded");
  window.said = [];
  new MutationObserver(() => said.push(loaded.textContent)).observe(loaded, { childList: true });
});
"""
"""Notes what is said of loading."""


@contextmanager
def opened(browser: Browser, address: str) -> Iterator[tuple[Page, list[str]]]:
    """The page, and what the browser has complained of; everything comes from the one host."""
    errors: list[str] = []
    with browser.new_context(viewport={"width": 1280, "height": 900}) as context:
        page = context.new_page()
        page.set_default_timeout(MILLISECONDS)
        page.add_init_script(_NOTES)
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: errors.append(str(error)))
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto(f"{address}playground.html")
        page.locator("#live", has_text="live").wait_for()
        yield page, errors
        assert errors == []
        assert [each for each in asked if not each.startswith((address, "blob:"))] == []


def wait_for_turn(page: Page) -> None:
    page.locator("[id^='w-'][name=word]").first.wait_for()


def press(page: Page, name: str) -> None:
    page.locator(f"#p-{name}[name=button]").click()


def move(page: Page) -> None:
    """Make the first move that is possible."""
    page.locator("[id^='w-'][name=word]").first.click()


def leave(page: Page) -> None:
    """Leave, as soon as that loses no stake, and wait for the money."""
    page.locator("summary#do-leave").click()
    page.locator("button[name=do][value=leave]").click()
    page.locator("#guide", has_text="was paid").wait_for()


def test_a_game_is_left_paid_listed_replayed_and_saved(browser: Browser, address: str, tmp_path: Path) -> None:
    with opened(browser, address) as (page, _):
        wait_for_turn(page)
        move(page)
        page.locator("#happened", has_text="Bob signed turn 5").wait_for()
        leave(page)
        assert page.locator("#guide").inner_text().count("The balance is as expected") == 2

        page.get_by_role("link", name="Games", exact=True).click()
        page.get_by_role("link", name="replay").first.click()
        page.locator("h1", has_text="move").wait_for()
        page.keyboard.press("Home")
        page.locator("h1", has_text="move 0 of").wait_for()
        page.keyboard.press("ArrowRight")
        page.locator("h1", has_text="move 1 of").wait_for()
        with page.expect_download() as download:
            page.get_by_role("link", name="Its record").click()
        download.value.save_as(tmp_path / "game.json")
        assert report_record(decode_game_record((tmp_path / "game.json").read_text("utf-8")), [TIC_TAC_TOE])
        page.go_back()
        page.locator("h1", has_text="move 0 of").wait_for()
        page.get_by_role("link", name="forcemove", exact=True).click()
        page.get_by_role("row").nth(1).get_by_role("link").first.click()
        page.locator("#live", has_text="live").wait_for()


def test_an_old_state_is_answered_by_itself(browser: Browser, address: str) -> None:
    with opened(browser, address) as (page, _):
        wait_for_turn(page)
        press(page, "tour-stale-state")
        move(page)
        page.locator("#guide", has_text="Step 2").wait_for()
        press(page, "old")
        page.locator("#guide", has_text="Step 3").wait_for()
        assert "Turn 5 recorded: the clock stops" in page.locator("#happened").inner_text()


def test_cards_are_shuffled_dealt_and_laid(browser: Browser, address: str) -> None:
    with opened(browser, address) as (page, _):
        wait_for_turn(page)
        leave(page)
        press(page, "new-discard")
        page.locator("h1", has_text="Discard").wait_for()
        wait_for_turn(page)
        move(page)
        page.locator("#happened", has_text=re.compile("You signed turn ([6-9]|1[0-9])")).wait_for()


@pytest.fixture(scope="module")
def fresh(browser: Browser, address: str) -> Iterator[Page]:
    """One that nobody presses anything on: it takes seconds to load."""
    with opened(browser, address) as (page, _):
        wait_for_turn(page)
        yield page


@pytest.mark.parametrize("width", [360, 1280])
def test_axe_finds_nothing_and_nothing_scrolls_sideways(fresh: Page, width: int) -> None:
    fresh.set_viewport_size({"width": width, "height": 900})
    assert violations(fresh) == []
    assert fresh.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_loading_is_shown_to_its_last_part(fresh: Page) -> None:
    assert fresh.evaluate("said") == [f"{part} of 5 parts" for part in range(1, 6)]


def pressable(page: Page) -> list[str]:
    """The ids of the buttons that can be pressed; where a new game comes, as soon as it is there."""
    buttons, found = (
        page.locator("#playground button[name=button]:not([id^='p-tour']), [id^='w-'][name=word]"),
        list[str](),
    )

    def look() -> bool:
        found[:] = buttons.evaluate_all("found => found.map(each => each.id)")
        return bool(found)

    until(look)
    return found


@pytest.mark.parametrize("presses", [100, pytest.param(1_000, marks=pytest.mark.long)])
def test_whatever_is_pressed_nothing_goes_wrong(browser: Browser, address: str, presses: int) -> None:
    random = Random(presses)
    with opened(browser, address) as (page, _):
        wait_for_turn(page)
        for _ in range(presses):
            page.evaluate("id => document.getElementById(id)?.click()", random.choice(pressable(page)))
            page.evaluate("() => new Promise(requestAnimationFrame)")
        guide = page.locator("#guide").inner_text() if page.locator("#guide").is_visible() else ""
        assert "WRONG" not in guide
        assert "Error" not in guide


def test_a_file_that_is_missing_is_said(browser: Browser, address: str) -> None:
    def refuse(route: Route) -> None:
        route.fulfill(status=404)

    with browser.new_context() as context:
        page = context.new_page()
        context.route("**/app.bin", refuse)
        page.goto(f"{address}playground.html")
        page.locator("#loaded", has_text="app.bin: HTTP status 404. Reload the page.").wait_for(timeout=MILLISECONDS)
