"""A spectator's page in Chromium: what is played elsewhere appears by itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from forcemove.chain.local import local_keys
from tests.browser.html import find
from tests.browser.served.chromium import chromium
from tests.browser.served.forms import FormBrowser
from tests.browser.served.lobby import ALICE, BOB, served_lobby
from tests.cli.test_browse import OFFER, join, move, sit
from tests.relay.process import RelayProcess, running_relay

CAROL = local_keys()[3]


@pytest.fixture
def relay(tmp_path: Path) -> Iterator[RelayProcess]:
    with running_relay(tmp_path) as relay:
        yield relay


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


def test_a_spectator_sees_a_move_appear(relay: RelayProcess, browser: Browser) -> None:
    with (
        served_lobby(relay.url, ALICE, "Ann") as host,
        served_lobby(relay.url, BOB, "Bob") as guest,
        served_lobby(relay.url, CAROL) as stranger,
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
