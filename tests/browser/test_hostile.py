"""Strangers' words cannot leave their place: a page with hostile words has the same elements as one with plain ones."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from hypothesis import example, given, settings
from hypothesis import strategies as st

from forcemove import ChannelHistory, JsonValue, Names, RoundResult, VariablePart
from forcemove.browser.render import channel_page, channels_page, message_page
from forcemove.browser.view import ChannelView
from forcemove.history.entries import (
    AppointmentAcknowledged,
    ConnectionLost,
    ConnectionRestored,
    Entry,
    FaultFound,
    TxRefused,
    TxRequested,
    TxSent,
)
from forcemove.history.overview import Option, overview
from forcemove.picture import Spot, Svg, text
from forcemove.playground.controls import ControlGroup
from forcemove.text.harmless import harmless
from forcemove_games.tic_tac_toe.game import TicTacToe
from tests.browser.html import elements
from tests.browser.views import Looks, button, view_of
from tests.scenarios.story import Playground
from tests.simulation.chain import MemoryChain

SPECIAL = st.sampled_from("<>\"'&;=/` \t\n\r\0\x1b\u202e\u200b\u2028{}%#-!()abcdefgonlickscript:")
NASTY = st.text(SPECIAL | st.characters(), min_size=1).filter(lambda words: words.strip() != "")
BREAKOUT = "\"'></title></text></svg></script></dd><script>alert(1)</script><img src=x onerror=alert(1)>{{7*7}}<!--"


class Talking(TicTacToe):
    """A game that says whatever it wants."""

    def __init__(self, words: str) -> None:
        self.words = words
        self.title = words

    def move_text(self, before: VariablePart | None, after: VariablePart) -> str:
        return self.words

    def prompt(self, state: VariablePart) -> str:
        return self.words

    def result(self, state: VariablePart) -> RoundResult | None:
        return RoundResult(0, self.words, (0, 0))

    def board(self, state: VariablePart, names: Names = (), secrets: bytes = b"") -> str:
        return self.words

    def position(self, state: VariablePart) -> dict[str, JsonValue]:
        return {self.words: self.words}

    def picture(self, *_: object) -> Svg:
        words = harmless(self.words)[:200]
        return Svg(100, 100, (text(1, 1, words),), (Spot(words, 0, 0, 9, 9, words, words),), words)


@cache
def plain() -> tuple[Looks, ChannelView]:
    looks = Looks(Playground.on(MemoryChain()))
    return looks, view_of(looks.ours())


def spoken(words: str) -> ChannelView:
    """A view in which everything that a stranger can choose is these words."""
    _, view = plain()
    entries: tuple[Entry, ...] = (
        *view.history.entries,
        FaultFound(1, 1, words, words, None),
        TxRequested(1, bytes(32), words),
        TxSent(1, bytes(32), words, 1, bytes(32), 1, 1, bytes(32)),
        TxRefused(1, bytes(32), words, words, words, 0),
        AppointmentAcknowledged(1, words, 1),
        ConnectionLost(1, words),
        ConnectionRestored(1, words),
    )
    history = ChannelHistory(entries)
    seen = overview(view.channel, history, view.now)
    option = Option("move", harmless(words)[:200], words, seen.result.shares, 1_000)
    return replace(
        view,
        game=Talking(words),
        history=history,
        seen=replace(seen, options=(option, *seen.options)),
        names=(words, words),
        guide=words,
        notice=words,
        groups=(ControlGroup(words, (button(words, words), button(words, words, words))),),
        at=len(view.history.entries),
    )


def skeleton(html: str) -> list[tuple[str, tuple[str, ...]]]:
    return [(each.name, tuple(each.attributes)) for each in elements(html)]


@settings(deadline=None, max_examples=150)
@given(words=NASTY)
@example(words=BREAKOUT)
@example(words="a b")
def test_a_page_keeps_its_elements_whatever_is_said(words: str) -> None:
    # A word that begins with a digit has a key, and so an attribute more.
    assert skeleton(channel_page(spoken(words))) == skeleton(channel_page(spoken("xyz")))


@settings(deadline=None, max_examples=50)
@given(words=NASTY)
@example(words=BREAKOUT)
def test_a_message_keeps_its_elements(words: str) -> None:
    assert skeleton(message_page(words, words)) == skeleton(message_page("xyz", "xyz"))


def test_the_words_are_there_and_harmless() -> None:
    page = channel_page(spoken("\u202eeve<b>\x1b[2J"))
    assert "\u202e" not in page
    assert "\x1b" not in page
    assert r"\u202eeve&lt;b&gt;\x1b[2J" in page


def test_a_list_of_nothing_says_so() -> None:
    assert "You have not played any games" in channels_page([], 0)
