"""A host who waits is taken to the board when the friend has come, from any page of the program."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from forcemove.browser.inspecting.inspecting import Inspecting
from forcemove.browser.inspecting.routes import InspectSection
from tests.browser.html import find
from tests.browser.served.asking import Asker
from tests.browser.served.lobby import BOB, GAMES, ServedLobby, served_lobby
from tests.browser.served.serving import until
from tests.browser.served.test_lobby import offered, shown, states
from tests.relay.process import RelayProcess, running_relay
from tests.sampled import with_sample

MOST_SECONDS = 2.0
MOST_LISTING_SECONDS = 1.0
NO_OFFERS = "There are no open games yet"
LINKS = ("Lobby", "Watch", "Inspect", "Games")
WITHOUT_LINK = ("an offer", "a page that says no")
"""Pages to which none leads from the head of every page."""


@pytest.fixture
def relay(tmp_path: Path) -> Iterator[RelayProcess]:
    with running_relay(tmp_path) as relay:
        yield relay


@pytest.fixture
def host(relay: RelayProcess) -> Iterator[ServedLobby]:
    inspecting = InspectSection(Inspecting(GAMES, (), None))
    with served_lobby(relay.url, name="Ann", more=[inspecting]) as lobby:
        yield lobby


@pytest.fixture
def bob(relay: RelayProcess) -> Iterator[Asker]:
    with served_lobby(relay.url, BOB, name="Bob") as lobby:
        yield Asker(lobby)


def join(bob: Asker) -> None:
    """Bob joins, and his game has begun."""
    bob.post(shown(bob) + "/join", {})
    until(lambda: states(bob) == ["playing"])


def opened(browser: Browser, host: ServedLobby) -> Page:
    page = browser.new_context().new_page()
    page.goto(host.address)
    page.locator("#game").select_option("tic-tac-toe")
    page.locator("#offer").click()
    page.locator("#tables", has_text="Waiting for somebody to join").wait_for()
    return page


@pytest.mark.parametrize("link", with_sample((*LINKS, *WITHOUT_LINK), (LINKS[0], *WITHOUT_LINK)))
def test_the_host_is_taken_to_the_board_from_every_page(
    browser: Browser, host: ServedLobby, bob: Asker, link: str
) -> None:
    page = opened(browser, host)
    with closing(page.context):
        if link == "an offer":
            page.locator("#tables h3 a").click()
        elif link == "a page that says no":
            page.goto(f"{host.origin}/offers/0x{'00' * 32}")
        elif link != "Lobby":
            page.locator("nav a", has_text=link).click()
        page.locator("#live", has_text="live").wait_for()
        join(bob)
        page.wait_for_url("**/c/0x*")
        expect(page).to_have_title("Your turn: Tic-tac-toe \N{EN DASH} forcemove")


@pytest.mark.long
def test_what_a_host_offers_is_on_a_friends_page_within_a_second(
    browser: Browser, host: ServedLobby, relay: RelayProcess
) -> None:
    with served_lobby(relay.url, BOB) as bob, closing(browser.new_context()) as context:
        friends, hosts = context.new_page(), context.new_page()
        friends.goto(bob.address)
        friends.locator("#offers", has_text=NO_OFFERS).wait_for()
        hosts.goto(host.address)
        hosts.locator("#game").select_option("tic-tac-toe")
        for button, listed in (("Offer this game", "Ann"), ("Take back", NO_OFFERS)):
            begun = time.monotonic()
            hosts.get_by_role("button", name=button).click()
            friends.locator("#offers", has_text=listed).wait_for()
            assert time.monotonic() - begun < MOST_LISTING_SECONDS, button


def test_without_scripts_every_page_leads_to_the_board_once_it_is_loaded_again(host: ServedLobby, bob: Asker) -> None:
    alice = Asker(host)
    offered(alice)
    assert find(alice.get("/inspect").body, "nav").text.split() == ["Games", "Lobby", "Watch", "Inspect"]
    join(bob)
    until(lambda: "Your turn: Tic-tac-toe" in find(alice.get("/inspect").body, "nav").text)


def test_strangers_are_not_told_what_is_played(host: ServedLobby, bob: Asker) -> None:
    offered(Asker(host))
    join(bob)
    stranger = Asker.__new__(Asker)
    stranger.served, stranger.cookie = host, ""
    refused = stranger.get("/inspect")
    assert (refused.status, "/c/0x" in refused.body) == (403, False)
    assert stranger.get("/events").status == 403


@pytest.mark.long
def test_the_host_is_taken_there_soon(browser: Browser, host: ServedLobby, bob: Asker) -> None:
    """On a machine that does not do much else, as those of the long run."""
    page = opened(browser, host)
    with closing(page.context):
        page.locator("#live", has_text="live").wait_for()
        join(bob)
        begun = time.monotonic()
        page.wait_for_url("**/c/0x*")
        assert time.monotonic() - begun < MOST_SECONDS
