"""`forcemove browse --wallet`: a session key without ether plays; a wallet in the browser pays in, pays the gas and is
paid. The wallet is an EIP-1193 provider that this test scripts, over a real chain."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import Browser, Page, expect

from forcemove import Key, address_destination, local_keys
from forcemove.chain.addresses import show_address
from forcemove.chain.chain import Call, Chain
from tests.cli.nodes import Demo, wait_until
from tests.cli.tables import DEPOSIT, GAS_AT_MOST, GUEST, HOST, START, World
from tests.cli.test_browse import come_to_channel

WALLET = local_keys()[5]
_ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+/enter\?token=[\w-]{43}")
PROVIDER = """
window.ethereum = { request: async ({ method, params }) => {
  const answer = await window.askWallet(method, params || []);
  if (answer.error) throw Object.assign(new Error(answer.error.message), { code: answer.error.code });
  return answer.result;
} };
"""


@dataclass
class ScriptedWallet:
    """A wallet that does as the test says. `asked`: the methods that it was asked for."""

    chain: Chain
    key: Key = WALLET
    shown: bytes = WALLET.address
    chain_id: int = 31_337
    rejects: bool = False
    asked: list[str] = field(default_factory=list)

    def answer(self, _: object, method: str, params: list[Any]) -> dict[str, Any]:
        self.asked.append(method)
        match method:
            case "eth_requestAccounts":
                return {"result": [f"0x{self.shown.hex()}"]}
            case "eth_chainId":
                return {"result": hex(self.chain_id)}
            case "eth_sendTransaction" if self.rejects:
                return {"error": {"code": 4001, "message": "The user has rejected the request."}}
            case "eth_sendTransaction":
                return {"result": self._send(**params[0])}
        return {"error": {"code": 4200, "message": f"There is no {method}."}}

    def _send(self, **transaction: str) -> str:
        assert transaction["from"] == f"0x{self.key.address.hex()}"
        assert int(transaction["chainId"], 16) == 31_337
        to, data = bytes.fromhex(transaction["to"][2:]), bytes.fromhex(transaction["data"][2:])
        signed = self.chain.sign(Call(to, data, int(transaction["value"], 16)), self.key)
        self.chain.broadcast(signed)
        return f"0x{signed.hash.hex()}"


@contextmanager
def opened(browser: Browser, demo: Demo, wallet: ScriptedWallet) -> Iterator[Page]:
    """The page of a command, in a browser that has the wallet."""
    demo.reach("/enter?token=")
    address = _ADDRESS.search(demo.said)
    assert address is not None
    context = browser.new_context(viewport={"width": 1280, "height": 1000})
    context.expose_binding("askWallet", wallet.answer)
    context.add_init_script(PROVIDER)
    page = context.new_page()
    page.set_default_timeout(60_000)
    errors = list[str]()
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(address[0])
    yield page
    context.close()
    assert errors == []


def start(world: World) -> Demo:
    """Alice's command; her key has no ether, her wallet has some."""
    world.node.give(HOST.address, 0)
    world.node.give(WALLET.address, START)
    options = ("--no-open", "--wallet", show_address(WALLET.address))
    return world.run(world.alice, *world.browse_arguments(world.alice), *options)


def offer(page: Page) -> str:
    """Offer a game; the link for the other player."""
    page.locator("#game").select_option("tic-tac-toe")
    page.locator("#stake").fill("0.01 ether")
    page.locator("#offer").click()
    return page.locator("#tables input.code").input_value()


def sign(page: Page, title: str) -> None:
    """Sign what is asked for."""
    article = page.locator("article", has_text=title)
    article.wait_for()
    article.locator("button").click()


def sign_all_until_over(page: Page, world: World) -> None:
    """Sign everything until the channel is finished."""

    def is_over() -> bool:
        if world.is_finished(world.alice):
            return True
        page.evaluate("document.querySelector('button[data-request]:enabled')?.click()")  # it may be gone at once
        page.wait_for_timeout(100)  # Playwright's own loop has to turn for the wallet to answer
        return world.is_finished(world.alice)

    wait_until(is_over)


