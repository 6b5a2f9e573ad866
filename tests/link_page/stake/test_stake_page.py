"""A stake, played for on a page in Chromium, over a real chain and a real relay."""

from __future__ import annotations

import re
import statistics
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.request import Request, urlopen

import pytest
from playwright.sync_api import Browser, expect

from forcemove.demo.network.scenarios import challenge_with
from tests.browser.page.routed import violations
from tests.browser.served.serving import until
from tests.cli.tables import GUEST, START
from tests.link_page.stake.gamblers import TOWER, WALLETS, Gambler, Room, require_paid
from tests.link_page.visiting import FILL

SLOW = 5.0
"""Seconds that a node takes to answer."""
TURN = "() => document.querySelector('#board input[name=turn]')?.value"


@pytest.mark.parametrize("nodes", [(), ("wallet",)], ids=["a node", "the wallet's node"])
def test_a_stake_is_played_for_against_a_terminal_and_paid_exactly(
    browser: Browser, room: Room, nodes: Sequence[str]
) -> None:
    alice = Gambler(browser, room, "Alice", WALLETS[0])
    alice.begin(nodes=nodes)
    bot = alice.play_with("--rounds", "1")
    alice.move()
    bot.reach("result")
    alice.page.get_by_text(re.compile("paid out")).first.wait_for()
    expect(alice.page.locator("#safety")).not_to_contain_text("not signed yet")
    require_paid(room, [WALLETS[0], GUEST])
    assert alice.errors == []
    assert violations(alice.page) == []


def test_a_tower_answers_an_old_state_while_the_page_is_closed(browser: Browser, room: Room) -> None:
    """The browser has promised nothing: a tower that is named is enough."""
    alice = Gambler(browser, room, "Alice", WALLETS[0])
    alice.begin(has_tower=True)
    old = alice.leave_after_two_moves()
    until(lambda: alice.watched_turn() >= old.next_turn)
    alice.page.close()
    turn = challenge_with(room.node.chain, GUEST, old)
    room.await_answer(old, turn)
    assert room.balance(TOWER) < START


def test_the_page_answers_an_old_state_once_it_is_open_again(browser: Browser, room: Room) -> None:
    alice = Gambler(browser, room, "Alice", WALLETS[0])
    alice.begin()
    old = alice.leave_after_two_moves()
    alice.page.close()
    turn = challenge_with(room.node.chain, GUEST, old)
    alice.open(room.page)
    alice.page.locator("#board .headline", has_text="in your wallet").wait_for()
    alice.sign()
    room.await_answer(old, turn)
    assert alice.errors == []


class _SlowNode(BaseHTTPRequestHandler):
    """Hands on what a node says, after five seconds. `node`: its address."""

    node = ""

    def do_OPTIONS(self) -> None:  # the name that http.server wants
        self._answer(b"")

    def do_POST(self) -> None:  # the name that http.server wants
        body = self.rfile.read(int(self.headers["Content-Length"]))
        time.sleep(SLOW)  # it is what a slow node does
        asked = Request(self.node, body, {"Content-Type": "application/json"})  # noqa: S310  # the test's own anvil
        with urlopen(asked) as answer:  # noqa: S310
            self._answer(answer.read())

    def _answer(self, body: bytes) -> None:
        with suppress(BrokenPipeError):
            self.send_response(200)
            for name in ("Origin", "Headers"):
                self.send_header(f"Access-Control-Allow-{name}", "*")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the library's name
        """Nothing is written to the screen."""


@pytest.fixture
def slow(room: Room) -> Iterator[str]:
    """The address of a node that takes its time."""
    handler = type("Handler", (_SlowNode,), {"node": room.node.endpoint})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def seconds_of_move(alice: Gambler) -> float:
    """Make a move; the seconds until the board takes it."""
    turn, clicked = str(alice.turn()), time.monotonic()
    alice.move()
    until(lambda: alice.page.evaluate(TURN) != turn)
    return time.monotonic() - clicked


def test_a_node_that_takes_five_seconds_holds_up_no_click(browser: Browser, room: Room, slow: str) -> None:
    alice = Gambler(browser, room, "Alice", WALLETS[0])
    alice.begin(nodes=[room.node.endpoint, slow])
    alice.play_with("--rounds", "9")
    seconds = []
    for _ in range(8):
        alice.wait_for_turn()
        seconds.append(seconds_of_move(alice))
    assert statistics.median(seconds) < SLOW / 2, seconds  # of a busy machine one may take long


def test_nothing_is_sent_or_lost_where_nothing_is_kept(browser: Browser, room: Room) -> None:
    alice = Gambler(browser, room, "Alice", WALLETS[0])
    alice.begin()
    bot = alice.play_with("--rounds", "1")
    alice.wait_for_turn()
    before = room.saved(room.bob).next_turn
    (worker,) = alice.page.workers
    worker.evaluate(FILL)
    alice.move()
    until(lambda: bool(worker.evaluate("refused")))
    assert room.saved(room.bob).next_turn == before
    alice.page.locator("#notice", has_text="What you do is not sent before it is kept.").wait_for()
    alice.set_stake()
    alice.page.locator("#stake-form .bad", has_text="The browser does not keep it").wait_for()
    worker.evaluate("() => { FileSystemSyncAccessHandle.prototype.write = written; }")
    bot.reach("result")
    alice.page.reload()
    alice.page.locator("#stake-form", has_text="This page plays for a stake.").wait_for()


def test_two_pages_play_for_a_stake_by_one_link(browser: Browser, room: Room) -> None:
    """The terms are on a page of their own: who opens the link agrees to them there."""
    alice, bob = (Gambler(browser, room, *each) for each in zip(("Alice", "Bob"), WALLETS, strict=True))
    for each in (alice, bob):
        each.begin()
    link = alice.offer_for("0.1 ether")
    bob.page.close()
    bob.open(link)
    bob.page.locator("#invited", has_text="The game is for a stake.").wait_for()
    bob.page.locator("#enter-now").click()
    join_and_play(alice, bob)
    assert alice.errors == bob.errors == []


def test_a_guest_plays_for_a_stake_on_a_page_from_a_host_of_files(browser: Browser, room: Room, address: str) -> None:
    alice, bob = (Gambler(browser, room, *each) for each in zip(("Alice", "Bob"), WALLETS, strict=True))
    alice.begin()
    link = f"{address}#{alice.offer_for('0.1 ether').partition('#')[2]}"
    bob.begin(page=link)
    bob.page.close()
    bob.open(link)
    bob.page.locator("#enter-now").click()
    join_and_play(alice, bob)
    assert [each for each in bob.errors if "status of 404" not in each] == []  # such a host knows no invitations


def join_and_play(alice: Gambler, bob: Gambler) -> None:
    """Bob joins, both pay in, and make a move each."""
    bob.page.get_by_text("at most lost").wait_for()
    assert bob.wallet.asked == ["eth_requestAccounts"]
    bob.page.locator("#join").click()
    for each in (alice, bob):
        each.page.locator("#board").wait_for()
        each.sign()
    for each in (alice, bob):
        each.move()
    for each in (alice, bob):
        each.page.locator("#round", has_text="round").first.wait_for()
