"""The 24 cards of Discard: 9 to ace in four suits, as numbers 0 to 23. Pure; knows no other module."""

from __future__ import annotations

from collections.abc import Collection, Iterable

VALUES = ("9", "10", "J", "Q", "K", "A")
SUITS = "♠♥♦♣"
PLAIN_SUITS = "shdc"
"""For terminals that have no signs for suits."""
SIZE = len(VALUES) * len(SUITS)
HAND = 5
"""How many cards each side is dealt."""


def suit(card: int) -> int:
    """0 to 3: spades, hearts, diamonds, clubs."""
    return card // len(VALUES)


def value(card: int) -> int:
    """0 to 5: 9 to ace."""
    return card % len(VALUES)


def fits(card: int, top: int) -> bool:
    """Whether a card may be laid on another one: the same suit, or the same value."""
    return suit(card) == suit(top) or value(card) == value(top)


def name(card: int, suits: str = SUITS) -> str:
    """What a card is called, such as `10♥`, or `10h` with `PLAIN_SUITS`."""
    return VALUES[value(card)] + suits[suit(card)]


def names(cards: Iterable[int], suits: str = SUITS) -> str:
    """Several cards, in the order of their suits and values."""
    return " ".join(name(card, suits) for card in sorted(cards))


def count_text(count: int) -> str:
    """A number of cards in words, such as `no cards`."""
    return "1 card" if count == 1 else f"{count or 'no'} cards"


def worth(laid: int, hand: Collection[int], gone: Collection[int]) -> tuple[int, int, int]:
    """How good it is to lay a card of a hand: the fewest cards that the other may hold fit on it, then we keep the most
    suits, then the most values. `gone`: the cards that the other does not hold, those of the hand aside."""
    answers = sum(fits(card, laid) for card in range(SIZE) if card not in gone and card not in hand)
    kept = [card for card in hand if card != laid]
    return -answers, len(set(map(suit, kept))), len(set(map(value, kept)))
