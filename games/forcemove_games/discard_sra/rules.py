"""The rules of Discard, on what everybody sees: the pile after each turn. Pure.

In turn, a player discards a card that matches the suit or the value of the top discard, or draws a card, or says that
it can't move. It may draw although a card of its own fits. It may say that it can't move only when the pile is empty
and no card of its hand fits; the audit, which opens all cards, shows whether none did. An empty hand wins. When both
can't move, one after the other, the game is stuck, and nobody wins.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise
from typing import NamedTuple

from forcemove import LabelledEnum, LocalError
from forcemove_games.discard_sra.cards import fits
from forcemove_games.sra.faults import CardFault, DiscardNotAllowed, DrawNotAllowed
from forcemove_games.sra.pile import Pile, PileRules
from forcemove_games.two_player import PLAYERS


class Kind(Enum):
    """The kind of a move."""

    DISCARD = "discard"
    DRAW = "draw"
    CANNOT_MOVE = "can't move"


class Move(NamedTuple):
    """A player's decision. `card`: the one that it discards, None otherwise."""

    kind: Kind
    card: int | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn that was taken. `before`: the pile before it. `index`: of the card that was drawn or discarded."""

    seat: int
    kind: Kind
    before: Pile
    index: int | None = None


class PileNotEmpty(CardFault):
    """`seat` says that it can't move, and could draw: `left` cards are there."""

    seat: int
    left: int


class CouldMove(CardFault):
    """`seat` has said in turn `turn` (from 0) that it can't move, and had a `card` that fits on the `top` discard."""

    seat: int
    turn: int
    card: int
    top: int


class NotStuck(LocalError):
    """We want to say that we can't move, and can: `left` cards are there to draw, or these `cards` of our hand fit.
    They are in our hand: this error is not for the counterparty to read."""

    left: int
    cards: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Position:
    """What one player sees. `hand`: its cards, the lowest first. `laid`: the cards that were turned up and discarded so
    far. `left`: how many are in the pile. `theirs`: how many the other player holds."""

    hand: tuple[int, ...]
    laid: tuple[int, ...]
    left: int
    theirs: int

    @property
    def top(self) -> int:
        """The top discard."""
        return self.laid[-1]

    @property
    def fitting(self) -> tuple[int, ...]:
        """The cards of the hand that may be discarded now."""
        return tuple(card for card in self.hand if fits(card, self.top))

    @property
    def moves(self) -> tuple[Move, ...]:
        """All legal moves; there is always one."""
        discards = tuple(Move(Kind.DISCARD, card) for card in self.fitting)
        draws = (Move(Kind.DRAW),) if self.left else ()
        return discards + draws or (Move(Kind.CANNOT_MOVE),)


# ------------------------------------------------------------------------------------------------- while it is played


def top_discard(pile: Pile) -> int:
    """The card that was turned up or discarded last."""
    return pile.laid[-1]


def _may_draw(pile: Pile, _seat: int) -> bool:
    return not pile.is_empty


def _may_discard(pile: Pile, _seat: int, card: int) -> bool:
    return fits(card, top_discard(pile))


RULES = PileRules(_may_draw, _may_discard)
"""The rules for draws and discards; the flow knows whose turn it is."""


def require_pile_empty(pile: Pile, seat: int) -> None:
    """Raise `PileNotEmpty` where a seat that says it can't move could draw."""
    if not pile.is_empty:
        raise PileNotEmpty(seat, pile.left)


# ---------------------------------------------------------------------------------------------------------- the history


def turns(history: Sequence[Pile]) -> tuple[Turn, ...]:
    """The turns of a game. `history`: the pile after the first discard was turned up, and after each turn."""
    return tuple(_turn(number % PLAYERS, *piles) for number, piles in enumerate(pairwise(history)))


def _turn(seat: int, before: Pile, after: Pile) -> Turn:
    if len(after.opened) > len(before.opened):
        return Turn(seat, Kind.DISCARD, before, after.opened[-1])
    if after.top > before.top:
        return Turn(seat, Kind.DRAW, before, before.top)
    return Turn(seat, Kind.CANNOT_MOVE, before)


