"""Pictures that games draw: only what is on the lists is written down, whatever a game hands over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from forcemove import InvalidValue, Pictured, VariablePart
from forcemove.browser.render import channel_panels
from forcemove.browser.view import ChannelView
from forcemove.picture import MAX_SHAPES, TONES, Shape, Spot, Svg, circle, line, path, rect, text
from forcemove_games.rock_paper_scissors import GAME as ROCK_PAPER_SCISSORS
from forcemove_games.rock_paper_scissors.openings import decode_openings
from forcemove_games.tic_tac_toe import GAME as TIC_TAC_TOE
from forcemove_games.tic_tac_toe.game import TicTacToe
from tests.browser.html import elements, find, text_of
from tests.browser.views import Looks, view_of

NAMES = ("Alice", "Bob")
SHAPES = {"rect", "circle", "line", "path", "text"}
ATTRIBUTES = {
    *("x", "y", "width", "height", "rx", "cx", "cy", "r", "x1", "y1", "x2", "y2", "d"),
    *("class", "stroke-width", "font-size", "text-anchor"),
}
anything = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.binary(), st.just("url(#a)"))


class Words(str):
    """A text that says of itself that it needs no escaping."""

    def replace(self, *_: Any) -> Words:
        return self

    def __html__(self) -> str:
        return str(self)


def assert_harmless(markup: str) -> None:
    for each in elements(f"<g>{markup}</g>")[1:]:
        assert each.name in SHAPES
        assert set(each.attributes) <= ATTRIBUTES


# ------------------------------------------------------------------------------------------------------------ shapes


@settings(deadline=None)
@given(words=st.text(max_size=60), size=st.floats(1, 100))
@example(words="</text><script>alert(1)</script>", size=1.0)
def test_words_are_words(words: str, size: float) -> None:
    if not words.isprintable():
        with pytest.raises(InvalidValue):
            text(1, 2, words, size=size)
        return
    markup = Svg(10, 10, (text(1, 2, words, size=size),)).markup()
    assert_harmless(markup)
    (shape,) = elements(markup)
    assert "".join(each for each in shape.children if isinstance(each, str)) == words


@settings(deadline=None, max_examples=300)
@given(
    kind=st.sampled_from([*SHAPES, "script", "foreignObject", "image", "a", "style", "g onload=x"]),
    attributes=st.lists(
        st.tuples(st.sampled_from([*ATTRIBUTES, "fill", "stroke", "face", "href", "onclick", "style", "x y"]), anything)
    ),
    words=st.text(max_size=20),
)
def test_a_shape_of_anything_is_harmless_or_refused(kind: str, attributes: list[tuple[str, Any]], words: str) -> None:
    try:
        shape = Shape(kind, tuple(attributes), words)
    except InvalidValue:
        return
    assert_harmless(Svg(1, 1, (shape,)).markup())


BAD_SHAPES = (
    lambda: Shape("script", ()),
    lambda: Shape("image", (("href", "https://example.org/x.png"),)),
    lambda: Shape("rect", (("onclick", "alert(1)"),)),
    lambda: Shape("rect", (("style", "fill:url(https://example.org)"),)),
    lambda: Shape("rect", (("class", "f-ink"),)),
    lambda: rect(0, 0, 1, 1, fill="url(#a)"),
    lambda: rect(0, 0, 1, 1, fill="red"),
    lambda: rect(0, 0, 1, 1, stroke='ink" onload="x'),
    lambda: rect(float("nan"), 0, 1, 1),
    lambda: rect(0, float("inf"), 1, 1),
    lambda: rect(0, 0, 10**9, 1),
    lambda: rect(True, 0, 1, 1),
    lambda: rect("1", 0, 1, 1),  # type: ignore[arg-type]
    lambda: path('M0 0"/><script>'),
    lambda: path("M0 0 " * 1_000),
    lambda: text(0, 0, "x" * 201),
    lambda: text(0, 0, Words("<b>")),
    lambda: text(0, 0, "x", anchor="url"),
    lambda: text(0, 0, "x", face="serif"),
    lambda: Shape("text", (("x", 1, 2),)),  # type: ignore[arg-type]
    lambda: Shape("rect", [("x", 1)]),  # type: ignore[arg-type]
    lambda: Spot("1", 0, 0, float("nan"), 1, "a spot"),
    lambda: Spot(Words("1"), 0, 0, 1, 1, "a spot"),
    lambda: Svg(0, 1, ()),
    lambda: Svg(1, 1, ("<script>",)),  # type: ignore[arg-type]
    lambda: Svg(1, 1, (), ("spot",)),  # type: ignore[arg-type]
    lambda: Svg(1, 1, [line(0, 0, 1, 1)]),  # type: ignore[arg-type]
    lambda: Svg(1, 1, (line(0, 0, 1, 1),) * (MAX_SHAPES + 1)),
    lambda: Svg(1, 1, (), (), Words("<b>")),
)


@pytest.mark.parametrize("make", BAD_SHAPES)
def test_what_is_not_on_the_lists_is_refused(make: Any) -> None:
    with pytest.raises(InvalidValue):
        make().markup()


def test_what_was_changed_afterwards_is_refused_when_it_is_written() -> None:
    shape = circle(1, 1, 1)
    svg = Svg(10, 10, (shape,))
    object.__setattr__(shape, "kind", "script")
    with pytest.raises(InvalidValue):
        svg.markup()
    spot = Spot("1", 0, 0, 1, 1, "here")
    with_spot = Svg(10, 10, (), (spot,))
    object.__setattr__(spot, "x", '1" onload="x')
    with pytest.raises(InvalidValue):
        with_spot.markup()


class OwnShape(Shape):
    """A shape of a class of its own could write what it wants."""


def test_a_class_of_its_own_is_refused() -> None:
    with pytest.raises(InvalidValue):
        OwnShape("rect", ())


def test_every_tone_can_be_used() -> None:
    for tone in TONES:
        assert_harmless(Svg(1, 1, (rect(0, 0, 1, 1, fill=tone, stroke=tone),)).markup())


# ------------------------------------------------------------------------------------------------------- in the page


class Drawing(TicTacToe):
    """Tic-tac-toe with another picture."""

    def __init__(self, drawn: Any) -> None:
        self.drawn = drawn

    def picture(
        self,
        state: VariablePart,
        _viewer: int | None,
        own: bytes,
        names: Sequence[str],
        choices: Sequence[str],
        before: VariablePart | None = None,
    ) -> Svg:
        if isinstance(self.drawn, BaseException):
            raise self.drawn
        return self.drawn  # type: ignore[no-any-return]


class Overloaded(Svg):
    """A picture of a class of its own."""

    def markup(self) -> str:
        return "<script>alert(1)</script>"


@pytest.mark.parametrize(
    "drawn",
    [
        "<script>alert(1)</script>",
        None,
        Overloaded(1, 1, ()),
        ValueError("the game's own fault"),
        RecursionError(),
        InvalidValue("x", 1, "y"),
    ],
    ids=repr,
)
def test_a_picture_that_cannot_be_shown_gives_way_to_the_text(looks: Looks, drawn: Any) -> None:
    view = replace(view_of(looks.ours()), game=Drawing(drawn))
    board = channel_panels(view)["board"]
    assert "alert(1)" not in board
    assert not [each for each in elements(board) if each.attributes.get("class") == "picture"]
    assert "---+---+---" in text_of(board)
    words = [each.attributes.get("value") for each in elements(board) if each.attributes.get("name") == "word"]
    assert words == [each.word for each in view.seen.options if each.kind == "move"]


def test_a_picture_cannot_close_its_place(looks: Looks) -> None:
    words = "</text></g></svg><script>alert(1)</script>"
    spot = Spot('4" onfocus="x', 0, 0, 10, 10, words)
    view = replace(view_of(looks.ours()), game=Drawing(Svg(10, 10, (text(1, 1, words),), (spot,), words)))
    board = channel_panels(view)["board"]
    assert "script" not in [each.name for each in elements(board)]
    assert "onfocus" not in [name for each in elements(board) for name in each.attributes]


def test_a_spot_that_is_no_choice_chooses_nothing(looks: Looks) -> None:
    view = replace(view_of(looks.ours()), game=Drawing(Svg(10, 10, (), (Spot("leave", 0, 0, 10, 10, "a trap"),))))
    (spot,) = [each for each in elements(channel_panels(view)["board"]) if each.attributes.get("class") == "spot"]
    assert "name" not in spot.attributes
    assert spot.attributes["aria-disabled"] == "true"


# ------------------------------------------------------------------------------------------------------ our own games


def test_our_games_have_pictures() -> None:
    assert isinstance(TIC_TAC_TOE, Pictured)
    assert isinstance(ROCK_PAPER_SCISSORS, Pictured)


def picture(view: ChannelView, choices: Sequence[str] = (), viewer: int | None = None) -> Svg:
    assert isinstance(view.game, Pictured)
    newest, before = view.channel.accepted[-1].state, view.channel.accepted[-2].state
    return view.game.picture(newest, viewer, view.own if viewer is not None else b"", NAMES, choices, before)


def test_the_last_mark_is_lit_up(looks: Looks) -> None:
    view = view_of(looks.theirs())
    lit = [each for each in picture(view).shapes if ("fill", "lit") in each.attributes]
    marks = [TIC_TAC_TOE.position(each.state)["cells"] for each in view.channel.accepted[-2:]]
    (cell,) = [cell for cell in range(9) if marks[0][cell] != marks[1][cell]]  # type: ignore[index]
    assert [dict(each.attributes)["x"] for each in lit] == [cell % 3 * 34]
    assert [dict(each.attributes)["y"] for each in lit] == [cell // 3 * 34]


@pytest.mark.parametrize("seat", [0, 1])
def test_a_hidden_hand_is_face_down_for_all_but_its_owner(looks: Looks, seat: int) -> None:
    story = looks.story(ROCK_PAPER_SCISSORS)
    story.play_until(4)
    view = view_of(story, seat)
    weapons = {"rock", "paper", "scissors"}
    shown = {each.words for each in picture(view, viewer=seat).shapes} & weapons
    (opening,) = decode_openings(story.alice.bot.secrets())
    chosen = ("rock", "paper", "scissors")[opening.choice]
    assert shown == ({chosen} if seat == 0 else set())
    assert {each.words for each in picture(view).shapes} & weapons == set()


def test_no_page_of_the_other_has_a_bit_of_the_secret(looks: Looks) -> None:
    story = looks.story(ROCK_PAPER_SCISSORS)
    story.play_until(4)
    secret = story.alice.bot.secrets()
    html = "".join(channel_panels(view_of(story, 1)).values())
    for part in (secret, secret[32:64]):
        assert part.hex() not in html
    ours = "".join(channel_panels(view_of(story, 0)).values())
    assert secret[32:64].hex() not in ours


def test_a_revealed_hand_has_its_check_mark(looks: Looks) -> None:
    story = looks.story(ROCK_PAPER_SCISSORS)
    story.play_until(6)
    assert any("\u2713" in each.words for each in picture(view_of(story)).shapes)
    story = looks.story(ROCK_PAPER_SCISSORS)
    story.play_until(5)
    assert not any("\u2713" in each.words for each in picture(view_of(story)).shapes)


@pytest.mark.parametrize("turn", range(3, 10))
@pytest.mark.parametrize("game", [TIC_TAC_TOE, ROCK_PAPER_SCISSORS], ids=lambda game: game.name)
def test_every_choice_can_be_pressed_exactly_once(looks: Looks, game: Any, turn: int) -> None:
    story = looks.story(game)
    story.play_until(turn)
    view = view_of(story, (turn + 1) % 2)
    board = channel_panels(view)["board"]
    pressed = [each.attributes.get("value") for each in elements(board) if each.attributes.get("name") == "word"]
    assert sorted(map(str, pressed)) == sorted(each.word for each in view.seen.options if each.kind == "move")
    assert find(board, "board")
