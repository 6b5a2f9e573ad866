"""A player at the page that plays links, in Chromium."""

from __future__ import annotations

import asyncio
import os
import signal
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor

from playwright.sync_api import Browser, BrowserContext, Page

from forcemove import connect_relay
from forcemove.protocol.codec.wire import decode_message
from forcemove.protocol.machine.inputs import StateReceived
from forcemove.protocol.types import VariablePart
from forcemove.sessions.watching.watch_link import parse_watch_link
from forcemove.transport.chat import CHAT_MARK
from tests.browser.served.serving import until

__all__ = ["FILL", "MILLISECONDS", "Player", "kill_renderers", "signed_twice"]

MILLISECONDS = 300_000
FILL = """() => {
  self.refused = 0;
  self.written = FileSystemSyncAccessHandle.prototype.write;
  FileSystemSyncAccessHandle.prototype.write = () => { refused += 1; throw new Error("the storage is full"); };
}"""
"""Lets the storage take nothing."""
_MOVE = "[id^='w-'][name=word]"


class Player:
    """A person with a browser's profile of their own. `page`: the tab that is open; `errors`: what the browser has
    complained of; `asked`: the addresses of what it has asked for."""

    def __init__(self, browser: Browser, name: str, width: int = 1280) -> None:
        self.name = name
        self.context: BrowserContext = browser.new_context(viewport={"width": width, "height": 900})
        self.errors, self.asked = list[str](), list[str]()
        self.page: Page

    def open(self, address: str) -> Page:
        """Open an address in a new tab."""
        self.page = page = self.context.new_page()
        page.set_default_timeout(MILLISECONDS)
        page.on("console", lambda message: self.errors.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", lambda request: self.asked.append(request.url))
        page.goto(address)
        return page

    def enter(self, address: str) -> Page:
        """Open an address, say one's name, and wait for what comes."""
        page = self.open(address)
        page.locator("#own-name").fill(self.name)
        page.locator("#enter-now").click()
        page.locator("#live", has_text="live").wait_for()
        return page

    def offer(self, game: str = "tic-tac-toe") -> str:
        """Offer a game; what friends are handed."""
        self.page.locator("#game").select_option(game)
        self.page.locator("#offer").click()
        return self.page.locator("#tables input[id^='link-']").first.input_value()

    def wait_for_turn(self) -> None:
        self.page.locator(_MOVE).first.wait_for()

    def move(self, word: str = "") -> None:
        """Make a move, once it is ours: the first that is possible, or a certain one."""
        self.page.locator(f"#w-{word}[name=word]" if word else _MOVE).first.click()

    def turn(self) -> int:
        """The turn that a form of the board is for; -1 where none is shown."""
        found = self.page.locator("#board input[name=turn]")
        return int(found.first.input_value()) if found.count() else -1


def kill_renderers(page: Page) -> None:
    """Kill what runs pages and their workers, as a system does that has no memory left; return once the browser has
    noticed: what it is asked of them before then, it never answers."""
    browser = page.context.browser
    assert browser is not None
    session = browser.new_browser_cdp_session()

    def renderers() -> set[int]:
        found = session.send("SystemInfo.getProcessInfo")["processInfo"]
        return {each["id"] for each in found if each["type"] == "renderer"}

    killed = renderers()
    with page.expect_event("crash", timeout=MILLISECONDS):
        for each in killed:
            os.kill(each, signal.SIGKILL)
    until(lambda: killed.isdisjoint(renderers()))
    session.detach()


def signed_twice(watch_link: str) -> list[tuple[int, int]]:
    """Each turn, with the participant, of which the table's log has more than one state that the participant has
    signed."""
    with ThreadPoolExecutor(1) as thread:  # Playwright has the loop of this one
        return thread.submit(asyncio.run, _signed_twice(watch_link)).result()


async def _signed_twice(watch_link: str) -> list[tuple[int, int]]:
    link = parse_watch_link(watch_link)
    signed: defaultdict[tuple[int, int], set[VariablePart]] = defaultdict(set)
    async with connect_relay(link.relay) as connection:
        reader = (await connection.watch(link.table)).reader()
        while True:
            try:
                async with asyncio.timeout(5):
                    entry = await reader.read()
            except TimeoutError:
                break
            if entry.startswith(CHAT_MARK):
                continue
            _, content = decode_message(entry)
            if isinstance(content, StateReceived):
                for index in content.signed.signatures:
                    signed[content.signed.state.turn_num, index].add(content.signed.state)
    assert signed, "the log has no states"
    return [each for each, states in signed.items() if len(states) > 1]
