"""The board: the game's picture with its spots as buttons, or its text; who has what; what is to be done. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

from forcemove.browser.drawing.money import Balance, balances_of
from forcemove.browser.view import ChannelView
from forcemove.game import Game, Names, Pictured
from forcemove.history.entries import StateAccepted, StateSigned
from forcemove.history.overview import Option
from forcemove.picture import Spot, Svg
from forcemove.protocol.machine.channel import OVER, Phase
from forcemove.protocol.types import VariablePart
from forcemove.rounds import score_line
from forcemove.text.amounts import amount_text
from forcemove.text.harmless import harmless
from forcemove.text.situation.headline import headline_of, names_for, played_state, state_before
from forcemove.text.situation.moment import capitalised, gas_text, named, paid_text, results_of, shown_names
from forcemove.text.situation.turn import PHASE_WORDS

SCALE_TO = 400
"""The width of a picture in the page's units, in which the letters on its buttons have their usual size."""
_DIGITS = "123456789"


class SpotButton(NamedTuple):
    """A choice as a button.

    - `word`: what it chooses.
    - `text`: what it does; of a shut one, what is there.
    - `after`: what follows for everybody's money, and the gas.
    - `ours`: what we would have then.
    - `key`: the digit that presses it, empty without one.
    - `reason`: why it is shut, empty where it is open.
    """

    word: str
    text: str
    after: str = ""
    ours: str = ""
    key: str = ""
    reason: str = ""

    @property
    def note(self) -> str:
        """What is said after `text`: why the button is shut, or what follows."""
        return capitalised(self.reason) or self.after


class PlacedSpot(NamedTuple):
    """A button on a picture, in the page's units."""

    x: float
    y: float
    width: float
    height: float
    button: SpotButton


@dataclass(frozen=True, slots=True)
class Drawing:
    """A game's picture. `markup`: its shapes, checked; `scale`: from its units to the page's; `text`: it in words;
    `spots`: what can be chosen on it."""

    width: float
    height: float
    scale: str
    markup: str
    text: str
    spots: tuple[PlacedSpot, ...] = ()


@dataclass(frozen=True, slots=True)
class Board:
    """What the panel of the board shows.

    - `title`: the game's.
    - `phase`: the channel's, in words; `tone`: `bad` in a challenge, `good` at the end, else empty.
    - `above`, `below`: the others' balances, and ours.
    - `drawing`: the game's picture, None where it has none.
    - `lines`: the board as text, where there is no picture.
    - `score`: how many rounds each has won, empty before the first is over.
    - `headline`: what has happened, and who is to do what.
    - `buttons`: the choices that have no place in the picture.
    """

    title: str
    phase: str
    tone: str
    above: tuple[Balance, ...]
    below: tuple[Balance, ...]
    drawing: Drawing | None
    lines: str
    score: str
    headline: str
    buttons: tuple[SpotButton, ...]


def board_of(view: ChannelView) -> Board:
    """The board of a channel's newest position."""
    seen, state = view.seen, _last_position(view)
    moves = {each.word: each for each in seen.options if each.kind == "move"}
    keys = _keys(moves)
    drawing = None if state is None else _drawing(view, state, moves, keys)
    placed = set() if drawing is None else {each.button.word for each in drawing.spots}
    balances = balances_of(view)
    return Board(
        harmless(view.game.title),
        PHASE_WORDS[seen.phase],
        "bad" if seen.phase is Phase.CHALLENGED else "good" if seen.phase in OVER else "",
        tuple(each for each in balances if not each.is_ours),
        tuple(each for each in balances if each.is_ours),
        drawing,
        "" if drawing is not None else _text(view),
        score_line(results_of(view), shown_names(view.names), view.channel.index),
        harmless(headline_of(replace(view, names=shown_names(view.names)))),
        tuple(_button(view, each, keys) for word, each in moves.items() if word not in placed),
    )


def _text(view: ChannelView) -> str:
    """The board as text; empty while there is none."""
    state, names = played_state(view), names_for(view.channel.index, shown_names(view.names))
    return "" if state is None else "\n".join(map(harmless, view.game.board(state, names, view.own).splitlines()))


def _last_position(view: ChannelView) -> VariablePart | None:
    """The newest state with a position; None before the game begins. A final state has none: it ends the game where it
    was."""
    channel = view.channel
    last_of_opening = 2 * channel.agreement.count - 1
    for accepted in reversed(channel.accepted):
        if not accepted.state.is_final:
            return accepted.state if accepted.state.turn_num >= last_of_opening else None
    for entry in reversed(view.history.entries):
        if isinstance(entry, StateSigned | StateAccepted) and not entry.signed.state.is_final:
            state = entry.signed.state
            return state if state.turn_num >= last_of_opening else None
    return None


