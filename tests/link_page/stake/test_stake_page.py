"""A stake, played for on a page in Chromium, over a real chain and a real relay. The wallet is a provider of this
test's."""

from __future__ import annotations

import re
import signal
import statistics
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest
from playwright.sync_api import Browser, expect

from forcemove import Channel, Key, address_destination, local_keys
from forcemove.chain.addresses import show_address
from forcemove.demo.network.attacks import challenge_with
from tests.browser.page.routed import violations
from tests.browser.served.serving import until
from tests.cli.nodes import Demo, Node
from tests.cli.tables import GAS_AT_MOST, GUEST, START, World
from tests.cli.test_wallet import PROVIDER, ScriptedWallet
from tests.link_page.visiting import FILL, Player
from tests.relay.process import RelayProcess, running_relay

SLOW = 5.0
"""Seconds that a node takes to answer."""
DEPOSIT = 5 * 10**17
"""Wei."""
MOVED = "turn => document.querySelector('#board input[name=turn]')?.value !== turn"
RICH = 10**19
WALLETS, TOWER = local_keys()[5:7], local_keys()[4]


class Room(World):
    """A chain with the contracts, a relay that serves the page, and those who play there."""

    def __init__(self, node: Node, folder: Path, relay: RelayProcess) -> None:
        super().__init__(node, folder, relay)
        self.page = f"http://127.0.0.1:{relay.port}/"
        for key in (*WALLETS, GUEST):
            node.give(key.address, RICH)

    def tower(self, player: str) -> str:
        """A watchtower that works for a player; what the page is told of it."""
        home = self.home("tower", TOWER)
        where = ("--chain", self.node.endpoint, "--key", "key.json", "--listen", "127.0.0.1:0", "--head-start", "0")
        process = self.run(home, "watch", *where, "--for", player)
        process.reach("listens at ")
        return f"{show_address(TOWER.address)}@{process.said.partition('listens at ')[2].partition(',')[0]}"

    def balance(self, key: Key) -> int:
        return self.node.chain.balance(key.address)


@pytest.fixture
def room(tmp_path: Path, files: Path) -> Iterator[Room]:
    (tmp_path / "relay").mkdir()
    node = Node(tmp_path)
    with running_relay(tmp_path / "relay", "--pages", str(files)) as relay:
        found = Room(node, tmp_path, relay)
        yield found
        found.leave()
    node.stop()


class NodeWallet(ScriptedWallet):
    """One that has a node, too."""

    def answer(self, _: object, method: str, params: list[Any]) -> dict[str, Any]:
        if method in ("eth_requestAccounts", "eth_sendTransaction"):
            return super().answer(_, method, params)
        return {"result": self.chain.rpc.ask(method, *params)}


class Gambler(Player):
    """A person with a wallet in the browser, which keeps what pages keep."""

    def __init__(self, browser: Browser, room: Room, name: str, key: Key) -> None:
        super().__init__(browser, name)
        self.browser, self.room, self.key = browser, room, key
        self.wallet = NodeWallet(room.node.chain, key, key.address)
        self.context.expose_binding("askWallet", self.wallet.answer)
        self.context.add_init_script(PROVIDER)

    def let_keep(self) -> None:
        """The browser promises to keep what pages keep."""
        session = self.context.new_cdp_session(self.page)
        where = session.send("Target.getTargetInfo")["targetInfo"]["browserContextId"]
        permission = {"permission": {"name": "persistent-storage"}, "setting": "granted"}
        self.browser.new_browser_cdp_session().send(
            "Browser.setPermission", permission | {"browserContextId": where, "origin": self.room.page[:-1]}
        )

    def set_stake(self, most: str = "1 ether", tower: str = "", nodes: Sequence[str] = ()) -> None:
        """Say how a stake is played for. `nodes`: by which; by the chain's own unless given."""
        self.page.get_by_role("link", name="Stake").click()
        self.page.locator("#endpoints").fill("\n".join(nodes or [self.room.node.endpoint]))
        self.page.locator("#ask-wallet").click()
        expect(self.page.locator("#account")).to_have_value(f"0x{self.key.address.hex()}")
        self.page.locator("#most").fill(most)
        self.page.locator("#tower").fill(tower)
        self.page.locator("#agreed").check()
        self.page.locator("#keep-stake").click()

    def load_again(self) -> None:
        """Load the page as it says once all is kept."""
        self.page.locator("#reload").click()
        self.page.locator("#live", has_text="live").wait_for()

    def offer_for(self, stake: str) -> str:
        """Offer a game for a stake; what friends are handed."""
        self.page.get_by_role("link", name="Lobby").click()
        self.page.locator("#stake").fill(stake)
        return self.offer("rock-paper-scissors")

    def sign(self) -> None:
        """Sign in the wallet what the page asks for, and go back to the board."""
        board = self.page.url
        self.page.get_by_role("link", name="Wallet").click()
        self.page.locator("#requests button").first.click()
        self.page.get_by_text("There is nothing to sign right now.").wait_for()
        self.page.goto(board)

    def play_with(self, *arguments: str) -> Demo:
        """Offer a game for 0.1 ether, which a bot joins, and pay in; the bot."""
        bot = self.room.play(self.room.bob, "--join", self.offer_for("0.1 ether"), "--yes", *arguments)
        self.page.locator("#board").wait_for()
        self.sign()
        return bot

    def watched_turn(self) -> int:
        """The newest turn that the watchtower has; -1 for none."""
        found = re.search(r"has turn (\d+)", self.page.locator("#safety").text_content() or "")
        return int(found[1]) if found else -1

    def leave_after_two_moves(self) -> Channel:
        """Play two rounds with a bot, close the page, and let the bot be killed; the channel as it was after one."""
        bot = self.play_with("--rounds", "9")
        self.move()
        self.wait_for_turn()
        old = self.room.saved(self.room.bob)
        self.move()
        self.wait_for_turn()
        bot.end(by=signal.SIGKILL)
        return old


