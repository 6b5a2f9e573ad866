"""The timeline's windows: every entry is in one of them, and what a reorganisation has removed is struck through."""

from __future__ import annotations

from dataclasses import replace

import pytest

from forcemove.browser.drawing.happenings import WINDOW, window_of
from forcemove.browser.drawing.timeline import timeline_of
from forcemove.browser.render import channel_panels
from forcemove.browser.view import ChannelView
from forcemove.history.entries import Entry, LogIncluded, LogReorged, TxMined, TxRequested
from forcemove.history.history import ChannelHistory
from tests.browser.html import elements, find
from tests.browser.views import Looks, view_of


@pytest.fixture(scope="module")
def long(looks: Looks) -> ChannelView:
    return view_of(looks.long(150))


def with_more(view: ChannelView, *entries: Entry) -> ChannelView:
    return replace(view, history=ChannelHistory((*view.history.entries, *entries)))


def test_every_entry_is_in_exactly_one_window(long: ChannelView) -> None:
    seen, at = list[int](), None
    for _ in range(10):
        window = window_of(replace(long, at=at))
        assert sum(bool(each.sign) for each in window.happenings) <= WINDOW
        seen = [each.place for each in window.happenings] + seen
        if window.older is None:
            break
        at = window.older
    silent = {place for place, each in enumerate(long.history.entries) if isinstance(each, TxRequested | TxMined)}
    assert seen == sorted(set(range(len(long.history.entries))) - silent)


def test_the_window_of_an_entry_has_it_and_leads_back(long: ChannelView) -> None:
    shown = [place for place, each in enumerate(long.history.entries) if not isinstance(each, TxRequested | TxMined)]
    for place in shown:
        window = window_of(replace(long, at=place))
        assert place in [each.place for each in window.happenings]
    first = window_of(replace(long, at=0))
    assert first.older is None
    assert first.newer is not None
    assert window_of(replace(long, at=first.newer)).older == first.newer - 1
    assert window_of(long).newer is None


def test_the_pages_around_a_window_are_linked(long: ChannelView) -> None:
    newest = channel_panels(long)["happened"]
    older = find(newest, "older").attributes["href"] or ""
    at = int(older.partition("=")[2].partition("#")[0])
    before = channel_panels(replace(long, at=at))["happened"]
    assert find(before, "newer")
    assert find(before, f"s-{at}").attributes["aria-current"] == "true"


def test_what_a_reorganisation_removed_is_struck_through(looks: Looks) -> None:
    view = view_of(looks.theirs())
    place, log = next((index, each) for index, each in enumerate(view.history.entries) if isinstance(each, LogIncluded))
    undone = with_more(view, LogReorged(1, log.log, log.position))
    again = with_more(undone, LogIncluded(1, log.log, log.position))
    for each, is_gone in ((view, False), (undone, True), (again, True)):
        happened = channel_panels(each)["happened"]
        sign, line = find(happened, f"s-{place}"), find(happened, f"l-{place}")
        assert ("reorganisation" in (sign.attributes["aria-label"] or "")) == is_gone
        assert any(inner.name == "s" for inner in line.all()) == is_gone
    last = len(again.history.entries) - 1
    assert "reorganisation" not in (find(channel_panels(again)["happened"], f"s-{last}").attributes["aria-label"] or "")


def test_a_removal_is_known_in_an_older_window(long: ChannelView) -> None:
    place, log = next((index, each) for index, each in enumerate(long.history.entries) if isinstance(each, LogIncluded))
    undone = replace(with_more(long, LogReorged(1, log.log, log.position)), at=place)
    gone = [each.place for each in window_of(undone).happenings if each.is_gone]
    assert gone == [place]


def test_our_gas_stands_beside_the_log(looks: Looks) -> None:
    view = view_of(looks.challenged())
    mined = {each.transaction_hash: each.gas_used for each in view.history.entries if isinstance(each, TxMined)}
    for each in window_of(view).happenings:
        entry = view.history.entries[each.place]
        if isinstance(entry, LogIncluded):
            assert each.gas == mined.get(entry.position.transaction_hash)


def test_a_challenge_is_a_bar_to_what_has_ended_it(looks: Looks) -> None:
    for view, ended in ((view_of(looks.answered()), True), (view_of(looks.challenged()), False)):
        timeline = timeline_of(view, window_of(view).happenings, None)
        (bar,) = timeline.bars
        signs = {each.happening.sign: each.x for each in timeline.signs}
        assert bar.x == signs["C"]
        assert bar.width == (signs["P"] - signs["C"] if ended else None)


def test_the_newest_proof_has_a_bracket(looks: Looks) -> None:
    view = view_of(looks.theirs())
    timeline = timeline_of(view, window_of(view).happenings, None)
    assert timeline.bracket is not None
    left, right = timeline.bracket.x, timeline.bracket.x + timeline.bracket.width
    assert [each.happening.sign for each in timeline.signs if left < each.x < right] == ["7", "8"]
    ended = view_of(looks.concluded())
    around = timeline_of(ended, window_of(ended).happenings, None)
    assert around.bracket is not None
    assert elements(channel_panels(ended)["happened"])


def test_no_history_has_no_signs(looks: Looks) -> None:
    view = replace(view_of(looks.ours()), history=ChannelHistory())
    assert window_of(view).happenings == ()
    assert window_of(view).older is None
