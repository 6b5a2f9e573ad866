"""The page that plays links, in Chromium, from a relay on this machine: its bytes, the time to its first page, clicks,
what a commit takes, cards, and the memory of a tab. Needs Playwright, a Chromium and Node.
"""

from __future__ import annotations

import os
import signal
import statistics
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from scripts.measuring.cases import Measured, Row, case, require
from scripts.measuring.clicks import click
from scripts.measuring.processes import started_relay
from scripts.page.build import build

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

_MILLISECONDS = 120_000
_TIMES, _TOLERANCE = 4.7, 0.15
_PERIOD = 0.02
"""Seconds in which a process goes on once, and is stopped once."""
_LOOK = 5
"""Periods until new processes are looked for."""
_LOOP = """() => {
  const began = performance.now();
  for (let each = 0, sum = 0; each < 1e9; each += 1) sum += each;
  return performance.now() - began;
}"""
_FLUSHES = """() => {
  self.flushes = [];
  const flush = FileSystemSyncAccessHandle.prototype.flush;
  FileSystemSyncAccessHandle.prototype.flush = function () {
    const began = performance.now();
    flush.call(this);
    flushes.push(performance.now() - began);
  };
}"""


@case(
    Row("link_page_megabytes", "MB", "all files of the page that plays links, as a relay sends them", 5.5),
    Row("link_page_seconds", "s", "its first page in a new browser, from the click that begins", 2.5),
    Row("link_page_slowed_seconds", "s", "the same where all that the tab computes takes 4.7 times as long", 10),
    Row("link_page_click_ms", "ms", "a click in one tab until the other player's shows it; the median", 120),
    Row("link_page_flush_ms", "ms", "what a commit takes to reach the disk; the median", 6),
    Row("link_page_cards_seconds", "s", "Discard, from joining until the guest can choose", 2),
    Row("link_page_tab_megabytes", "MB", "the memory of a tab's process that is its own or shared (PSS)", 280),
)
def link_page(rounds: int = 30) -> Measured:
    """Two players at the page of a relay, in a browser profile each; the files are built anew."""
    from tests.browser.served.chromium import chromium

    with TemporaryDirectory() as folder, ExitStack() as stack:
        files = Path(folder, "page")
        build(files, is_packed=True)
        url, _ = stack.enter_context(started_relay(options=("--pages", str(files))))
        address = f"http{url.removeprefix('ws')}/"
        browser = stack.enter_context(chromium())
        host, seconds = _entered(browser, address, "Alice")
        guest, _ = _entered(browser, _offered(host, "tic-tac-toe"), "Bob")
        for page in (guest, host):
            page.locator("#board").wait_for()
        guest.workers[0].evaluate(_FLUSHES)
        found = [click([host, guest]) for _ in range(rounds)]
        flushes: list[float] = guest.workers[0].evaluate("flushes")
        return {
            "link_page_megabytes": sum(map(_sent, files.glob("*.*"))) / 1e6,
            "link_page_seconds": seconds,
            "link_page_slowed_seconds": _slowed(browser, address),
            "link_page_click_ms": statistics.median(found),
            "slowest_link_page_click_ms": max(found),
            "link_page_flush_ms": statistics.median(flushes),
            "slowest_link_page_flush_ms": max(flushes),
            "link_page_tab_megabytes": _memory(browser) / 1e6,
            "link_page_cards_seconds": _cards(browser, address),
        }


def _sent(path: Path) -> int:
    """The bytes of a file that are sent, 0 for one that stands beside it."""
    packed = path.with_name(f"{path.name}.br")
    if path.suffix in (".br", ".gz"):
        return 0
    return (packed if packed.exists() else path).stat().st_size


def _entered(browser: Browser, address: str, name: str) -> tuple[Page, float]:
    """The page of a new player, and the seconds from opening it until its first page."""
    page = browser.new_context().new_page()
    page.set_default_timeout(_MILLISECONDS)
    began = time.perf_counter()
    page.goto(address)
    page.locator("#own-name").fill(name)
    page.locator("#enter-now").click()
    page.locator("#live", has_text="live").wait_for()
    return page, time.perf_counter() - began


def _slowed(browser: Browser, address: str) -> float:
    """Seconds from opening the page until its first page, on a processor that is `_TIMES` slower."""
    plain = _loop(browser)
    with _slowing(browser, _TIMES):
        times = _loop(browser) / plain
        require(abs(times / _TIMES - 1) < _TOLERANCE, f"a loop takes {times:.1f} times as long, not {_TIMES}")
        return _entered(browser, address, "Erin")[1]


def _loop(browser: Browser) -> float:
    """Milliseconds that a loop takes in a tab. All of its process is _slowed, so any loop tells."""
    page = browser.new_page()
    found: float = page.evaluate(_LOOP)
    page.close()
    return found


def _offered(host: Page, game: str) -> str:
    host.locator("#game").select_option(game)
    host.locator("#offer").click()
    return host.locator("#tables input[id^='link-']").first.input_value()


def _cards(browser: Browser, address: str) -> float:
    """Seconds from the page of an offer that was joined until the guest can choose, the host choosing at once."""
    host, _ = _entered(browser, address, "Carol")
    guest, _ = _entered(browser, _offered(host, "discard"), "Dave")
    began = time.perf_counter()
    while not guest.locator("[id^='w-'][name=word]").count():
        host.evaluate("document.querySelector(\"[id^='w-'][name=word]\")?.click()")
        guest.wait_for_timeout(10)
    return time.perf_counter() - began


def _memory(browser: Browser) -> float:
    """The PSS of the largest process that runs a page, bytes."""
    return max(map(_pss, _processes(browser, "renderer")))


def _processes(browser: Browser, kind: str) -> list[int]:
    session = browser.new_browser_cdp_session()
    processes = session.send("SystemInfo.getProcessInfo")["processInfo"]
    session.detach()
    return [each["id"] for each in processes if each["type"] == kind]


def _pss(process: int) -> int:
    lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:")) * 1024


@contextmanager
def _slowing(browser: Browser, times: float) -> Iterator[None]:
    """Let pages and their workers take N `times` as long for all that they compute."""
    (main,) = _processes(browser, "browser")
    is_over = threading.Event()
    thread = threading.Thread(target=_slow, args=(main, times, is_over), daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def _slow(browser: int, times: float, is_over: threading.Event) -> None:
    """A pause that has come out longer than was asked for, on either side, is made up for in the next one."""
    period, found, owed = 0, list[int](), 0.0
    while not is_over.is_set():
        if period % _LOOK == 0:
            found = _renderers(browser)
        period += 1
        owed += _paused(_PERIOD / times) * (times - 1)
        _send(found, signal.SIGSTOP)
        owed -= _paused(max(owed, 0))
        _send(found, signal.SIGCONT)


def _paused(seconds: float) -> float:
    """Wait; the seconds that it has taken."""
    began = time.perf_counter()
    time.sleep(seconds)
    return time.perf_counter() - began


def _send(processes: Sequence[int], number: signal.Signals) -> None:
    for each in processes:
        with suppress(ProcessLookupError):  # it has ended
            os.kill(each, number)


def _renderers(process: int) -> list[int]:
    """Those of a process and its descendants that run pages."""
    found, waiting = list[int](), [process]
    while waiting:
        place = Path(f"/proc/{waiting.pop()}")
        with suppress(OSError):  # it has ended
            if b"--type=renderer" in (place / "cmdline").read_bytes():
                found.append(int(place.name))
            for each in (place / "task").glob("*/children"):
                waiting += map(int, each.read_text().split())
    return found