def require_paid(world: World, wallet: ScriptedWallet) -> None:
    """The wallet was paid what the last state says, less gas; the session key never had anything."""
    last = world.channel(world.alice)
    assert last.newest is not None
    ours, theirs = last.newest.state.outcome
    assert ours.destination == address_destination(WALLET.address)
    most = START - DEPOSIT + ours.amount
    assert most - GAS_AT_MOST < world.node.chain.balance(WALLET.address) < most
    assert world.node.chain.balance(HOST.address) == 0
    assert world.held(last) == 0
    assert world.node.chain.balance(GUEST.address) > START - DEPOSIT + theirs.amount - GAS_AT_MOST
    assert "eth_sendTransaction" in wallet.asked


def test_a_wallet_pays_in_and_is_paid_and_what_it_refuses_is_still_wanted(world: World, browser: Browser) -> None:
    wallet = ScriptedWallet(world.node.chain)
    with opened(browser, start(world), wallet) as page:
        bob = world.play(world.bob, "--join", offer(page), "--yes", "--rounds", "1", game="tic-tac-toe")
        come_to_channel(page)
        page.locator("#board .headline", has_text="Sign the deposit in your wallet, on the page Wallet.").wait_for()
        page.goto(page.url.partition("/c/")[0] + "/wallet")
        told = page.locator("#told")
        wallet.shown = GUEST.address
        sign(page, "Pay in")
        expect(told).to_contain_text("The wallet shows another account")
        wallet.shown, wallet.chain_id = WALLET.address, 1
        sign(page, "Pay in")
        expect(told).to_contain_text("The wallet is on another chain, 1")
        assert "eth_sendTransaction" not in wallet.asked
        wallet.chain_id, wallet.rejects = 31_337, True
        sign(page, "Pay in")
        page.locator("article", has_text="You have refused it in the wallet").wait_for()
        wallet.rejects = False
        sign(page, "Pay in")
        page.locator("#requests", has_text="There is nothing to sign right now.").wait_for()
        assert wallet.asked.count("eth_sendTransaction") == 2
        page.locator("header a", has_text="Games").click()
        page.locator("main a[href^='/c/']").first.click()
        page.locator("#board button[name=word]").first.wait_for()
        expect(page.locator("#board .headline")).not_to_contain_text("Sign")
        expect(page.locator("#safety")).not_to_contain_text("Transaction")
        page.locator("summary#do-leave").click()
        page.locator("#sure-leave").click()
        page.locator("header a", has_text="Wallet").click()
        sign_all_until_over(page, world)
        assert bob.end() == 0, bob.complained
    require_paid(world, wallet)


def test_a_wallet_challenges_a_player_who_is_gone_and_is_paid(world: World, browser: Browser) -> None:
    wallet = ScriptedWallet(world.node.chain)
    with opened(browser, start(world), wallet) as page:
        bob = world.play(world.bob, "--join", offer(page), "--yes", game="tic-tac-toe")
        come_to_channel(page)
        page.goto(page.url.partition("/c/")[0] + "/wallet")
        sign(page, "Pay in")
        page.locator("#requests", has_text="There is nothing to sign right now.").wait_for()
        page.goto(page.url.replace("/wallet", "/"))
        page.locator("main a[href^='/c/']").first.click()
        page.locator("#board button[name=word]").first.wait_for()
        bob.end(by=signal.SIGKILL)
        page.locator("#board button[name=word]").first.click()
        page.locator("#do-challenge[name=do]").click()
        page.locator("header a", has_text="Wallet").click()
        sign(page, "Challenge")
        page.locator("#requests", has_text="There is nothing to sign right now.").wait_for()
        wait_until(lambda: world.saved(world.alice).status.finalizes_at > 0)
        world.travel(3_601)
        sign_all_until_over(page, world)
    require_paid(world, wallet)
