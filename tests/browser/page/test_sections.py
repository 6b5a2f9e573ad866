"""The pages of the lobby and of inspection keep their elements whatever strangers say, are small, and need no mouse."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import example, given
from msgspec.structs import replace as replaced
from playwright.sync_api import Browser

from forcemove.browser.inspecting.render import InspectView, VerifyView, inspect_page, verify_page
from forcemove.browser.lobby.render import lobby_page, offer_page
from forcemove.browser.watching.view import WatchView, watch_view
from forcemove.browser.watching.watch_site import watch_page
from forcemove.protocol.codec.wire import encode_message
from forcemove.sessions.watching.spectator import ChannelSpectator
from forcemove.sessions.watching.watched_tables import WatchedTable
from forcemove.text.reports import ReportEntry, ReportPart
from forcemove_games.tic_tac_toe import GAME
from tests.browser.html import find
from tests.browser.page.routed import opened
from tests.browser.page.sections import NAV, lobby_view, offer_view, section_pages, watched_view
from tests.browser.page.test_speed import MOST_KILOBYTES, kilobytes
from tests.browser.test_hostile import BREAKOUT, NASTY, skeleton
from tests.cli.saved import state_of
from tests.sessions.test_spectator import LINK, SAVED

MOST_OFFERS = 50


def pages_of(words: str) -> list[str]:
    """Every page, with these words wherever a stranger chooses some."""
    entries = (ReportEntry(words, words), ReportEntry(words), ReportEntry("board", words), ReportEntry(words, words))
    inspected = InspectView(1, words, (ReportPart(words, entries),), (words,), "form-token")
    return [
        lobby_page(lobby_view(3, words), NAV),
        offer_page(offer_view(words), NAV),
        inspect_page(inspected, NAV),
        verify_page(VerifyView(1, (words, words), False), NAV),
        watch_page(watch_said(words), NAV),
    ]


def watch_said(words: str) -> WatchView:
    players = ((words, words), (words, words))
    said = replace(watched_view(), title=words, where=words, lines=words, headline=words, checked=words, problem=words)
    return replace(said, players=players, picture=None, faults=(words,), history=(words,))


@pytest.mark.parametrize("app_data", [b"", b"nonsense", b"\xff" * 128])
def test_a_watched_table_has_a_page_whatever_its_players_call_a_position(app_data: bytes) -> None:
    spectator = ChannelSpectator(LINK, GAME)
    for turn in range(4):
        spectator.take(encode_message(SAVED.id, SAVED.signed(replaced(state_of(turn), app_data=app_data))))
    view = watch_view(LINK, GAME, WatchedTable(spectator, lambda: None), "form-token")
    assert "The position cannot be read." in watch_page(view, NAV)


@given(words=NASTY.filter(lambda words: len(words.splitlines()) == 1))
@example(words=BREAKOUT)
def test_pages_keep_their_elements_whatever_is_said(words: str) -> None:
    assert list(map(skeleton, pages_of(words))) == list(map(skeleton, pages_of("xyz")))


@pytest.mark.parametrize("path", section_pages())
def test_a_page_and_all_that_it_loads_is_small(path: str) -> None:
    assert kilobytes(section_pages()[path]) <= MOST_KILOBYTES


def test_a_full_lobby_is_small_enough() -> None:
    assert kilobytes(lobby_page(lobby_view(MOST_OFFERS), NAV)) <= MOST_KILOBYTES


def test_an_offer_is_made_by_keyboard_alone(browser: Browser) -> None:
    with opened(browser, section_pages(), "/empty-lobby") as page:
        page.evaluate(
            "addEventListener('submit', (event) => { event.preventDefault();"
            "window.sent = Object.fromEntries(new FormData(event.target, event.submitter)); })"
        )
        reached = list[str]()
        while reached[-1:] != ["offer"]:
            assert len(reached) < 30
            page.keyboard.press("Tab")
            reached.append(page.evaluate("document.activeElement.id"))
            if reached[-1] == "stake":
                page.keyboard.press("Control+A")
                page.keyboard.type("5 gwei")
        page.keyboard.press("Enter")
        sent = page.evaluate("window.sent")
    assert [each for each in reached if each][-6:] == ["game", "stake", "seats", "duration", "move_time", "offer"]
    assert sent["stake"] == "5 gwei"
    assert sent["made"] == "2"


def test_typing_a_number_presses_no_button(browser: Browser) -> None:
    with opened(browser, section_pages(), "/lobby") as page:
        page.locator("#stake").fill("")
        page.locator("#stake").press("1")
        assert page.locator("#stake").input_value() == "1"


def test_an_open_offer_is_joined_by_a_button() -> None:
    assert find(offer_page(offer_view(), NAV), "join").text == "Join on these terms"
