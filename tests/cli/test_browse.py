"""`forcemove browse`: games are offered, joined, played and left on pages, over a real relay and a real chain."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.served.forms import FormBrowser
from tests.cli.nodes import Demo, wait_until
from tests.cli.tables import House, World

ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+/enter\?token=[\w-]{43}")
HOME = "was paid to you"
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
    guest.reload_until('id="o-0x')
    guest.open(guest.offers()[0])
    assert "Join on these terms" in guest.html, guest.html
    guest.submit("/join")


def sit(player: FormBrowser) -> None:
    """Go to the table that has opened."""
    player.open("/lobby")
    player.reload_until('href="/c/0x')
    player.open(player.link("/c/0x"))


def come_to_channel(page: Page) -> None:
    """Wait until a page shows a channel. A page that goes there twice has broken off the first way."""
    expect(page).to_have_url(re.compile("/c/0x"), timeout=60_000)


def move(player: FormBrowser, turn: int) -> None:
    """Make the first move that is possible at this turn."""
    player.reload_until(f'name="turn" value="{turn}"')
    player.reload_until('name="word"')
    player.submit("/act", word=player.words()[0])


def leave(player: FormBrowser, turn: int) -> None:
    player.reload_until(f'name="turn" value="{turn}"')
    player.submit("/act", do="leave")


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
    leave(alice, 8)
    for page in pages:
        page.reload_until(HOME)
    wait_until(lambda: world.is_finished(world.alice) and world.is_finished(world.bob))
    world.require_right_ends()
    for page in pages:
        board = page.path
        page.open("/lobby")
        page.reload_until("Dismiss")  # nobody is seated any more
        assert "result  " not in page.html  # as a terminal says it
        page.open(board)
        assert HOME in page.html
        assert [name for name in ("Ann", "Bob", "Host", "Guest") if name in page.html] == ["Ann", "Bob"]


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
    page.locator(f"#board input[name=turn][value='{turn}']").wait_for(state="attached")
    page.locator("#board button[name=word]").first.click()
    page.locator(f"#board input[name=turn][value='{turn + 1}']").wait_for(state="attached")


def inspect_and_verify(page: Page) -> None:
    """The channel on whose page we are, and then the deployment."""
    channel = page.url.partition("/c/")[2]
    page.locator("nav a", has_text="Inspect").click()
    page.locator("#what").fill(channel)
    page.locator("#inspect").click()
    page.locator("main", has_text="closed forever").wait_for()
    page.locator("nav a", has_text="Verify").click()
    page.locator("#verdict", has_text="The deployment is genuine.").wait_for()


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
        come_to_channel(bob)
        come_to_channel(alice)
        for turn, page in ((4, alice), (5, bob), (6, alice)):
            click_a_spot(page, turn)
        bob.locator("#board input[name=turn][value='7']").wait_for(state="attached")
        bob.locator("summary#do-leave").click()
        bob.locator("#sure-leave").click()
        for page in (alice, bob):
            page.locator("#end", has_text=HOME).wait_for()
        inspect_and_verify(alice)
    wait_until(lambda: world.is_finished(world.alice) and world.is_finished(world.bob))
    world.require_right_ends()


def test_who_is_killed_goes_on_with_the_offer_and_with_the_game(world: World) -> None:
    demo = browsing(world, world.alice, "--name", "Ann")
    alice, bob = entered(demo), entered(browsing(world, world.bob, "--name", "Bob"))
    alice.submit("/offers", **OFFER)
    bob.reload_until('id="o-0x')
    offer = bob.offers()[0]
    demo.end(by=signal.SIGKILL)
    demo = browsing(world, world.alice, "--name", "Ann")
    alice = entered(demo)
    alice.reload_until(offer)
    join(bob)
    for page in (alice, bob):
        sit(page)
    move(alice, 4)
    move(bob, 5)
    demo.end(by=signal.SIGKILL)
    alice = entered(browsing(world, world.alice, "--name", "Ann"))
    sit(alice)
    move(alice, 6)
    move(bob, 7)
    leave(alice, 8)
    for page in (alice, bob):
        page.reload_until(HOME)
    wait_until(lambda: world.is_finished(world.alice) and world.is_finished(world.bob))
    world.require_right_ends()
    bob.open("/lobby")
    bob.reload_until("Offer them the same again")
    form = bob.html.partition("Offer them the same again")[0].rpartition("<form")[2]
    fields = dict(re.findall(r'name="(\w+)" value="([^"]*)"', form))
    bob.submit("/offers", **{name: value for name, value in fields.items() if name != "token"})
    alice.open("/lobby")
    alice.reload_until('id="o-0x')
    for words in ("0.01 ether", "Bob", "for you alone"):
        assert words in alice.html


def test_who_ends_the_command_takes_the_offer_back(house: House) -> None:
    demo = browsing(house, house.alice)
    alice, bob = entered(demo), entered(browsing(house, house.bob))
    alice.submit("/offers", **OFFER | {"stake": "0"})
    bob.reload_until("/offers/0x")
    assert demo.end(by=signal.SIGTERM) == 128 + signal.SIGTERM
    bob.reload_until("There are no open games")
    assert house.meetings(house.alice) == 0


def test_two_friendly_games_are_played_at_once(house: House) -> None:
    alice, bob = (entered(browsing(house, home)) for home in (house.alice, house.bob))
    for game in ("tic-tac-toe", "rock-paper-scissors"):
        alice.submit("/offers", **OFFER | {"stake": "0", "game": game})
        join(bob)
        bob.open("/lobby")
        bob.reload_until("There are no open games")
        alice.open("/lobby")
    for page in (alice, bob):
        page.open("/lobby")
        wait_until(partial(are_played, page, 2))
    tables = list(dict.fromkeys(path for path in alice.links() if path.startswith("/c/0x")))
    assert len(tables) == 2
    for path in tables:
        alice.open(path)
        alice.reload_until('name="word"')
        board = alice.html.partition('id="board"')[2].partition("</section>")[0]
        assert ("place an" in board or "paper" in board, " ether" in board) == (True, False)  # nothing is at stake
        alice.submit("/act", word=alice.words()[0])
        bob.open(path)
        bob.reload_until('name="turn" value="5"')


def are_played(page: FormBrowser, count: int) -> bool:
    """Whether this many tables are, after another look."""
    page.open(page.path)
    return page.html.count('<p class="good">It is being played.') == count


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--payout", "0x" + "11" * 20), "A friendly game pays nothing"),
        (("--tower", "nonsense"), "is not a watchtower's address"),
    ],
)
def test_options_that_make_no_sense_are_refused(house: House, options: tuple[str, ...], words: str) -> None:
    refused = browsing(house, house.alice, *options)
    assert refused.end() == 2
    assert words in " ".join(refused.complained.split())


def test_a_port_that_is_taken_is_said(house: House) -> None:
    first = browsing(house, house.alice)
    port = address_in(first).split(":")[2].split("/")[0]
    second = browsing(house, house.bob, "--port", port)
    assert second.end() == 1
    assert port in second.complained
    offer = ("--create", "--stake", "0", "--browser", "--no-open", "--port", port)
    third = house.run(house.bob, "play", "tic-tac-toe", "--key", "key.json", "--relay", house.carrier.url, *offer)
    assert third.end() == 1
    assert f"port {port}" in third.complained


def test_what_is_typed_on_one_page_is_on_the_other(world: World, browser: Browser) -> None:
    with (
        opened(browser, browsing(world, world.alice, "--name", "Ann")) as alice,
        opened(browser, browsing(world, world.bob, "--name", "Bob")) as bob,
    ):
        alice.locator("#game").select_option("tic-tac-toe")
        alice.locator("#stake").fill("0")
        alice.locator("#offer").click()
        bob.locator("#offers a", has_text="Tic-tac-toe").click()
        bob.locator("#join").click()
        come_to_channel(bob)
        bob.locator("#text").fill("Good luck")
        bob.locator("#say-it").click()
        bob.locator("#chat", has_text="You say: Good luck").wait_for()
        expect(bob.locator("#text")).to_have_value("")
        come_to_channel(alice)
        alice.locator("#chat", has_text="Bob says: Good luck").wait_for()
