"""Debian's Chromium, and pages in it without a server: the browser's requests are answered from a dictionary."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, Route, sync_playwright

from tests.structure.imports import ROOT

__all__ = ["AXE", "STATIC", "ShowPage", "browser", "opened", "tabs", "violations"]

CHROMIUM = Path("/usr/bin/chromium")
STATIC = ROOT / "channel" / "forcemove" / "browser" / "static"
AXE = ROOT / "contracts" / "node_modules" / "axe-core" / "axe.min.js"
_FLAGS = (
    *("--no-sandbox", "--disable-background-networking", "--disable-component-update"),
    *("--disable-sync", "--no-first-run"),
)
_ORIGIN = "http://localhost"
ShowPage = Callable[..., AbstractContextManager[Page]]
_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'"
)


@contextmanager
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=list(_FLAGS))
        try:
            yield found
        finally:
            found.close()


@contextmanager
def opened(
    browser: Browser, pages: Mapping[str, str], path: str = "/", *, before: str = "", **options: Any
) -> Iterator[Page]:
    """The page at `path` of these, by their paths; a channel's events come from the page `PATH/events`, if it is there.
    Nothing may be refused by the policy, and no script may fail. `before`: a script that runs before the page's own."""
    page, problems = _tab(browser, pages, before, options)
    try:
        page.goto(f"{_ORIGIN}{path}")
        yield page
    finally:
        page.context.close()
    assert problems == []


@contextmanager
def tabs(browser: Browser, pages: Mapping[str, str]) -> Iterator[ShowPage]:
    """Shows the page at a path of these as `opened` does, but in a tab that is kept for all pages with the same
    options: a new tab takes longer than most of what is looked for in it."""
    kept: dict[str, tuple[Page, list[str]]] = {}

    @contextmanager
    def show(path: str, **options: Any) -> Iterator[Page]:
        name = repr(options)
        if name not in kept:
            kept[name] = _tab(browser, pages, "", options)
        page, problems = kept[name]
        problems.clear()  # those of a page that has failed
        page.goto(f"{_ORIGIN}{path}")
        yield page
        page.goto("about:blank")  # by then all has been heard of
        assert problems == []

    try:
        yield show
    finally:
        for page, _ in kept.values():
            page.context.close()


def _tab(browser: Browser, pages: Mapping[str, str], before: str, options: Mapping[str, Any]) -> tuple[Page, list[str]]:
    """A new tab, and what will go wrong in it."""
    page, problems = browser.new_context(**options).new_page(), list[str]()
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda said: problems.append(said.text) if "Content Security" in said.text else None)
    if before:
        page.add_init_script(before)
    page.route("**/*", lambda route: _answer(route, pages))
    return page, problems


def _answer(route: Route, pages: Mapping[str, str]) -> None:
    path = route.request.url.removeprefix(_ORIGIN).partition("?")[0]
    if path.startswith("/s/"):
        file = STATIC / path.removeprefix("/s/")
        route.fulfill(body=file.read_bytes(), content_type=_TYPES[file.suffix])
    elif path.endswith("/events"):
        route.fulfill(body=pages.get(path, ""), content_type="text/event-stream")
    elif path in pages:
        headers = {"Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": _POLICY}
        route.fulfill(body=pages[path], headers=headers)
    else:
        route.abort()


def violations(page: Page) -> list[str]:
    """What axe-core finds: each rule with the elements that break it."""
    page.evaluate(AXE.read_text("utf-8"))
    found = page.evaluate("async () => (await axe.run(document)).violations")
    return [f"{each['id']}: {[node['html'] for node in each['nodes']][:4]}" for each in found]
