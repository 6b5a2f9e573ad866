"""What happens to a shuffled deck: drawing, discarding, turning up, each a pure function that gives a new value.

A `Pile` is what everybody at the table sees, spectators included: who drew which card, and which keys were given. A
`Player` is a pile and what one side alone knows: its keys, and the cards in its hand. To draw, the other side gives its
key of the card at the top, and the drawer's own stays hidden; to discard, the drawer gives its own, too; to turn a card
up, both give theirs. A card whose two keys are given is open to all.

Nothing changes where an error is raised: the old value is all there is then. `CardFault`s are the counterparty's,
`LocalError`s ours.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from games.sra.arithmetic import Numbers
from games.sra.cipher import DecryptionKey, Key
from games.sra.deck import Shuffle, open_card
from games.sra.faults import (
    CardTwice,
    DrawNotAllowed,
    KeyNotDue,
    KeyTwice,
    NothingToDraw,
    NotInHand,
    NotTheTop,
    PileEmpty,
    ShuffleNotFinished,
)

__all__ = [
    "Pile",
    "Place",
    "Player",
    "Rule",
    "discard",
    "draw",
    "hand_over",
    "lift",
    "publish",
    "sit_down",
    "take",
    "turn_up",
]


@dataclass(frozen=True, slots=True)
class Place:
    """A card that has left the pile.

    `holder`: the seat that drew it, or None where it was turned up for all. `keys`: those that seats 0 and 1 have
    given. `card`: which card it is, None as long as not both have.
    """

    holder: int | None
    keys: tuple[DecryptionKey | None, DecryptionKey | None] = field(default=(None, None), repr=False)
    card: int | None = None


@dataclass(frozen=True, slots=True)
class Pile:
    """What everybody sees of a shuffled deck. `numbers`: the deck. `places`: the cards that left it, by index."""

    numbers: Numbers = field(repr=False)
    places: tuple[Place, ...] = ()

    @property
    def top(self) -> int:
        """The index of the card that is drawn next; the size of the deck where none is left."""
        return len(self.places)

    @property
    def is_empty(self) -> bool:
        """Whether no card is left to draw."""
        return self.top == len(self.numbers)

    def held_by(self, seat: int) -> tuple[int, ...]:
        """The indices of the cards that a seat has drawn and not discarded."""
        return tuple(
            index for index, place in enumerate(self.places) if place.holder == seat and place.keys[seat] is None
        )

    def has_key(self, index: int, seat: int) -> bool:
        """Whether a seat has given its key for the card at `index`."""
        return index < self.top and self.places[index].keys[seat] is not None


Rule = Callable[[Pile, int], bool]
"""Whether the game lets a seat draw the card at the top of a pile now. Only `True` is a yes."""


def lift(pile: Pile, holder: int | None, index: int) -> Pile:
    """The pile after a seat has asked for its top card, or (None) after all have agreed to turn it up.

    Raises `PileEmpty`, and `NotTheTop` where `index` is not the top.
    """
    if pile.is_empty:
        raise PileEmpty(holder)
    if index != pile.top:
        raise NotTheTop(pile.top, index)
    return replace(pile, places=(*pile.places, Place(holder)))


def publish(pile: Pile, seat: int, index: int, key: DecryptionKey) -> Pile:
    """The pile after a seat has given its key for a card. Where it is the second, the card is open.

    Raises `KeyNotDue`, `KeyTwice`; `NoSuchCard` and `CardTwice` where the keys of both open no card of the deck, or one
    that is open already. Of a turned-up card either key may come first; of a drawn one, the drawer's own comes second.
    """
    _require_due(pile, seat, index)
    place = pile.places[index]
    keys = (key, place.keys[1]) if seat == 0 else (place.keys[0], key)
    card = None
    if keys[0] is not None and keys[1] is not None:
        card = open_card(pile.numbers, index, keys[0], keys[1])
        _require_unseen(card, index, _open_cards(pile))
    changed = replace(place, keys=keys, card=card)
    return replace(pile, places=(*pile.places[:index], changed, *pile.places[index + 1 :]))


def _require_due(pile: Pile, seat: int, index: int) -> None:
    if not 0 <= index < pile.top:
        raise KeyNotDue(seat, index)
    if pile.has_key(index, seat):
        raise KeyTwice(seat, index)
    if pile.places[index].holder == seat and not pile.has_key(index, 1 - seat):
        raise KeyNotDue(seat, index)


def _open_cards(pile: Pile) -> dict[int, int]:
    """The index of each card that is open to all."""
    return {place.card: index for index, place in enumerate(pile.places) if place.card is not None}


def _require_unseen(card: int, index: int, seen: dict[int, int]) -> None:
    if card in seen:
        raise CardTwice(card, seen[card], index)


# ------------------------------------------------------------------------------------------------------------- one side


@dataclass(frozen=True, slots=True)
class Player:
    """One side at the table. `seat`: 0 or 1. `hand`: index and card of each that it has drawn and not discarded."""

    seat: int
    pile: Pile
    keys: tuple[Key, ...] = field(repr=False)
    hand: tuple[tuple[int, int], ...] = field(default=(), repr=False)

    @property
    def other(self) -> int:
        """The counterparty's seat."""
        return 1 - self.seat


