"""A copy that is saved on a page in Chromium, and what a terminal does with it."""

from __future__ import annotations

import signal
from pathlib import Path

from playwright.sync_api import Browser, Page, expect

from tests.browser.page.routed import violations
from tests.cli.nodes import PASSPHRASE
from tests.link_page.stake.gamblers import WALLETS, Gambler, Room, require_received

HOUR = 3600


def save_copy(page: Page, path: Path, password: str = PASSPHRASE) -> None:
    """Follow the offer on the board, and save the file."""
    page.locator("#save-copy").click()
    page.locator("#password").fill(password)
    page.locator("#again").fill(password)
    page.locator("#make-copy").click()
    with page.expect_download() as download:
        page.locator("#copy-file").click()
    assert download.value.suggested_filename == "forcemove-copy.json"
    download.value.save_as(path)


def test_a_terminal_ends_a_game_with_the_copy_of_a_page_that_is_lost(browser: Browser, room: Room) -> None:
    alice = Gambler(browser, room, "Alice", WALLETS[0])
    alice.begin()
    bot = alice.play_with("--rounds", "9")
    alice.move()
    alice.wait_for_turn()
    copy = room.alice / "copy.json"
    save_copy(alice.page, copy)
    assert violations(alice.page) == []
    bot.end(by=signal.SIGKILL)
    alice.context.close()  # with all that the browser has kept

    channel = room.saved(room.bob)
    terminal = ("--store", "copy.journal")
    taking = room.run(room.alice, "channel", "import", *terminal, "copy.json")
    assert taking.end() == 0, taking.complained
    assert "a copy" in taking.said
    where = (*terminal, "--chain", room.node.endpoint, "--key", "copy.json", "--account", "key.json")
    leaving = room.run(room.alice, "channel", "conclude", channel.agreement.channel_id.hex(), *where)
    assert leaving.end() == 1
    assert "Nothing is signed in channel" in leaving.complained
    starting = room.run(room.alice, "channel", "challenge", channel.agreement.channel_id.hex(), *where)
    assert starting.end() == 0, starting.complained
    room.travel(HOUR + 1)
    ending = room.run(room.alice, "channel", "collect", *where)
    assert ending.end() == 0, ending.complained

    newest = channel.newest
    assert newest is not None
    require_received(room, WALLETS[0], newest.state.outcome[0].amount)
    assert room.held(channel) == 0


def test_a_password_is_asked_for_twice_and_is_nowhere_in_the_clear(browser: Browser, room: Room) -> None:
    alice = Gambler(browser, room, "Alice", WALLETS[0])
    alice.begin()
    page = alice.page
    page.get_by_role("link", name="Stake").click()
    page.locator("#endpoints").wait_for()
    assert violations(page) == []
    page.get_by_role("link", name="Save a copy").click()
    page.locator("#password").fill(PASSPHRASE)
    page.locator("#again").fill(PASSPHRASE[:-1])
    page.locator("#make-copy").click()
    page.get_by_text("The two passwords are not the same.").wait_for()
    for each in ("#password", "#again"):
        page.locator(each).fill(PASSPHRASE)
    page.locator("#make-copy").click()
    page.get_by_text("No game for a stake is open").wait_for()
    expect(page.locator("#copy-file")).to_have_count(0)
