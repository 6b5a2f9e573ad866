"""Many tabs of one browser: it keeps so few connections to a server that each stream takes one from all tabs."""

from __future__ import annotations

from playwright.sync_api import Page

from tests.browser.served.chromium import Visitor

TABS = 9
"""More than the six connections that browsers keep to one server."""
HIDING = """
let isHidden = false;
Object.defineProperty(document, "hidden", { get: () => isHidden });
window.setHidden = (hidden) => { isHidden = hidden; document.dispatchEvent(new Event("visibilitychange")); };
"""


def set_hidden(page: Page, *, is_hidden: bool) -> None:
    """Go to another tab, or come back: a browser without a screen shows all its tabs."""
    page.evaluate("(hidden) => window.setHidden(hidden)", is_hidden)


def test_however_many_tabs_are_open_the_one_that_is_looked_at_is_live(visitor: Visitor) -> None:
    visitor.context.add_init_script(HIDING)
    visitor.page.reload()
    pages = [visitor.page]
    while len(pages) < TABS:
        set_hidden(pages[-1], is_hidden=True)
        pages.append(visitor.open(visitor.page.url))
    set_hidden(pages[-1], is_hidden=True)
    set_hidden(visitor.page, is_hidden=False)
    visitor.page.locator("#live", has_text="live").wait_for()
    visitor.move()
    newest = f"turn {visitor.turn - 1}"
    visitor.page.locator("#happened", has_text=newest).wait_for()
    assert newest not in pages[-1].locator("#happened").inner_text()
    set_hidden(pages[-1], is_hidden=False)
    pages[-1].locator("#happened", has_text=newest).wait_for()
