"""Friendly games from a link, in Chromium: from a relay, from a host of files, against a terminal, and after kills."""

from __future__ import annotations

import json
import re
import shutil
import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, Route, expect

from tests.browser.called.test_tabs import HIDING, set_hidden
from tests.browser.page.routed import violations
from tests.browser.served.serving import until
from tests.cli.tables import House, link_of
from tests.link_page.visiting import FILL, MILLISECONDS, Player, kill_renderers, signed_twice
from tests.relay.process import RelayProcess, running_relay


@pytest.fixture(scope="module")
def relay(tmp_path_factory: pytest.TempPathFactory, files: Path) -> Iterator[RelayProcess]:
    """A relay that serves the page."""
    with running_relay(tmp_path_factory.mktemp("relay"), "--pages", str(files)) as found:
        yield found


@pytest.fixture
def here(relay: RelayProcess) -> str:
    """The page of the relay."""
    return f"http://127.0.0.1:{relay.port}/"


@pytest.fixture
def house(tmp_path: Path, relay: RelayProcess) -> Iterator[House]:
    """Players at terminals, at the same relay."""
    found = House(tmp_path, relay)
    yield found
    found.leave()


def test_two_friends_play_a_round_from_one_link(browser: Browser, here: str) -> None:
    """The friend opens the link, types a name, and presses one button."""
    alice, bob = Player(browser, "Alice"), Player(browser, "Bob")
    alice.enter(here)
    link = alice.offer()
    assert link.startswith(f"{here}#forcemove2x")

    page = bob.open(link)
    page.locator("h1", has_text="Alice invites you to tic tac toe").wait_for()
    page.locator("#own-name").fill("Bob")
    page.locator("#enter-now").click()
    for turn, word in enumerate("04182"):
        (bob if turn % 2 else alice).move(word)
    alice.page.locator("#round", has_text="You win the round: three in a row.").wait_for()
    bob.page.locator("#round", has_text="Alice wins the round: three in a row.").wait_for()
    expect(bob.page).to_have_title(re.compile("^Your turn: Tic-tac-toe"))
    for player in (alice, bob):
        assert player.errors == []
        assert [each for each in player.asked if not each.startswith(here)] == []
        assert violations(player.page) == []


def test_the_files_work_from_any_host_and_their_links_name_it(browser: Browser, here: str, address: str) -> None:
    alice, bob = Player(browser, "Alice"), Player(browser, "Bob")
    alice.enter(here)
    word = alice.offer().partition("#")[2]
    bob.enter(f"{address}#{word}")
    bob.page.locator("#board").wait_for()
    alice.move("4")
    bob.move("0")
    alice.wait_for_turn()

    bob.page.get_by_role("link", name="Lobby").click()
    assert bob.offer().startswith(f"{address}#forcemove2x")


def test_cards_are_played_between_a_page_and_a_terminal(browser: Browser, here: str, house: House) -> None:
    alice = Player(browser, "Alice")
    alice.enter(here)
    link = alice.offer("discard")
    bot = house.play(house.bob, "--join", link, "--yes", "--rounds", "1", game="discard")
    for _ in range(2):
        alice.move()
    bot.reach("turn")
    assert alice.errors == []


def test_a_link_of_a_terminal_is_an_address_where_the_relay_has_a_page(
    browser: Browser, here: str, house: House
) -> None:
    host = house.play(house.alice, "--create", "--stake", "0", "--name", "Ann", game="tic-tac-toe")
    word = link_of(host)
    assert f"{here}#{word}" in host.said
    bob = Player(browser, "Bob")
    bob.enter(f"{here}#{word}")
    bob.move()
    bob.wait_for_turn()


def test_who_was_there_before_comes_back_without_a_word(browser: Browser, here: str) -> None:
    alice, bob = Player(browser, "Alice"), Player(browser, "Bob")
    alice.enter(here)
    bob.enter(alice.offer())
    alice.move("4")
    bob.wait_for_turn()
    bob.page.close()
    bob.open(here)
    bob.move("0")
    alice.wait_for_turn()
    assert bob.errors == []


