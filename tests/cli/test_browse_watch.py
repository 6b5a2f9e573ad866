"""A stranger watches a table of two others on a page, with a real relay: by forms, and in Chromium."""

from __future__ import annotations

from playwright.sync_api import expect

from forcemove.chain.local import local_keys
from tests.browser.html import find
from tests.browser.served.chromium import chromium
from tests.browser.served.forms import FormBrowser
from tests.browser.served.lobby import ALICE, BOB, served_lobby
from tests.cli.tables import World
from tests.cli.test_browse import HOME, OFFER, browsing, entered, join, move, sit
from tests.relay.process import RelayProcess

STRANGER = local_keys()[3]


def test_a_stranger_sees_the_public_game_and_nothing_else(world: World) -> None:
    carol = entered(browsing(world, world.home("carol", STRANGER)))
    alice, bob = (entered(browsing(world, home)) for home in (world.alice, world.bob))
    alice.submit("/offers", **OFFER | {"game": "rock-paper-scissors"})
    join(bob)
    alice.open("/lobby")
    alice.reload_until("Link for spectators")
    link = find(alice.html, "watch-1").attributes["value"] or ""
    for page in (alice, bob):
        sit(page)
    watch(carol, link)
    move(alice, 4)
    carol.reload_until("Host chose a weapon")
    move(bob, 5)
    carol.reload_until("turn 6, signed by Host: revealed rock")
    assert "Every signature and every rule" in carol.html
    assert "was not believed" not in carol.html
    assert carol.words() == []
    assert "rock" in carol.html.lower()
    bob.reload_until('name="turn" value="7"')
    bob.submit("/act", do="leave")
    alice.reload_until(HOME)
    carol.reload_until("The game is over")


def watch(page: FormBrowser, link: str) -> None:
    page.open("/watch")
    page.submit("/watch", link=link)
    assert "Watch this table" in page.html
    page.submit(link)


def test_a_spectator_sees_a_move_appear(relay: RelayProcess) -> None:
    with (
        chromium() as browser,
        served_lobby(relay.url, ALICE, "Ann") as host,
        served_lobby(relay.url, BOB, "Bob") as guest,
        served_lobby(relay.url, STRANGER) as stranger,
    ):
        alice, bob = FormBrowser(host.address), FormBrowser(guest.address)
        alice.submit("/offers", **OFFER | {"stake": "0"})
        join(bob)
        alice.open("/lobby")
        alice.reload_until("Link for spectators")
        link = find(alice.html, "watch-1").attributes["value"] or ""
        for page in (alice, bob):
            sit(page)
        carol = browser.new_context().new_page()
        errors = list[str]()
        carol.on("pageerror", lambda error: errors.append(str(error)))
        carol.goto(stranger.address)
        carol.goto(stranger.origin + "/watch")
        carol.locator("#link").fill(link)
        carol.locator("#watch").click()
        carol.locator("#begin").click()
        carol.locator("#live", has_text="live").wait_for()
        carol.evaluate("window.isTheSamePage = true")
        for turn, player in ((4, alice), (5, bob)):
            expect(carol.locator("#watched")).not_to_contain_text(f"turn {turn}")
            move(player, turn)
            expect(carol.locator("#watched")).to_contain_text(f"turn {turn}", timeout=30_000)
        assert carol.evaluate("window.isTheSamePage")
        assert carol.locator("#watched button").count() == 0
        assert errors == []
        carol.context.close()