def sit_down(shuffle: Shuffle) -> Player:
    """A player with the shuffled deck before it. Raises `ShuffleNotFinished`."""
    if not shuffle.is_finished:
        raise ShuffleNotFinished(shuffle.step)
    return Player(shuffle.seat, Pile(shuffle.latest), shuffle.secrets.card_keys)


def draw(player: Player) -> tuple[Player, int]:
    """Ask for the card at the top: the index to ask for. Its key is then `take`n. Raises `NothingToDraw`."""
    _require_cards_left(player)
    top = player.pile.top
    return replace(player, pile=lift(player.pile, player.seat, top)), top


def hand_over(player: Player, index: int, rule: Rule) -> tuple[Player, DecryptionKey]:
    """Answer the counterparty, who asks for the card at `index`: our key for it, to be sent.

    Raises `PileEmpty`; `NotTheTop`; `DrawNotAllowed` where `rule` answers anything but True. The key has not left this
    function then. What `rule` itself raises is passed on, to the same effect.
    """
    lifted = lift(player.pile, player.other, index)
    if rule(player.pile, player.other) is not True:
        raise DrawNotAllowed(player.other, index)
    return _give(replace(player, pile=lifted), index)


def turn_up(player: Player) -> tuple[Player, DecryptionKey]:
    """Turn up the card at the top, when the game says so: our key for it, to be sent. Raises `NothingToDraw`.

    The other side does the same, and each `take`s the other's key.
    """
    _require_cards_left(player)
    top = player.pile.top
    return _give(replace(player, pile=lift(player.pile, None, top)), top)


def discard(player: Player, index: int) -> tuple[Player, DecryptionKey]:
    """Lay down the card at `index`: our key for it, with which all can see it. Raises `NotInHand`."""
    if index not in dict(player.hand):
        raise NotInHand(index)
    hand = tuple(held for held in player.hand if held[0] != index)
    return _give(replace(player, hand=hand), index)


def take(player: Player, index: int, key: DecryptionKey) -> tuple[Player, int]:
    """Accept the counterparty's key for the card at `index`, and see which card it is.

    That opens a card that we have drawn, one that it discards, or one that is turned up. Raises what `publish` raises,
    and `CardTwice` where we have the card in our hand.
    """
    pile = publish(player.pile, player.other, index, key)
    place = pile.places[index]
    if place.card is None:
        return _take_in_hand(replace(player, pile=pile), index, key)
    _require_unseen(place.card, index, _cards_in_hand(player))
    return replace(player, pile=pile), place.card


def _take_in_hand(player: Player, index: int, key: DecryptionKey) -> tuple[Player, int]:
    """A card that we have drawn: with the other's key and our own we see it, and nobody else does."""
    card = open_card(player.pile.numbers, index, key, player.keys[index].disclose())
    _require_unseen(card, index, _open_cards(player.pile) | _cards_in_hand(player))
    return replace(player, hand=(*player.hand, (index, card))), card


def _cards_in_hand(player: Player) -> dict[int, int]:
    return {card: index for index, card in player.hand}


def _give(player: Player, index: int) -> tuple[Player, DecryptionKey]:
    key = player.keys[index].disclose()
    return replace(player, pile=publish(player.pile, player.seat, index, key)), key


def _require_cards_left(player: Player) -> None:
    if player.pile.is_empty:
        raise NothingToDraw
