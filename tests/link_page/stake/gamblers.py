"""People who play for a stake on a page in Chromium, over a real chain and a real relay. Their wallet is a provider of
this test's."""

from __future__ import annotations

import re
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, expect

from forcemove import Channel, Key, address_destination, local_keys
from forcemove.chain.addresses import show_address
from tests.cli.nodes import Demo, Node
from tests.cli.tables import GAS_AT_MOST, GUEST, World
from tests.cli.test_wallet import PROVIDER, ScriptedWallet
from tests.link_page.visiting import Player
from tests.relay.process import RelayProcess

__all__ = ["TOWER", "WALLETS", "Gambler", "Room", "require_paid", "require_received"]

DEPOSIT = 5 * 10**17
"""Wei."""
RICH = 10**19
WALLETS, TOWER = local_keys()[5:7], local_keys()[4]


class Room(World):
    """A chain with the contracts, a relay that serves the page, and those who play there. `watching`: the watchtower's
    process, once there is one."""

    def __init__(self, node: Node, folder: Path, relay: RelayProcess) -> None:
        super().__init__(node, folder, relay)
        self.watching: Demo
        self.page = f"http://127.0.0.1:{relay.port}/"
        for key in (*WALLETS, GUEST):
            node.give(key.address, RICH)

    def tower(self, player: str) -> str:
        """A watchtower that works for a player; what the page is told of it."""
        home = self.home("tower", TOWER)
        where = ("--chain", self.node.endpoint, "--key", "key.json", "--listen", "127.0.0.1:0", "--head-start", "0")
        self.watching = process = self.run(home, "watch", *where, "--for", player)
        process.reach("listens at ")
        return f"{show_address(TOWER.address)}@{process.said.partition('listens at ')[2].partition(',')[0]}"

    def balance(self, key: Key) -> int:
        return self.node.chain.balance(key.address)


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
        origin = "{0.scheme}://{0.netloc}".format(urlsplit(self.page.url))
        self.browser.new_browser_cdp_session().send(
            "Browser.setPermission", permission | {"browserContextId": where, "origin": origin}
        )

    def set_stake(self, most: str = "1 ether", nodes: Sequence[str] = (), *, has_tower: bool = False) -> None:
        """Say how a stake is played for. `nodes`: by which; by the chain's own unless given."""
        self.page.get_by_role("link", name="Stake").click()
        tower = self.room.tower(self.page.locator("#player").inner_text()) if has_tower else ""
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

    def begin(self, nodes: Sequence[str] = (), *, has_tower: bool = False, page: str = "") -> None:
        """Enter the page, and have it play for a stake: with a watchtower, or with the browser's promise to keep.
        `nodes`: as of `set_stake`; `page`: its address where the relay does not serve it."""
        self.enter(page or self.room.page)
        if not has_tower:
            self.let_keep()
        self.set_stake(nodes=nodes, has_tower=has_tower)
        self.load_again()

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
        require_received(room, key, share.amount)


def require_received(room: Room, key: Key, amount: int) -> None:
    """An account that has paid in one deposit was paid `amount` (wei), less the gas of what it has sent."""
    most = RICH - DEPOSIT + amount
    assert most - GAS_AT_MOST < room.balance(key) < most
