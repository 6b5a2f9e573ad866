"""A friendly game between the two browser engines, over a relay that serves the page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser.firefox.bidi import Firefox, firefox
from tests.link_page.conftest import browser, files
from tests.link_page.visiting import Player
from tests.relay.process import running_relay

__all__ = ["browser", "files"]


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory, files: Path) -> Iterator[str]:
    """The page of a relay."""
    with running_relay(tmp_path_factory.mktemp("relay"), "--pages", str(files)) as relay:
        yield f"http://127.0.0.1:{relay.port}/"


def enter(alice: Firefox, address: str) -> None:
    alice.open(address)
    alice.type("#own-name", "Alice")
    alice.click("#enter-now")
    alice.wait("#live", "live")


def move(alice: Firefox, place: int) -> None:
    alice.click(f"#w-{place}[name=word]")


def test_two_play_a_round_each_in_a_browser_of_their_own(
    browser: Browser,
    here: str,
    tmp_path: Path,
) -> None:
    with firefox(tmp_path) as alice:
        enter(alice, here)
        alice.choose("#game", "tic-tac-toe")
        alice.click("#offer")
        bob = Player(browser, "Bob")
        bob.enter(alice.value("#tables input[id^='link-']"))
        for turn, place in enumerate((0, 4, 1, 8, 2)):
            bob.move(str(place)) if turn % 2 else move(alice, place)
        alice.wait("#round", "You win the round: three in a row.")
        bob.page.locator("#round", has_text="Alice wins the round: three in a row.").wait_for()
        assert alice.errors == bob.errors == []

        alice.open(here)  # which has kept key and game
        alice.wait("#round", "You win the round: three in a row.")


def test_python_waits_for_a_node_where_a_stake_is_asked_for(here: str, tmp_path: Path) -> None:
    """By JavaScript Promise Integration, as in Chromium; who has none is told."""
    address = f"0x{'52' * 20}"
    with firefox(tmp_path) as alice:
        enter(alice, here)
        alice.click("nav a[href='/stake']")
        if alice.evaluated("String('Suspending' in WebAssembly)") == "false":
            alice.wait("#page", "This browser lacks what a stake needs")  # an older one, as Debian may have it
            return
        alice.type("#endpoints", "http://127.0.0.1:1")
        alice.type("#account", address)
        alice.type("#tower", f"{address}@https://tower.example")
        alice.click("#agreed")
        alice.click("#keep-stake")
        alice.wait("#stake-form [role=alert]", "the browser could not reach it")