def test_a_game_is_in_one_tab_at_a_time(browser: Browser, here: str) -> None:
    alice = Player(browser, "Alice")
    first = alice.enter(here)
    second = alice.open(here)
    second.locator("[role=alert]", has_text="This is played in another tab.").wait_for()
    second.get_by_role("button", name="Play here").click()
    second.locator("#make").wait_for()
    first.locator("[role=alert]", has_text="You play on in another tab.").wait_for()
    first.get_by_role("button", name="Play here").click()
    first.locator("[role=alert]", has_text="This is played in another tab.").wait_for()
    assert alice.errors == []


@pytest.mark.parametrize("how", [{"modifiers": ["Control"]}, {"button": "middle"}], ids=["Ctrl-click", "middle button"])
def test_a_link_that_is_opened_in_another_tab_leads_to_its_page(
    browser: Browser, here: str, how: dict[str, Any]
) -> None:
    alice = Player(browser, "Alice")
    alice.enter(here)
    games = alice.page.get_by_role("link", name="Games")
    with alice.context.expect_page() as opened:
        games.click(**how)
    other = opened.value
    other.get_by_role("button", name="Play here").click()
    other.get_by_role("heading", name="Games").wait_for()
    assert other.url == f"{here}#/games"
    assert alice.page.url == f"{here}#/lobby"


def test_an_offer_waits_on_in_the_tab_that_takes_over(browser: Browser, here: str) -> None:
    alice, bob = Player(browser, "Alice"), Player(browser, "Bob")
    alice.enter(here)
    link = alice.offer()
    second = alice.open(here)
    second.get_by_role("button", name="Play here").click()
    second.locator("#make").wait_for()
    bob.enter(link)
    second.locator("#board").wait_for()
    alice.move("4")
    bob.wait_for_turn()


def test_a_tab_that_has_let_go_shows_nothing_of_the_game_any_more(browser: Browser, here: str) -> None:
    alice = Player(browser, "Alice")
    alice.context.add_init_script(HIDING)
    first = alice.enter(here)
    first.get_by_role("link", name="Watch").click()
    first.locator("#watch").wait_for()
    second = alice.open(here)
    second.get_by_role("button", name="Play here").click()
    second.locator("#make").wait_for()
    first.locator("[role=alert]", has_text="You play on in another tab.").wait_for()
    for is_hidden in (True, False):
        set_hidden(first, is_hidden=is_hidden)
    first.go_back()
    expect(first).to_have_url(re.compile("#/lobby$"))
    second.get_by_role("link", name="Watch").click()
    second.locator("#watch").wait_for()
    expect(first.locator("[role=alert]", has_text="You play on in another tab.")).to_be_visible()
    expect(first).to_have_title(re.compile("^You play on in another tab"))
    assert first.locator("#make").count() == 0
    assert alice.errors == []


def test_who_goes_on_by_keys_stays_at_the_key(browser: Browser, here: str) -> None:
    alice = Player(browser, "Alice")
    page = alice.enter(here)
    for name in ("Watch", "Stake", "Lobby"):
        link = page.locator("nav").get_by_role("link", name=name)
        link.press("Enter")
        expect(page).to_have_title(re.compile(f"^{name}"))
        expect(link).to_be_focused()


def test_a_page_that_comes_late_takes_the_place_of_no_other(browser: Browser, here: str, relay: RelayProcess) -> None:
    page = Player(browser, "Bob").enter(here)

    def ask_for_offer(digits: str) -> str:
        path = f"/offers/0x{digits * 32}"
        page.evaluate("path => document.getElementById('to/watch').setAttribute('href', path)", path)
        page.get_by_role("link", name="Watch").click()
        return path

    before = page.evaluate("history.length")
    relay.process.send_signal(signal.SIGSTOP)  # nobody says whether there are such offers
    try:
        ask_for_offer("ab")
        page.get_by_role("link", name="Stake").click()
        page.locator("#stake-form").wait_for()
        last = ask_for_offer("cd")
        expect(page).to_have_url(re.compile(f"#{last}$"), timeout=MILLISECONDS)
    finally:
        relay.process.send_signal(signal.SIGCONT)
    assert page.evaluate("history.length") == before + 2


