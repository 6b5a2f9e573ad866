"""Chromium on the playground's page, as a person uses it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, BrowserContext, Error, Locator, Page, sync_playwright

from tests.browser.served.serving import ServedPlayground, until

__all__ = ["Visitor", "chromium", "visiting"]

_FLAGS = (
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
_MILLISECONDS = 60_000


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser; the test is skipped where the system has none."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip("there is no chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=list(_FLAGS))
        yield browser
        browser.close()


class Visitor:
    """A person at a page. `errors`: what the browser has complained of."""

    def __init__(self, served: ServedPlayground, context: BrowserContext, *, has_scripts: bool) -> None:
        self.served, self.context, self.has_scripts = served, context, has_scripts
        self.errors: list[str] = []
        self.page = self.open(served.address)

    def open(self, address: str) -> Page:
        """Another tab."""
        page = self.context.new_page()
        page.set_default_timeout(_MILLISECONDS)
        page.on("console", lambda message: self.errors.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.goto(address)
        if self.has_scripts:
            page.locator("#live", has_text="live").wait_for()
        return page

    # ----------------------------------------------------------------------------------------------------- the server's

    @property
    def turn(self) -> int:
        return self.served.call(lambda: self.served.playground.channel.next_turn)

    @property
    def is_ours(self) -> bool:
        return self.served.call(lambda: self.served.playground.channel.is_our_turn)

    @property
    def is_paid(self) -> bool:
        """Whether the game is over, and the balances are right."""
        checks = self.served.call(lambda: self.served.playground.match.checks)
        assert all(each.is_right for each in checks or ())
        return checks is not None

    @property
    def words(self) -> list[str]:
        """The moves that are possible now."""
        return self.served.call(lambda: [each.word for each in self.served.playground.match.person.choices])

    def wait(self, condition: Callable[[], bool]) -> None:
        """Wait for the server, and for the page to show it."""
        until(condition)
        if not self.has_scripts:
            self._reload()

    def wait_for(self, spot: Locator) -> Locator:
        """Wait until the page shows a spot, which is returned: what the server has may have changed since the page was
        loaded."""

        def is_shown() -> bool:
            if self.has_scripts or spot.count():
                return True
            self._reload()
            return False

        until(is_shown)
        return spot

    def _reload(self) -> None:
        """Load the page again; once more where it was just being left for the answer to a form."""
        try:
            self.page.reload()
        except Error:
            self.page.wait_for_load_state()
            self.page.reload()

    # ------------------------------------------------------------------------------------------------------- the page's

    def spot(self, word: str) -> Locator:
        return self.page.locator(f"[id='w-{word}'][name=word]")

    def button(self, name: str) -> Locator:
        """A button of the playground that is open."""
        return self.page.locator(f"#p-{name}[name=button]")

    def press(self, name: str) -> None:
        self.button(name).click()

    def do(self, name: str) -> None:
        """A way out."""
        if name == "leave":
            self.page.locator("summary#do-leave").click()
        self.page.locator(f"button[name=do][value={name}]").click()

    def move(self, act: Callable[[Locator], None] = lambda spot: spot.click()) -> None:
        """Make the first move that is possible, and wait for Bob's."""
        self.wait(lambda: bool(self.words))
        turn = self.turn
        act(self.spot(self.words[0]))
        self.wait(lambda: self.turn > turn and (self.is_paid or bool(self.words)))


@contextmanager
def visiting(browser: Browser, served: ServedPlayground, *, has_scripts: bool = True) -> Iterator[Visitor]:
    """A person who opens the address that was printed; the browser must not complain of anything."""
    context = browser.new_context(java_script_enabled=has_scripts, viewport={"width": 1280, "height": 1000})
    visitor = Visitor(served, context, has_scripts=has_scripts)
    yield visitor
    context.close()
    assert visitor.errors == []
