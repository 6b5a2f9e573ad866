"""`forcemove play --browser`: a person decides on a page, while the command plays over a relay and a real chain."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.cli.command import Command
from tests.cli.nodes import Demo, Node, wait_until
from tests.cli.tables import World, link_of
from tests.cli.test_browse import address_in
from tests.relay.process import RelayProcess

GAME = "tic-tac-toe"
CREATE = ("--create", "--stake", "0.01 ether", "--name", "Alice")
PAGE = ("--browser", "--no-open")
ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+/enter\?token=[\w-]{43}")


@pytest.fixture
def world(tmp_path: Path, relay: RelayProcess) -> Iterator[World]:
    node = Node(tmp_path)
    try:
        world = World(node, tmp_path, relay)
        yield world
        world.leave()
    finally:
        node.stop()


@contextmanager
def opened(browser: Browser, address: str) -> Iterator[Page]:
    context = browser.new_context()
    page = context.new_page()
    page.set_default_timeout(60_000)
    page.goto(address)
    page.locator("#live", has_text="live").wait_for()
    yield page
    context.close()


def begun(world: World, *options: str) -> tuple[Demo, Demo]:
    """Alice, who has a page and no terminal, and Bob, a bot."""
    where = ("--relay", world.carrier.url, *CREATE, *PAGE, *options)
    alice = world.run(world.alice, *world.arguments(world.alice, GAME), *where)
    return alice, world.play(world.bob, "--join", link_of(alice), "--yes", "--rounds", "3", "--name", "Bob", game=GAME)


def click_a_spot(page: Page) -> None:
    page.locator("#board button[name=word]:not([disabled])").first.click()


def test_a_game_is_played_on_a_page_and_left_and_paid(world: World, browser: Browser) -> None:
    alice, bob = begun(world)
    with opened(browser, address_in(alice)) as page:
        for turn in (5, 7, 9):
            click_a_spot(page)
            page.locator(f"#board input[name=turn][value='{turn + 1}']").wait_for(state="attached")
        assert page.locator("#board").get_by_text("Bob").count() > 0
        page.locator("summary#do-leave").click()
        page.locator("#sure-leave").click()
        alice.reach("was paid to you")
        assert bob.end() == 0, bob.complained
        page.locator("#end", has_text="was paid to you").wait_for()
    alice.process.send_signal(signal.SIGTERM)
    world.require_right_ends()


def test_who_is_killed_goes_on_with_another_page(world: World, browser: Browser) -> None:
    alice, bob = begun(world)
    with opened(browser, address_in(alice)) as page:
        click_a_spot(page)
        alice.reach("turn    5")
        alice.end(by=signal.SIGKILL)
        page.locator("#live", has_text="lost").wait_for()
    where = ("--relay", world.carrier.url, *CREATE, *PAGE)
    again = world.run(world.alice, *world.arguments(world.alice, GAME), *where)
    with opened(browser, address_in(again)) as page:
        click_a_spot(page)
        page.locator("#happened", has_text="turn 7").wait_for()
        page.locator("summary#do-leave").click()
        page.locator("#sure-leave").click()
        again.reach("was paid to you")
        assert bob.end() == 0, bob.complained
    again.process.send_signal(signal.SIGTERM)
    world.require_right_ends()


def test_a_person_changes_from_the_terminal_to_the_page(world: World, browser: Browser) -> None:
    alice = world.sit(world.alice, *CREATE, *PAGE, game=GAME)
    bob = world.play(world.bob, "--join", alice.link(), "--yes", "--rounds", "3", game=GAME)
    alice.reach("/enter?token=")
    address = next(found[0] for line in alice.screen.lines if (found := ADDRESS.search(line)))
    alice.answer("place an X in", "5")
    alice.reach("turn to place an O")
    with opened(browser, address) as page:
        click_a_spot(page)
        page.locator("#happened", has_text="turn 7").wait_for()
        alice.reach("turn    7")
        page.locator("summary#do-leave").click()
        page.locator("#sure-leave").click()
        assert bob.end() == 0, bob.complained
        wait_until(lambda: world.is_finished(world.alice))
    world.require_right_ends()


@pytest.mark.parametrize(
    ("game", "options", "words"),
    [
        (GAME, ("--create", "--stake", "0", "--bot"), "--browser is for a person"),
        ("discard-sra", ("--create", "--stake", "0"), "--browser is for a person"),
    ],
)
def test_a_page_without_a_person_or_a_channel_is_refused(
    world: World, game: str, options: tuple[str, ...], words: str
) -> None:
    refused = world.run(world.alice, "play", game, "--key", "key.json", "--relay", world.carrier.url, *PAGE, *options)
    assert refused.end() == 2
    assert words in " ".join(refused.complained.split())


@pytest.mark.parametrize(("options", "words"), [(("--port", "0"), "--port is for"), (("--no-open",), "--open is for")])
def test_options_of_a_page_are_refused_without_one(forcemove: Command, options: tuple[str, ...], words: str) -> None:
    said = forcemove("play", GAME, "--key", "key.json", "--create", "--stake", "0", *options)
    assert (said.code, f"{words} --browser." in said.err) == (2, True)
