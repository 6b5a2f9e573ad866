"""The time from a click in one browser to the other player's browser: two commands with a page each, a relay between
them, and all three on disk. The game is friendly, so that no chain's time is in it. Needs Playwright and a Chromium.
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from forcemove import local_keys, write_key_file
from scripts.measuring.cases import Measured, Row, case
from scripts.measuring.processes import command, started_relay

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

_MILLISECONDS = 60_000
_PASSPHRASE = "long enough for a benchmark"  # noqa: S105  # of keys that everybody knows
_TURN = re.compile(r"Turn \d+\.")
_SPOT = "#board button[name=word]"
_WAIT = """() => new Promise((resolve) => {
  const board = () => document.getElementById("board")?.textContent, before = board();
  new MutationObserver((_, observer) => {
    if (board() === before) return;
    observer.disconnect();
    resolve(performance.timeOrigin + performance.now());
  }).observe(document.body, { childList: true, subtree: true, characterData: true });
})"""
_CLICK = f"""() => {{
  const now = performance.timeOrigin + performance.now();
  document.querySelector("{_SPOT}").click();
  return now;
}}"""


@case(Row("click_to_counterparty_ms", "ms", "a click until the other browser shows it, all on disk; the median", 60))
def clicks(rounds: int = 30) -> Measured:
    """Clicks in one browser until the other player's shows them, by both players in turn."""
    from tests.browser.served.chromium import chromium

    with TemporaryDirectory() as folder, started_relay() as (url, _), ExitStack() as stack:
        homes = [_home(Path(folder), seat) for seat in (0, 1)]
        addresses = [stack.enter_context(_command(home, url)) for home in homes]
        browser = stack.enter_context(chromium())
        pages = [_opened(browser, each) for each in addresses]
        _meet(*pages)
        found = [click(pages) for _ in range(rounds)]
    return {
        "click_to_counterparty_ms": statistics.median(found),
        "quickest_click_ms": min(found),
        "slowest_click_ms": max(found),
    }


def _home(folder: Path, seat: int) -> Path:
    home = folder / str(seat)
    home.mkdir()
    write_key_file(home / "key.json", local_keys()[1 + seat], _PASSPHRASE, scrypt_work=2**4)
    return home


@contextmanager
def _command(home: Path, relay: str) -> Iterator[str]:
    """The address of a command's page."""
    arguments = ("browse", "--relay", relay, "--key", "key.json", "--no-open")
    with command(*arguments, environment={"FORCEMOVE_PASSPHRASE": _PASSPHRASE}, cwd=home) as browse:
        yield next(line.strip() for line in browse.stdout or () if line.startswith("http://"))


def _opened(browser: Browser, address: str) -> Page:
    page = browser.new_context().new_page()
    page.set_default_timeout(_MILLISECONDS)
    page.goto(address)
    page.locator("#live", has_text="live").wait_for()
    return page


def _meet(host: Page, guest: Page) -> None:
    host.locator("#game").select_option("tic-tac-toe")
    host.locator("#offer").click()
    guest.locator("#offers th a").first.click()
    guest.locator("#join").click()
    for page in (guest, host):
        page.wait_for_url("**/c/0x*")


def click(pages: list[Page]) -> float:
    """Milliseconds from a click of the player who is to move until the other's board has changed."""
    mover = _mover(pages)
    other = next(each for each in pages if each is not mover)
    other.evaluate(f"() => {{ window.changed = ({_WAIT})(); }}")
    clicked: float = mover.evaluate(_CLICK)
    changed: float = other.evaluate("() => window.changed")
    return changed - clicked


def _mover(pages: list[Page]) -> Page:
    """The page of the mover, once all pages show the same turn."""
    while True:
        spots = [each for each in pages if each.locator(_SPOT).count()]
        turns = {_TURN.search(each.locator("#board").inner_text()) for each in pages}
        if len(spots) == 1 and len({found and found[0] for found in turns}) == 1:
            return spots[0]
        pages[0].wait_for_timeout(20)
