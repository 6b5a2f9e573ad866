"""A shuffled deck as everybody sees it, spectators included: which seat has which card, and which keys were given.

A card whose two keys are given is open to all. `player` has what one side knows beyond that. Functions change nothing
in place: after an error the old value is still valid.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from forcemove_games.sra.arithmetic import Numbers
from forcemove_games.sra.cipher import DecryptionKey
from forcemove_games.sra.deck import open_card
from forcemove_games.sra.faults import CardTwice, KeyGivenTwice, KeyNotDue, NotTheTop, PileEmpty


@dataclass(frozen=True, slots=True)
class CardPlace:
    """A card that has left the pile.

    `holder`: the seat that drew it or was dealt it, or None where it was turned up for all. `keys`: those that seats 0
    and 1 have given. `card`: its number, None until both have given their keys.
    """

    holder: int | None
    keys: tuple[DecryptionKey | None, DecryptionKey | None] = field(default=(None, None), repr=False)
    card: int | None = None


@dataclass(frozen=True, slots=True)
class Pile:
    """A shuffled deck as everybody sees it. `numbers`: the deck. `places`: the cards that left it, by index. `opened`:
    the indices of the cards that are open to all, in the order in which they were opened."""

    numbers: Numbers = field(repr=False)
    places: tuple[CardPlace, ...] = ()
    opened: tuple[int, ...] = ()

    @property
    def top(self) -> int:
        """The index of the card that is drawn next; the size of the deck where none is left."""
        return len(self.places)

    @property
    def left(self) -> int:
        """How many cards are left to draw."""
        return len(self.numbers) - self.top

    @property
    def is_empty(self) -> bool:
        """Whether no card is left to draw."""
        return not self.left

    @property
    def laid(self) -> tuple[int, ...]:
        """The cards that are open to all, turned up or discarded, in that order."""
        return tuple(card for _, card in self.open_cards)

    @property
    def open_cards(self) -> tuple[tuple[int, int], ...]:
        """Index and card of each card that is open to all, in the order in which they were opened."""
        cards = ((index, self.places[index].card) for index in self.opened)
        return tuple((index, card) for index, card in cards if card is not None)

    def held_by(self, seat: int) -> tuple[int, ...]:
        """The indices of the cards that a seat has drawn and not discarded."""
        return tuple(
            index for index, place in enumerate(self.places) if place.holder == seat and place.keys[seat] is None
        )

    def has_key(self, index: int, seat: int) -> bool:
        """Whether a seat has given its key for the card at `index`."""
        return index < self.top and self.places[index].keys[seat] is not None


def _always(*_: object) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class PileRules:
    """Which draws and discards a game allows, to both sides alike. Only the answer `True` allows one.

    `may_draw(pile, seat)`: whether a seat may draw the card at the top now. `may_discard(pile, seat, card)`: whether it
    may discard this card now, which it holds. The pile is as it is before that.
    """

    may_draw: Callable[[Pile, int], bool] = _always
    may_discard: Callable[[Pile, int, int], bool] = _always


ANYTHING = PileRules()
"""For games without rules about draws and discards."""


def lift(pile: Pile, holder: int | None, index: int) -> Pile:
    """The pile after a seat has got its top card, or (None) after all have agreed to turn it up.

    Raises `PileEmpty`, and `NotTheTop` where `index` is not the top.
    """
    if pile.is_empty:
        raise PileEmpty(holder)
    if index != pile.top:
        raise NotTheTop(pile.top, index)
    return replace(pile, places=(*pile.places, CardPlace(holder)))


def publish(pile: Pile, seat: int, index: int, key: DecryptionKey) -> Pile:
    """The pile after a seat has given its key for a card. Where it is the second, the card is open.

    Raises `KeyNotDue`, `KeyGivenTwice`; `NoSuchCard` and `CardTwice` where the keys of both open no card of the deck,
    or one that is open already. Of a turned-up card either key may come first; of a drawn one, the drawer's own comes
    second.
    """
    _require_due(pile, seat, index)
    place = pile.places[index]
    keys = (key, place.keys[1]) if seat == 0 else (place.keys[0], key)
    card, opened = None, pile.opened
    if keys[0] is not None and keys[1] is not None:
        card = open_card(pile.numbers, index, keys[0], keys[1])
        require_unseen(card, index, pile.open_cards)
        opened = (*opened, index)
    changed = replace(place, keys=keys, card=card)
    return replace(pile, places=(*pile.places[:index], changed, *pile.places[index + 1 :]), opened=opened)


def _require_due(pile: Pile, seat: int, index: int) -> None:
    if not 0 <= index < pile.top:
        raise KeyNotDue(seat, index)
    if pile.has_key(index, seat):
        raise KeyGivenTwice(seat, index)
    if pile.places[index].holder == seat and not pile.has_key(index, 1 - seat):
        raise KeyNotDue(seat, index)


def require_unseen(card: int, index: int, seen: Iterable[tuple[int, int]]) -> None:
    """Raise `CardTwice` where the card at `index` is among those that were `seen`, each with its index."""
    for other, known in seen:
        if known == card:
            raise CardTwice(card, other, index)
