"""The 24 cards of Discard: 9 to ace in four suits, as numbers 0 to 23. Pure; knows no other module."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["HAND", "PLAIN_SUITS", "SIZE", "SUITS", "VALUES", "fits", "name", "names", "suit", "value"]

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
