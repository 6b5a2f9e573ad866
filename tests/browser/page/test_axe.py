"""The page in Chromium: axe-core finds nothing, nothing scrolls sideways, and all can be reached by keyboard."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import Any

import pytest
from playwright.sync_api import Browser

from forcemove.browser.render import channel_page, channels_page, message_page, replay_page
from forcemove.browser.templating import PLAIN_NAV
from forcemove.browser.wallet.render import wallet_page
from forcemove.inspect.journal_channel import read_channels
from forcemove.inspect.listed_channel import ListedChannel
from tests.browser.page.routed import ShowPage, opened, tabs, violations
from tests.browser.page.sections import section_pages
from tests.browser.views import GAMES, Looks, view_of, wallet_view
from tests.sampled import sampled, with_sample
from tests.scenarios.story import Playground, Story
from tests.simulation.chain import MemoryChain

WIDTHS = (360, 1280)
SCHEMES = ("light", "dark")
STATES = (
    *("opening", "ours", "theirs", "fault", "challenged", "paid", "concluded", "long", "chooses", "reveals"),
    *("list", "message", "lobby", "empty-lobby", "offer", "waiting", "inspect", "asked", "verify", "wallet"),
    *("watch", "watched", "replay"),
)


def rows_of(story: Story) -> list[ListedChannel]:
    good, _ = read_channels(story.alice.journal, GAMES)
    return [each.listed(story.alice.client.managed.time()) for each in good]


@cache
def pages() -> dict[str, str]:
    """One of each state."""
    looks = Looks(Playground.on(MemoryChain()))
    named = {name: getattr(looks, name)() for name in STATES if hasattr(looks, name)}
    found = {f"/{name}": channel_page(view_of(story)) for name, story in named.items()}
    for name, turn in (("chooses", 4), ("reveals", 6)):
        story = looks.story(GAMES[1])
        story.play_until(turn)
        found[f"/{name}"] = channel_page(view_of(story, 1, guide="Look at the hand that is face down."))
    rows = [row for name in ("ours", "challenged", "paid") for row in rows_of(named[name])]
    found["/list"] = channels_page(rows, named["challenged"].alice.client.managed.time())
    found["/replay"] = replay_page(view_of(named["theirs"]), 2)
    found["/wallet"] = wallet_page(wallet_view(), PLAIN_NAV)
    found["/message"] = message_page("Not here", "There is no such channel.")
    return found | section_pages()


def size(width: int, scheme: str) -> dict[str, Any]:
    return {"viewport": {"width": width, "height": 900}, "color_scheme": scheme}


@pytest.fixture(scope="module")
def show(browser: Browser) -> Iterator[ShowPage]:
    with tabs(browser, pages()) as found:
        yield found


LOOKS = list(product(SCHEMES, WIDTHS))
EACH_ONCE = [(state, *LOOKS[number % len(LOOKS)]) for number, state in enumerate(STATES)]
"""Every state in one look, and every look."""


@pytest.mark.parametrize(
    ("state", "scheme", "width"), with_sample(((state, *look) for state in STATES for look in LOOKS), EACH_ONCE)
)
def test_axe_finds_nothing(show: ShowPage, state: str, scheme: str, width: int) -> None:
    with show(f"/{state}", **size(width, scheme)) as page:
        assert violations(page) == []


def test_axe_would_find_something(browser: Browser) -> None:
    broken = pages()["/ours"].replace("<html lang=", "<html data-lang=")
    with opened(browser, {"/": broken}) as page:
        assert [each.partition(":")[0] for each in violations(page)] == ["html-has-lang"]


@pytest.mark.parametrize("state", sampled(STATES, 2))
def test_nothing_scrolls_sideways_at_360_pixels_and_with_text_twice_as_large(show: ShowPage, state: str) -> None:
    sideways = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    with show(f"/{state}", **size(1280, "light")) as page:
        page.set_viewport_size({"width": 360, "height": 900})
        narrow = page.evaluate(f"[document.documentElement.clientWidth, {sideways}]")
        page.set_viewport_size({"width": 1280, "height": 900})
        assert narrow == [360, 0]
        page.evaluate("document.documentElement.setAttribute('class', 'large')")
        page.evaluate("for (const sheet of document.styleSheets) sheet.insertRule(':root { font-size: 200% }')")
        assert page.evaluate("getComputedStyle(document.body).fontSize") == "32px"
        assert page.evaluate(sideways) == 0


@pytest.mark.parametrize("state", ["list", "lobby"])
def test_a_list_on_a_telephone_is_not_scrolled_and_says_what_each_cell_is(show: ShowPage, state: str) -> None:
    sideways = "[...document.querySelectorAll('.wide')].map((each) => each.scrollWidth - each.clientWidth)"
    heads = "[...document.querySelectorAll('thead th')].map((each) => each.textContent)"
    said = (
        "[...document.querySelectorAll('tbody tr')].map((row) => [...row.cells].map((each) =>"
        "JSON.parse(getComputedStyle(each, '::before').content.match(/^\".*?\"/)?.[0] ?? '\"\"')))"
    )
    with show(f"/{state}", **size(360, "light")) as page:
        assert page.evaluate(sideways) == [0]
        game, *others = page.evaluate(heads)
        rows = page.evaluate(said)
        assert rows
        for first, *cells in rows:
            assert (game, first) == ("game", "")
            assert cells == others


def test_every_spot_is_reached_by_the_tab_key_and_pressed_by_enter(browser: Browser) -> None:
    with opened(browser, pages(), "/ours", **size(1280, "light")) as page:
        reached = list[str]()
        page.evaluate(
            "addEventListener('submit', (event) => { event.preventDefault(); window.pressed = event.submitter.value; })"
        )
        for _ in range(20):
            page.keyboard.press("Tab")
            id_ = page.evaluate("document.activeElement.id")
            reached.append(id_)
            if id_.startswith("w-") and page.evaluate("!document.activeElement.ariaDisabled"):
                page.keyboard.press("Enter")
                assert page.evaluate("window.pressed") == id_.removeprefix("w-")
        assert [each for each in reached if each.startswith("w-")] == [f"w-{cell}" for cell in range(9)]


def test_focus_can_be_seen_and_says_what_follows(browser: Browser) -> None:
    style = "getComputedStyle({}).{}"
    with opened(browser, pages(), "/ours", **size(1280, "light")) as page:
        shown = "document.activeElement.querySelector('.after')"
        for _ in range(20):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.matches('.spot[name=word]')"):
                break
        assert page.evaluate(style.format("document.activeElement", "outlineStyle")) == "solid"
        assert page.evaluate(style.format(shown, "visibility")) == "visible"
        page.keyboard.press("Shift+Tab")
        hidden = page.evaluate(
            "[...document.querySelectorAll('.after')].map((each) => getComputedStyle(each).visibility)"
        )
        assert set(hidden) == {"hidden"}


def test_a_digit_presses_its_spot_and_no_other(browser: Browser) -> None:
    with opened(browser, pages(), "/ours", **size(1280, "light")) as page:
        page.evaluate(
            "window.pressed = []; addEventListener('submit', (event) => {"
            "event.preventDefault(); window.pressed.push(event.submitter.value); })"
        )
        keys = page.evaluate("[...document.querySelectorAll('[data-key]')].map((each) => each.dataset.key)")
        for key in "0123456789":
            page.keyboard.press(key)
        assert page.evaluate("window.pressed") == keys
        assert keys


def test_the_spots_lie_on_their_cells(browser: Browser) -> None:
    with opened(browser, pages(), "/ours", **size(1280, "light")) as page:
        boxes = page.evaluate(
            "[...document.querySelectorAll('.spot')].map((each) => { const box = each.getBoundingClientRect();"
            "return [box.x, box.y, box.width, box.height]; })"
        )
        cells = page.evaluate(
            "[...document.querySelectorAll('.picture rect')].map((each) => { const box = each.getBoundingClientRect();"
            "return [box.x, box.y, box.width, box.height]; })"
        )
        assert len(boxes) == len(cells) == 9
        for one, other in zip(boxes, cells, strict=True):
            assert one == pytest.approx(other, abs=1.5)
            assert min(one[2:]) >= 24
