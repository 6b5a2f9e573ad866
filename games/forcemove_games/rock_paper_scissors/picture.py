"""Both hands of rock-paper-scissors as a picture: our own open, the other's face down until it was revealed. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from forcemove import Names, VariablePart
from forcemove.picture import Shape, Spot, Svg, circle, line, path, rect, text
from forcemove_games.rock_paper_scissors.openings import decode_openings, find_opening
from forcemove_games.rock_paper_scissors.position import Position, PositionType, Weapon, decode

_WIDTH, _CARD, _HIGH = 120, 46, 58
_LEFT, _RIGHT, _TOP = 8, 66, 12
_CHOICES_TOP, _CHOICE, _HEIGHT = 88, 34, 124
Points = tuple[tuple[float, float], ...]
_STROKES: dict[Weapon, tuple[Points, ...]] = {
    Weapon.ROCK: (
        ((-9, 4), (-7, -5), (0, -9), (8, -5), (9, 3), (4, 8), (-5, 8), (-9, 4)),
        ((-3, -2), (2, 1), (1, 5)),
    ),
    Weapon.PAPER: (
        ((-7, -9), (4, -9), (7, -6), (7, 9), (-7, 9), (-7, -9)),
        ((-4, -3), (4, -3)),
        ((-4, 1), (4, 1)),
        ((-4, 5), (2, 5)),
    ),
    Weapon.SCISSORS: (((-6, -9), (4, 5)), ((6, -9), (-4, 5))),
}
_RINGS = {Weapon.SCISSORS: ((-5.5, 7, 2.6), (5.5, 7, 2.6))}
"""How a weapon is drawn, around its own middle: lines through points; circles by middle and radius."""


@dataclass(frozen=True, slots=True)
class _Hand:
    """What a viewer sees of a hand. `weapon`: None where it is hidden or not there; `commitment`: 32 bytes, where there
    is one; `note`: what is said below it; `wins`: whether it has won the round."""

    name: str
    tone: str
    weapon: Weapon | None
    commitment: bytes | None
    note: str
    wins: bool = False


def draw(
    state: VariablePart, viewer: int | None, own: bytes, names: Names, a_player: int, choices: Sequence[str]
) -> Svg:
    """Both hands, and the weapons to choose from.

    - `state`: no final one.
    - `viewer`: the seat that looks, None for none.
    - `own`: the viewer's openings.
    - `names`: of the players, by seat.
    - `a_player`: the seat of A, who proposes the round.
    - `choices`: the words that the viewer can choose.
    """
    position = decode(state.app_data)
    chosen = _own_weapon(position, own) if viewer == a_player else None
    hands = _hand_of_a(position, names[a_player], a_player, chosen), _hand_of_b(position, names[1 - a_player], a_player)
    shapes = [*_card(_LEFT, hands[0]), *_card(_RIGHT, hands[1])]
    can_choose = bool({each.name.lower() for each in Weapon}.intersection(choices))
    spots = [_spot(weapon) for weapon in Weapon] if can_choose else []
    for weapon in Weapon if can_choose else ():
        shapes += _choice(weapon)
    said = "; ".join(f"{hand.name}: {hand.weapon.name.lower() if hand.weapon else hand.note}" for hand in hands)
    return Svg(_WIDTH, _HEIGHT if can_choose else _CHOICES_TOP, tuple(shapes), tuple(spots), said[:200])


def _own_weapon(position: Position, own: bytes) -> Weapon | None:
    """What we have committed to, while it is hidden from the other. Raises `MalformedBytes`."""
    opening = find_opening(decode_openings(own), position)
    return None if opening is None or opening.choice >= len(Weapon) else Weapon(opening.choice)


def _hand_of_a(position: Position, name: str, seat: int, chosen: Weapon | None) -> _Hand:
    tone, kind = f"seat-{seat}", position.position_type
    if kind is PositionType.START:
        return _Hand(name, tone, None, None, "chooses next")
    if kind is PositionType.REVEAL:
        wins = Weapon(position.a_play).beats(Weapon(position.b_play))
        return _Hand(name, tone, Weapon(position.a_play), position.pre_commit, "\u2713 opened", wins)
    note = "only you can look" if chosen is not None else "face down"
    return _Hand(name, tone, chosen, position.pre_commit, note)


def _hand_of_b(position: Position, name: str, a_player: int) -> _Hand:
    tone = f"seat-{1 - a_player}"
    if position.position_type < PositionType.ROUND_ACCEPTED:
        return _Hand(name, tone, None, None, "plays next" if position.position_type else "waits")
    weapon = Weapon(position.b_play)
    wins = position.position_type is PositionType.REVEAL and weapon.beats(Weapon(position.a_play))
    return _Hand(name, tone, weapon, None, "played openly", wins)


def _card(x: int, hand: _Hand) -> Iterator[Shape]:
    middle = x + _CARD / 2
    yield text(middle, _TOP - 4, _short(hand.name), size=5.5, face="bold")
    is_there = hand.weapon is not None or hand.commitment is not None
    fill = "lit" if hand.wins else "cell" if is_there else "none"
    yield rect(x, _TOP, _CARD, _HIGH, fill=fill, stroke=hand.tone if is_there else "edge", thickness=1.2, radius=4)
    if hand.weapon is not None:
        yield from _icon(hand.weapon, middle, _TOP + 25, 1.5, hand.tone)
        yield text(middle, _TOP + 52, hand.weapon.name.lower(), size=5.5)
    elif is_there:
        yield from _back(x, hand.tone)
    if hand.commitment is not None:
        yield text(
            middle, _TOP + _HIGH + 13, f"0x{hand.commitment.hex()[:10]}\u2026", size=4, fill="muted", face="mono"
        )
    opened = hand.note.startswith("\u2713")
    yield text(middle, _TOP + _HIGH + 7, hand.note, size=4.6, fill="good" if opened else "muted")


def _back(x: int, tone: str) -> Iterator[Shape]:
    """A card from behind."""
    yield rect(x + 4, _TOP + 4, _CARD - 8, _HIGH - 8, fill="none", stroke=tone, thickness=0.8, radius=2.5)
    for step in range(5):
        yield line(x + 10, _TOP + 13 + 8 * step, x + _CARD - 10, _TOP + 13 + 8 * step, stroke=tone, thickness=0.8)


def _icon(weapon: Weapon, x: float, y: float, scale: float, tone: str) -> Iterator[Shape]:
    for points in _STROKES[weapon]:
        moved = (f"{x + scale * each[0]:g} {y + scale * each[1]:g}" for each in points)
        yield path("M" + " L".join(moved), stroke=tone, thickness=1.5)
    for ring_x, ring_y, radius in _RINGS.get(weapon, ()):
        yield circle(x + scale * ring_x, y + scale * ring_y, scale * radius, stroke=tone, thickness=1.5)


def _choice(weapon: Weapon) -> Iterator[Shape]:
    x = _choice_left(weapon)
    yield rect(x, _CHOICES_TOP, _CHOICE, _CHOICE, fill="cell", radius=4)
    yield from _icon(weapon, x + _CHOICE / 2, _CHOICES_TOP + 14, 1, "ink")
    yield text(x + _CHOICE / 2, _CHOICES_TOP + 30, weapon.name.lower(), size=4.6)


def _choice_left(weapon: Weapon) -> int:
    return 5 + weapon * (_CHOICE + 4)


def _spot(weapon: Weapon) -> Spot:
    return Spot(weapon.name.lower(), _choice_left(weapon), _CHOICES_TOP, _CHOICE, _CHOICE, weapon.name.lower())


def _short(name: str) -> str:
    return name if len(name) <= 16 else name[:15] + "\u2026"
