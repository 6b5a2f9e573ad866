"""The script of the wallet's page in Chromium: what it tells a person, whatever becomes of the wallet and the
process."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from forcemove.browser.templating import PLAIN_NAV
from forcemove.browser.wallet.render import wallet_page
from tests.browser.page.routed import opened
from tests.browser.page.test_script import LIVE
from tests.browser.served.serving import until
from tests.browser.views import wallet_view

HASH = "0x" + "7e" * 32
WALLET = """
window.asked = [];
window.decided = Promise.resolve();
window.ethereum = { request: async ({ method }) => {
  window.asked.push(method);
  if (method === "eth_requestAccounts") return ["ACCOUNT"];
  if (method === "eth_chainId") return "0x7a69";
  await window.decided;
  return "HASH";
} };
"""


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """The wallet's page, whose process does not answer."""
    view = wallet_view()
    before = LIVE + WALLET.replace("ACCOUNT", view.account).replace("HASH", HASH)
    with opened(browser, {"/wallet": wallet_page(view, PLAIN_NAV)}, "/wallet", before=before) as found:
        yield found


def sent(page: Page) -> int:
    """How many transactions the wallet was asked for."""
    return int(page.evaluate("window.asked.filter((each) => each === 'eth_sendTransaction').length"))


def test_what_was_sent_is_never_said_not_to_be_sent(page: Page) -> None:
    page.locator("#requests button").first.click()
    expect(page.locator("#told")).to_contain_text(f"The wallet has sent it as {HASH}")
    expect(page.locator("#told")).not_to_contain_text("has not sent")


def test_a_request_is_with_the_wallet_once_though_its_panel_is_made_anew(page: Page) -> None:
    page.evaluate("() => { window.decided = new Promise((done) => { window.decide = done; }); }")
    button = page.locator("#requests button").first
    button.click()
    until(lambda: sent(page) == 1)
    page.evaluate(
        "const old = document.getElementById('requests'); old.outerHTML = old.outerHTML.replaceAll(' disabled', '')"
    )
    button.click()
    page.evaluate("window.decide()")
    expect(page.locator("#told")).to_contain_text("The wallet has sent it")
    assert sent(page) == 1
    button.click()
    until(lambda: sent(page) == 2)
