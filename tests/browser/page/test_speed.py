"""How large a page is, and how fast its panels are made. The benchmark prints the same numbers."""

from __future__ import annotations

import re
import time
from dataclasses import replace

import pytest

from forcemove.browser.render import channel_page, channel_panels
from forcemove.browser.templating import PLAIN_NAV
from forcemove.browser.view import ChannelView
from forcemove.browser.wallet.render import wallet_page
from forcemove.history.entries import StateAccepted, StateSigned
from forcemove.history.history import MAX_ENTRIES, ChannelHistory
from forcemove.history.overview import overview
from tests.browser.page.routed import STATIC
from tests.browser.views import GAMES, Looks, view_of, wallet_view

MOST_KILOBYTES = 45
MOST_MILLISECONDS = 2.0
LOADED: re.Pattern[str] = re.compile('(?:href|src)="(/s/[^"]+)"')


def page_kilobytes(view: ChannelView) -> float:
    return kilobytes(channel_page(view))


def kilobytes(page: str) -> float:
    """A page and all that it loads."""
    names = {each.removeprefix("/s/") for each in LOADED.findall(page)}
    assert {"page.css", "page.js", "icon.svg"} <= names
    loaded = sum(len((STATIC / name).read_bytes()) for name in names)
    return (len(page.encode()) + loaded) / 1_000


def with_entries(view: ChannelView, count: int) -> ChannelView:
    """With this many entries: those of its game, and then its states again and again, as in a long game."""
    entries = view.history.entries
    states = tuple(each for each in entries if isinstance(each, StateSigned | StateAccepted))
    repeated = (*entries, *states * (count // len(states)))
    return replace(view, history=ChannelHistory(repeated[:count]))


@pytest.mark.parametrize("state", ["ours", "fault", "paid"])
def test_a_page_and_all_that_it_loads_is_small(looks: Looks, state: str) -> None:
    assert page_kilobytes(view_of(getattr(looks, state)())) <= MOST_KILOBYTES


def test_the_wallets_page_and_all_that_it_loads_is_small() -> None:
    assert kilobytes(wallet_page(wallet_view(), PLAIN_NAV)) <= MOST_KILOBYTES


def test_a_page_with_a_full_timeline_and_all_that_it_loads_is_small(looks: Looks) -> None:
    view = with_entries(view_of(looks.ours()), MAX_ENTRIES)
    assert page_kilobytes(view) <= MOST_KILOBYTES


def test_a_long_history_makes_a_page_no_larger(looks: Looks) -> None:
    view = view_of(looks.ours())
    sizes = [len(channel_page(with_entries(view, count))) for count in (200, MAX_ENTRIES)]
    assert sizes[1] - sizes[0] < 1_000


@pytest.mark.long
@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
def test_overview_and_panels_are_made_in_two_milliseconds(looks: Looks, game: object) -> None:
    story = looks.ours(game)  # type: ignore[arg-type]
    view = with_entries(view_of(story), MAX_ENTRIES)
    best = float("inf")
    for _ in range(60):
        begun = time.process_time()
        overview(view.channel, view.history, view.now)
        channel_panels(view)
        best = min(best, time.process_time() - begun)
    assert best * 1_000 <= MOST_MILLISECONDS
