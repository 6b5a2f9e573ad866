"""Many tabs of one browser: it keeps so few connections to a server that each stream takes one from all tabs."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

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


def test_hidden_tabs_say_whose_turn_it_is_by_one_stream(visitor: Visitor) -> None:
    visitor.context.add_init_script(HIDING)
    visitor.page.reload()
    pages = [visitor.page, *(visitor.open(visitor.page.url) for _ in range(2))]
    playground, changes = visitor.served.playground, visitor.served.server._source.changes
    visitor.page.locator("#live", has_text="live").wait_for()  # before that, a form loads the page again
    visitor.press("silent")
    for page in pages:
        expect(page).to_have_title(re.compile("Your turn"))
        set_hidden(page, is_hidden=True)
    visitor.wait(lambda: visitor.served.call(lambda: changes.streams) == 1)
    visitor.served.call(lambda: playground.act(playground.match.person.choices[0].word, playground.channel.next_turn))
    visitor.served.call(changes.notify)
    for page in pages:
        expect(page).to_have_title(re.compile("Bob's turn"))
    set_hidden(pages[0], is_hidden=False)  # the stream of a hidden tab is another's then
    visitor.wait(lambda: visitor.served.call(lambda: changes.streams) == 2)