# ------------------------------------------------------------------------------------------------------------- picture


def picture_of(
    game: Game, state: VariablePart, viewer: int | None, own: bytes, names: Names, before: VariablePart | None
) -> Drawing | None:
    """The picture of a position with nothing to choose; None where there is none that can be shown.

    - `game`: draws it.
    - `state`: no final one.
    - `viewer`: the seat that looks; None for somebody who has no seat.
    - `own`: the viewer's secrets.
    - `names`: one for each participant.
    - `before`: the state before, None where it is not at hand.
    """
    if not isinstance(game, Pictured):
        return None
    try:
        svg, markup = _picture(game, state, viewer, own, names, (), before)
        scale = SCALE_TO / svg.width
        return Drawing(SCALE_TO, svg.height * scale, f"{scale:g}", markup, harmless(svg.text))
    except Exception:  # a game is not ours, and the page must be there whatever it does
        return None


def _drawing(view: ChannelView, state: VariablePart, moves: dict[str, Option], keys: dict[str, str]) -> Drawing | None:
    """The game's picture, None where it has none, or one that cannot be shown: then its text is shown. A game is not
    ours, and the page must be there whatever it does."""
    if not isinstance(view.game, Pictured):
        return None
    names = shown_names(view.names)
    try:
        svg, markup = _picture(
            view.game, state, view.channel.index, view.own, names, tuple(moves), state_before(view.channel, state)
        )
        return _in_our_units(view, svg, markup, moves, keys)
    except Exception:
        return None


@lru_cache(maxsize=16)
def _picture(
    game: Pictured,
    state: VariablePart,
    viewer: int | None,
    own: bytes,
    names: Names,
    moves: tuple[str, ...],
    before: VariablePart | None,
) -> tuple[Svg, str]:
    """A game's picture and its markup: the same until one of these changes. The parameters are those of
    `Pictured.picture`. Raises on what is not a picture, and what the game raises."""
    svg = game.picture(state, viewer, own, names, moves, before)
    if type(svg) is not Svg:
        raise TypeError(f"a picture is an Svg, and no {type(svg).__name__}")
    return svg, svg.markup()


def _in_our_units(view: ChannelView, svg: Svg, markup: str, moves: dict[str, Option], keys: dict[str, str]) -> Drawing:
    """The picture in the page's units. Raises on what is none."""
    scale = SCALE_TO / svg.width
    spots = tuple(_place(view, each, scale, moves.get(each.word), keys) for each in svg.spots)
    return Drawing(SCALE_TO, svg.height * scale, f"{scale:g}", markup, harmless(svg.text), spots)


def _place(view: ChannelView, spot: Spot, scale: float, option: Option | None, keys: dict[str, str]) -> PlacedSpot:
    if option is None:
        reason = spot.reason or _why_shut(view)
        button = SpotButton(harmless(spot.word), harmless(spot.text), reason=harmless(reason))
    else:
        button = _button(view, option, keys)
    return PlacedSpot(spot.x * scale, spot.y * scale, spot.width * scale, spot.height * scale, button)


def _button(view: ChannelView, option: Option, keys: dict[str, str]) -> SpotButton:
    """An open choice."""
    shares = () if view.channel.agreement.is_friendly else option.shares
    ours = [each for each in shares if each.participant == view.channel.index]
    cost = f", {gas_text(option.gas)}" if option.gas else ""
    after = f"If it ended then, {paid_text(view, shares)}{cost}" if shares else ""
    paid = " and ".join(amount_text(each.asset, each.payable, view.tokens) for each in ours)
    return SpotButton(option.word, harmless(option.text), after, paid, keys.get(option.word, ""))


def _why_shut(view: ChannelView) -> str:
    """Why nothing can be chosen, or not this."""
    seen = view.seen
    if seen.phase in (*OVER, Phase.CONCLUDING):
        return "the game is over"
    if view.channel.leaving:
        return "you are leaving"
    if seen.phase not in (Phase.PLAYING, Phase.CHALLENGED):
        return "the game has not begun"
    if not seen.is_ours:
        return f"it is {named(view, seen.mover)}'s turn"
    return "it cannot be chosen now"


def _keys(moves: Iterable[str]) -> dict[str, str]:
    """The digit that presses each choice: the word itself where all words are digits, else its place in the list."""
    words = list(moves)
    if all(len(word) == 1 and word in "0123456789" for word in words):
        return {word: word for word in words}
    return dict(zip(words, _DIGITS, strict=False))