def test_what_fails_once_another_tab_has_let_go_is_said(browser: Browser, here: str) -> None:
    alice = Player(browser, "Alice")
    alice.enter(here)
    page = alice.open(here)
    again = page.get_by_role("button", name="Play here")
    again.wait_for()
    (worker,) = page.workers
    worker.evaluate("() => { FileSystemSyncAccessHandle.prototype.read = () => { throw new Error('no such disk'); }; }")
    again.click()
    page.locator("#loaded", has_text="It does not go on").wait_for()


def test_the_playground_and_a_game_leave_each_other_alone(browser: Browser, here: str) -> None:
    """They are pages of one origin."""
    alice, bob = Player(browser, "Alice"), Player(browser, "Bob")
    alice.context.add_init_script(HIDING)
    alice.enter(here)
    bob.enter(alice.offer())
    alice.move("4")
    bob.wait_for_turn()
    game, playground = alice.page, alice.open(f"{here}playground.html")
    alice.wait_for_turn()
    board = playground.url
    set_hidden(game, is_hidden=True)
    set_hidden(playground, is_hidden=True)
    bob.move("0")
    for page in (game, playground):
        expect(page).to_have_title(re.compile("^Your turn: Tic-tac-toe"))
    set_hidden(playground, is_hidden=False)
    alice.move()
    alice.wait_for_turn()
    assert playground.url == board
    assert game.locator("nav a[href='/lobby']").count() == 1
    assert alice.errors == []


def test_a_part_of_the_page_that_does_not_come_is_named(browser: Browser, here: str) -> None:
    alice = Player(browser, "Alice")
    alice.context.route("**/calls.js", lambda route: route.abort())
    page = alice.open(here)
    page.locator("#own-name").fill("Alice")
    page.locator("#enter-now").click()
    page.locator("#live", has_text="It does not go on: calls.js was not loaded. Reload the page.").wait_for()


def test_a_name_that_others_would_not_be_shown_is_asked_again(browser: Browser, here: str) -> None:
    alice = Player(browser, "You")
    page = alice.open(here)
    page.locator("#own-name").fill("You")
    page.locator("#enter-now").click()
    page.locator("#why", has_text="others would not be shown this one").wait_for()
    page.locator("#own-name").fill("Alice")
    page.locator("#enter-now").click()
    page.locator("#make").wait_for()


def test_a_name_that_is_typed_before_the_relay_has_answered_is_not_taken_yet(browser: Browser, here: str) -> None:
    alice, asked = Player(browser, "Alice"), list[Route]()
    alice.context.route("**/health", lambda route: asked.append(route))  # noqa: PLW0108  # Playwright wants a function
    page = alice.open(here)
    page.locator("#own-name").fill("Al")
    until(lambda: bool(page.evaluate("1") and asked))
    asked[0].continue_()
    expect(page.locator("#enter-now")).to_be_enabled()
    page.locator("#own-name").fill("Alice")
    page.locator("#enter-now").click()
    page.locator("#make").wait_for()
    assert page.evaluate("localStorage.getItem('forcemove name')") == "Alice"


def test_a_link_that_was_cut_is_said(browser: Browser, here: str) -> None:
    bob = Player(browser, "Bob")
    page = bob.open(f"{here}#forcemove2xaa5abt")
    page.locator("#own-name").fill("Bob")
    page.locator("#enter-now").click()
    page.locator("#why", has_text="cut").wait_for()