def require_paid(room: Room, players: Sequence[Key]) -> None:
    """Each account has what the last state says, less the gas of what it has sent. `players`: by their seats."""
    newest = room.channel(room.bob).newest
    assert newest is not None
    for key, share in zip(players, newest.state.outcome, strict=True):
        assert share.destination == address_destination(key.address)
        most = RICH - DEPOSIT + share.amount
        assert most - GAS_AT_MOST < room.balance(key) < most


@pytest.mark.parametrize("nodes", [(), ("wallet",)], ids=["a node", "the wallet's node"])
def test_a_stake_is_played_for_against_a_terminal_and_paid_exactly(
    browser: Browser, room: Room, nodes: Sequence[str]
) -> None:
    alice = Gambler(browser, room, "Alice", WALLETS[0])
    alice.enter(room.page)
    alice.let_keep()
    alice.set_stake(nodes=nodes)
    alice.load_again()
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
    alice.enter(room.page)
    alice.page.get_by_role("link", name="Stake").click()
    alice.set_stake(tower=room.tower(alice.page.locator("#player").inner_text()))
    alice.load_again()
    old = alice.leave_after_two_moves()
    until(lambda: alice.watched_turn() >= old.next_turn)
    alice.page.close()
    turn = challenge_with(room.node.chain, GUEST, old)
    room.await_answer(old, turn)
    assert room.balance(TOWER) < START


def test_the_page_answers_an_old_state_once_it_is_open_again(browser: Browser, room: Room) -> None:
    alice = Gambler(browser, room, "Alice", WALLETS[0])
    alice.enter(room.page)
    alice.let_keep()
    alice.set_stake()
    alice.load_again()
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


def test_a_node_that_takes_five_seconds_holds_up_no_click(browser: Browser, room: Room, slow: str) -> None:
    alice = Gambler(browser, room, "Alice", WALLETS[0])
    alice.enter(room.page)
    alice.let_keep()
    alice.set_stake(nodes=[room.node.endpoint, slow])
    alice.load_again()
    alice.play_with("--rounds", "9")
    seconds = []
    for _ in range(8):
        alice.wait_for_turn()
        turn, clicked = alice.turn(), time.monotonic()
        alice.move()
        alice.page.wait_for_function(
            "turn => document.querySelector('#board input[name=turn]')?.value !== turn", arg=str(turn)
        )
        seconds.append(time.monotonic() - clicked)
    assert statistics.median(seconds) < SLOW / 2, seconds  # of a busy machine one may take long


def test_nothing_is_sent_that_is_not_kept(browser: Browser, room: Room) -> None:
    alice = Gambler(browser, room, "Alice", WALLETS[0])
    alice.enter(room.page)
    alice.let_keep()
    alice.set_stake()
    alice.load_again()
    bot = alice.play_with("--rounds", "1")
    alice.wait_for_turn()
    before = room.saved(room.bob).next_turn
    (worker,) = alice.page.workers
    worker.evaluate(FILL)
    alice.move()
    until(lambda: bool(worker.evaluate("refused")))
    assert room.saved(room.bob).next_turn == before
    worker.evaluate("() => { FileSystemSyncAccessHandle.prototype.write = written; }")
    bot.reach("result")


def test_two_pages_play_for_a_stake_by_one_link(browser: Browser, room: Room) -> None:
    """The terms are on a page of their own: who opens the link agrees to them there."""
    alice, bob = (Gambler(browser, room, *each) for each in zip(("Alice", "Bob"), WALLETS, strict=True))
    for each in (alice, bob):
        each.enter(room.page)
        each.let_keep()
        each.set_stake()
        each.load_again()
    link = alice.offer_for("0.1 ether")
    bob.page.close()
    bob.open(link)
    bob.page.locator("#invited", has_text="The game is for a stake.").wait_for()
    bob.page.locator("#enter-now").click()
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
    assert alice.errors == bob.errors == []
