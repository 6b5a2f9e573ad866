"""`forcemove browse`: games are offered, joined, played and left on pages, over a real relay and a real chain."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.served.chromium import chromium
from tests.browser.served.forms import FormBrowser
from tests.cli.nodes import Demo, wait_until
from tests.cli.tables import House, World

ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+/enter\?token=[\w-]{43}")
OFFER = {"game": "tic-tac-toe", "stake": "0.01 ether", "seats": "2", "duration": "3600"}


def browsing(house: House, home: Path, *options: str) -> Demo:
    """The command on a machine."""
    return house.run(home, *house.browse_arguments(home), "--no-open", *options)


def address_in(demo: Demo) -> str:
    demo.reach("/enter?token=")
    found = ADDRESS.search(demo.said)
    assert found is not None
    return found[0]


def entered(demo: Demo) -> FormBrowser:
    return FormBrowser(address_in(demo))


def join(guest: FormBrowser) -> None:
    """Read the terms of the first open game, and agree to them."""
    guest.open("/lobby")
    guest.reload_until("/offers/0x")
    guest.open(guest.link("/offers/0x"))
    assert "Join on these terms" in guest.html, guest.html
    guest.submit("/join")


def sit(player: FormBrowser) -> None:
    """Go to the table that has opened."""
    player.open("/lobby")
    player.reload_until('href="/c/0x')
    player.open(player.link("/c/0x"))


def move(player: FormBrowser, turn: int) -> None:
    """Make the first move that is possible at this turn."""
    player.reload_until(f"Turn {turn}.")
    player.reload_until('name="word"')
    player.submit("/act", word=player.words()[0])


def test_two_people_meet_play_and_are_paid_without_scripts(world: World) -> None:
    pages = [
        entered(browsing(world, home, "--name", name)) for home, name in ((world.alice, "Ann"), (world.bob, "Bob"))
    ]
    alice, bob = pages
    alice.submit("/offers", **OFFER)
    join(bob)
    for page in pages:
        sit(page)
    for turn in (4, 6):
        move(alice, turn)
        move(bob, turn + 1)
    alice.open(alice.path)
    alice.submit("/act", do="leave")
    for page in pages:
        page.reload_until("home")
    wait_until(lambda: world.is_finished(world.alice) and world.is_finished(world.bob))
    world.require_right_ends()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@contextmanager
def opened(browser: Browser, demo: Demo) -> Iterator[Page]:
    """The page of a command in a window of its own, which must complain of nothing."""
    errors = list[str]()
    context = browser.new_context(viewport={"width": 1280, "height": 1000})
    page = context.new_page()
    page.set_default_timeout(60_000)
    page.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(address_in(demo))
    page.locator("#live", has_text="live").wait_for()
    yield page
    context.close()
    assert errors == []


def click_a_spot(page: Page, turn: int) -> None:
    page.locator("#board", has_text=f"Turn {turn}.").wait_for()
    page.locator("#board button[name=word]").first.click()
    page.locator("#board", has_text=f"Turn {turn + 1}.").wait_for()


def test_two_browsers_play_each_other_to_a_payout(world: World, browser: Browser) -> None:
    with (
        opened(browser, browsing(world, world.alice, "--name", "Ann")) as alice,
        opened(browser, browsing(world, world.bob, "--name", "Bob")) as bob,
    ):
        alice.locator("#game").select_option("tic-tac-toe")
        alice.locator("#stake").fill("0.01 ether")
        alice.locator("#offer").click()
        alice.locator("#tables", has_text="Waiting for somebody to join").wait_for()
        bob.locator("#offers a", has_text="Tic-tac-toe").click()
        bob.locator("#offer", has_text="at most lost").wait_for()
        bob.locator("#join").click()
        bob.wait_for_url("**/c/0x*")
        alice.locator("#tables a[href^='/c/']").click()
        for turn, page in ((4, alice), (5, bob), (6, alice)):
            click_a_spot(page, turn)
        bob.locator("#do-leave[name=do]").click()
        for page in (alice, bob):
            page.locator("#end", has_text="home").wait_for()
    wait_until(lambda: world.is_finished(world.alice) and world.is_finished(world.bob))
    world.require_right_ends()