def test_what_the_storage_does_not_take_is_not_sent_and_goes_on_later(browser: Browser, here: str) -> None:
    alice, bob = Player(browser, "Alice"), Player(browser, "Bob")
    alice.enter(here)
    bob.enter(alice.offer())
    alice.move("4")
    bob.wait_for_turn()
    (worker,) = bob.page.workers
    worker.evaluate(FILL)
    bob.move("0")
    until(lambda: bool(worker.evaluate("refused")))
    assert "Bob placed" not in alice.page.locator("#board").inner_text()
    worker.evaluate("() => { FileSystemSyncAccessHandle.prototype.write = written; }")
    alice.wait_for_turn()


@pytest.mark.parametrize("kills", [3, pytest.param(50, marks=pytest.mark.long)])
def test_a_killed_tab_goes_on_and_signs_nothing_twice(browser: Browser, here: str, house: House, kills: int) -> None:
    random = Random(kills)
    bot = house.play(house.alice, "--create", "--stake", "0", "--rounds", "1000", game="tic-tac-toe")
    bob = Player(browser, "Bob")
    bob.enter(f"{here}#{link_of(bot)}")
    bob.wait_for_turn()
    bob.page.get_by_role("link", name="Lobby").click()
    watch_link = bob.page.locator("[id^=watch-]").first.input_value()
    bob.page.locator("nav a.play").click()
    reached = -1
    for _ in range(kills):
        for _ in range(random.randrange(1, 4)):
            bob.move()
        bob.page.evaluate("document.querySelector(\"[id^='w-'][name=word]\")?.click()")
        bob.page.wait_for_timeout(random.random() * 150)
        kill_renderers(bob.page)
        bob.page.close()
        bob.open(here)
        bob.wait_for_turn()
        assert bob.turn() >= reached  # a click that was not taken in is none
        reached = bob.turn()
    assert signed_twice(watch_link) == []


def test_a_browser_that_keeps_nothing_plays_and_says_so(browser: Browser, files: Path, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    place = f"relay.test:{port}"  # browsers keep files for no page that comes by http:// from elsewhere
    options = ("--pages", str(files), "--url", f"ws://{place}")
    relay = RelayProcess(tmp_path, *options, listen=f"127.0.0.1:{port}")
    try:
        flags = ["--no-sandbox", "--host-resolver-rules=MAP relay.test 127.0.0.1"]
        with browser.browser_type.launch(executable_path=shutil.which("chromium"), args=flags) as other:
            alice, bob = Player(other, "Alice"), Player(other, "Bob")
            alice.enter(f"http://{place}/")
            bob.enter(alice.offer())
            alice.move("4")
            bob.move("0")
            alice.wait_for_turn()
            assert "This browser keeps nothing here" in bob.page.locator("footer").inner_text()
            assert "This browser cannot install the page" in bob.page.locator("footer").inner_text()
    finally:
        relay.kill()


def test_a_browser_that_forbids_all_storage_plays_and_says_so(browser: Browser, here: str, tmp_path: Path) -> None:
    folder = tmp_path / "Default"
    folder.mkdir()
    forbidden = {"profile": {"default_content_setting_values": {"cookies": 2}}}
    (folder / "Preferences").write_text(json.dumps(forbidden))
    program, flags = shutil.which("chromium"), ["--no-sandbox"]
    context = browser.browser_type.launch_persistent_context(str(tmp_path), executable_path=program, args=flags)
    bob = Player(browser, "Bob")
    bob.context = context
    page = bob.enter(here)
    page.locator("#make").wait_for()
    assert "This browser keeps nothing here" in page.locator("footer").inner_text()
    assert "This browser cannot install the page" in page.locator("footer").inner_text()
    assert bob.errors == []
    context.close()


@pytest.mark.parametrize(("width", "scheme"), [(360, "dark"), (1280, "light")])
def test_axe_finds_nothing_before_a_game(
    browser: Browser, here: str, width: int, scheme: Literal["light", "dark"]
) -> None:
    alice = Player(browser, "Alice", width)
    for page in (alice.open(f"{here}#forcemove2xaa5abt"), alice.enter(here)):
        page.emulate_media(color_scheme=scheme)
        assert violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