def seat_to_move(history: Sequence[Pile]) -> int:
    """Whose turn it is; seat 0 begins."""
    return (len(history) - 1) % PLAYERS


def winner(history: Sequence[Pile]) -> int | None:
    """The seat with an empty hand, if there is one."""
    return next((seat for seat in range(PLAYERS) if not history[-1].held_by(seat)), None)


def is_over(history: Sequence[Pile]) -> bool:
    """Whether somebody has won, or both have said that they can't move, one after the other."""
    last = [turn.kind for turn in turns(history[-PLAYERS - 1 :])]
    return winner(history) is not None or last == [Kind.CANNOT_MOVE] * PLAYERS


def require_rightful(history: Sequence[Pile], order: Sequence[int], clients: tuple[str, str]) -> None:
    """Look at every turn again when all cards are open. `order`: the audited deck, from the top. `clients`: by seat.

    Raises `DrawNotAllowed`, `DiscardNotAllowed`, `PileNotEmpty`, and `CouldMove`, which nobody could see before. The
    culprit is the client whose turn it was.
    """
    for number, turn in enumerate(turns(history)):
        try:
            _require_rightful(number, turn, order)
        except CardFault as fault:
            fault.culprit = clients[turn.seat]
            raise


def _require_rightful(number: int, turn: Turn, order: Sequence[int]) -> None:
    if turn.kind is Kind.CANNOT_MOVE:
        _require_stuck(number, turn, order)
    elif turn.kind is Kind.DRAW and not _may_draw(turn.before, turn.seat):
        raise DrawNotAllowed(turn.seat, turn.before.top)
    elif turn.index is not None and turn.kind is Kind.DISCARD:
        _require_fitting(turn, turn.index, order[turn.index])


def _require_fitting(turn: Turn, index: int, card: int) -> None:
    if index not in turn.before.held_by(turn.seat) or not _may_discard(turn.before, turn.seat, card):
        raise DiscardNotAllowed(turn.seat, index, card)


def _require_stuck(number: int, turn: Turn, order: Sequence[int]) -> None:
    require_pile_empty(turn.before, turn.seat)
    top = top_discard(turn.before)
    for card in (order[index] for index in turn.before.held_by(turn.seat)):
        if fits(card, top):
            raise CouldMove(turn.seat, number, card, top)


# ----------------------------------------------------------------------------------------------------------- as a table


class DiscardPhase(LabelledEnum):
    """The phase of a game. A has seat 0."""

    SHUFFLING = 0
    DEALING = 1
    TURNING_UP = 2
    A_TO_MOVE = 3
    B_TO_MOVE = 4
    AUDITING = 5
    OVER = 6


class Row(NamedTuple):
    """A step from one phase of a game to another, and its cause."""

    from_phase: DiscardPhase
    to_phase: DiscardPhase
    what: str


def _turn_rows(name: str, other: str, own: DiscardPhase, next_: DiscardPhase) -> tuple[Row, ...]:
    return (
        Row(own, next_, f"{name} discards a card that fits"),
        Row(own, next_, f"{name} draws, {other} gives the key"),
        Row(own, next_, f"{name} can't move"),
        Row(own, DiscardPhase.AUDITING, f"{name} discards the last card"),
        Row(own, DiscardPhase.AUDITING, f"{name} can't move either"),
    )


TABLE: tuple[Row, ...] = (
    Row(DiscardPhase.SHUFFLING, DiscardPhase.DEALING, "A and B send the deck twice each"),
    Row(DiscardPhase.DEALING, DiscardPhase.TURNING_UP, "each gives the keys of the other's five cards"),
    Row(DiscardPhase.TURNING_UP, DiscardPhase.A_TO_MOVE, "each gives the key of the top card"),
    *_turn_rows("A", "B", DiscardPhase.A_TO_MOVE, DiscardPhase.B_TO_MOVE),
    *_turn_rows("B", "A", DiscardPhase.B_TO_MOVE, DiscardPhase.A_TO_MOVE),
    Row(DiscardPhase.AUDITING, DiscardPhase.OVER, "each gives all keys, and all was right"),
)
"""All steps between two players that keep to the rules."""
