"""A hand of Discard as a picture: our own cards open, the other's from behind, the pile and the top card. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from forcemove import Names, VariablePart
from forcemove.picture import Shape, Spot, Svg, line, rect, text
from forcemove_games.discard.board import own_cards
from forcemove_games.discard.choices import card_word
from forcemove_games.discard.position import Core, PositionType, decode
from forcemove_games.discard_sra.cards import SUITS, VALUES, count_text, name, suit, value
from forcemove_games.two_player import PLAYERS

_WIDTH, _HEIGHT = 200, 156
_CARD, _HIGH, _GAP = 24, 34, 3
_EDGE = 6
_THEIRS, _TABLE, _OURS = 12, 60, 112
_LIFT, _KEY = 6, 12
"""How far a card that can be laid is lifted, and the room above it in which a page shows the key that lays it."""
_PILE_X, _TOP_X = 66, 110
_RED = (1, 2)
"""The suits of hearts and diamonds."""


def draw(state: VariablePart, viewer: int | None, own: bytes, names: Names, choices: Sequence[str]) -> Svg:
    """Both hands and the table.

    - `state`: no final one.
    - `viewer`: the seat that looks, None for none; it sees its own hand in front.
    - `own`: the viewer's secrets.
    - `names`: of the players, by seat.
    - `choices`: the words that the viewer can choose.
    """
    core = decode(state.app_data).core
    seat = 0 if viewer is None else viewer
    known = own_cards(state, own)
    cards = known[1] if known is not None and known[0] == seat else None
    places = _places(core.held[seat].bit_count())
    shapes = [*_hidden(core, 1 - seat, _THEIRS), *_table(core)]
    shapes += _hidden(core, seat, _OURS) if cards is None else _open(cards, places, seat, choices)
    shapes += [*_label(names[1 - seat], core, 1 - seat, _THEIRS - 3), *_label(names[seat], core, seat, _HEIGHT - 3)]
    spots = tuple(_spots(cards or (), places, choices))
    return Svg(_WIDTH, _HEIGHT, tuple(shapes), spots, _words(core, names))


def _words(core: Core, names: Names) -> str:
    if core.position_type < PositionType.DEALT:
        return "A deck that is not dealt yet"
    hands = ", ".join(f"{names[seat]} {count_text(core.held[seat].bit_count())}" for seat in range(PLAYERS))
    return f"{name(core.top)} on top, {count_text(core.pile)} in the pile; {hands}"[:200]


def _label(who: str, core: Core, seat: int, y: float) -> Iterator[Shape]:
    short = who if len(who) <= 24 else who[:23] + "\N{HORIZONTAL ELLIPSIS}"
    count = "" if core.position_type < PositionType.DEALT else f": {count_text(core.held[seat].bit_count())}"
    yield text(_WIDTH / 2, y, f"{short}{count}", size=6, fill=f"seat-{seat}", face="bold")


def _places(count: int) -> list[float]:
    """The left edges of this many cards in a row, closer together where there are many."""
    room = _WIDTH - 2 * _EDGE - _CARD
    step = min(_CARD + _GAP, room / max(1, count - 1))
    first = (_WIDTH - _CARD - step * (count - 1)) / 2
    return [first + step * place for place in range(count)]


def _hidden(core: Core, seat: int, y: float) -> Iterator[Shape]:
    for x in _places(core.held[seat].bit_count()):
        yield from _back(x, y, f"seat-{seat}")


def _open(cards: Sequence[int], places: Sequence[float], seat: int, choices: Sequence[str]) -> Iterator[Shape]:
    """Our hand, with the cards that can be laid lifted; what we have drawn just now is still from behind, at the
    end."""
    for place, x in enumerate(places):
        if place >= len(cards):
            yield from _back(x, _OURS, f"seat-{seat}")
        elif card_word(cards[place]) in choices:
            yield from _face(x, _OURS - _LIFT, cards[place], stroke=f"seat-{seat}")
        else:
            yield from _face(x, _OURS, cards[place])


def _table(core: Core) -> Iterator[Shape]:
    is_dealt = core.position_type >= PositionType.DEALT
    if not is_dealt or core.pile:
        yield from _back(_PILE_X, _TABLE, "muted")
    else:
        yield rect(_PILE_X, _TABLE, _CARD, _HIGH, fill="none", stroke="edge", radius=3)
    count = count_text(core.pile) if is_dealt else "the deck"
    yield text(_PILE_X - 4, _TABLE + 19, count, size=6, fill="muted", anchor="end")
    if is_dealt:
        yield from _face(_TOP_X, _TABLE, core.top, is_lit=True)


def _face(x: float, y: float, card: int, *, is_lit: bool = False, stroke: str = "edge") -> Iterator[Shape]:
    tone = "bad" if suit(card) in _RED else "ink"
    yield rect(x, y, _CARD, _HIGH, fill="lit" if is_lit else "cell", stroke=stroke, thickness=1, radius=3)
    yield text(x + _CARD / 2, y + 14, VALUES[value(card)], size=10, fill=tone, face="bold")
    yield text(x + _CARD / 2, y + 27, SUITS[suit(card)], size=11, fill=tone)


def _back(x: float, y: float, tone: str) -> Iterator[Shape]:
    yield rect(x, y, _CARD, _HIGH, fill="paper", stroke=tone, thickness=1, radius=3)
    for step in range(1, 5):
        yield line(x + 5, y + 6.8 * step, x + _CARD - 5, y + 6.8 * step, stroke=tone, thickness=0.7)


def _spots(cards: Sequence[int], places: Sequence[float], choices: Sequence[str]) -> Iterator[Spot]:
    """Each of our open cards, as wide as it is not covered by the next one, and the pile."""
    if not choices:
        return
    for place, card in enumerate(cards):
        covered = places[place + 1] if place + 1 < len(places) else places[place] + _CARD
        word, width = card_word(card), min(_CARD, covered - places[place])
        if word in choices:
            yield Spot(word, places[place], _OURS - _LIFT - _KEY, width, _HIGH + _KEY, name(card))
        else:
            yield Spot(word, places[place], _OURS, width, _HIGH, name(card), "it does not fit on the top card")
    if "draw" in choices:
        yield Spot("draw", _PILE_X, _TABLE - _KEY, _CARD, _HIGH + _KEY, "draw a card from the pile")
