"""Masked cards and decks: the first deck, new masks, a deck's bytes and root, and reading a card.

A deck's bytes are words: the parities of all points (bit 2i of C1 of card i, bit 2i + 1 of its C2), then for each card
the x of C1 and the x of C2. Its root is that of a tree with 32 leaves, each the hash of index, C1.x, C2.x and the
card's two parities; leaves without a card are zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from forcemove import InvalidValue, MalformedBytes, keccak256, word
from forcemove_games.cards.curve import ORDER, G, Point, times_g
from forcemove_games.cards.errors import CardUnknown, PointRefused

LEAVES = 32
"""The leaves of a deck's tree."""
MAX_CARDS = 127
"""A deck's parities fit into one word."""
_EMPTY = bytes(32)


class MaskedCard(NamedTuple):
    """C1 = rG and C2 = card + rY, of a mask r that nobody may know."""

    c1: Point
    c2: Point

    @property
    def parities(self) -> int:
        """Bit 0 of C1, bit 1 of C2."""
        return self.c1.parity | self.c2.parity << 1


class CardWords(NamedTuple):
    """A masked card as a contract reads it: whether these are points, only the check of a share shows.

    - `c1x`: the x of C1.
    - `c2x`: the x of C2.
    - `parities`: bit 0 of C1's y, bit 1 of C2's.
    - `c2y`: the y of C2; 0 until a share was taken off.
    """

    c1x: int
    c2x: int
    parities: int
    c2y: int = 0

    @classmethod
    def of(cls, card: MaskedCard) -> CardWords:
        """The words of a card whose points are known."""
        return cls(card.c1.x, card.c2.x, card.parities)

    def leaf(self, index: int) -> bytes:
        """The 32 bytes of the card in the tree."""
        return keccak256(b"".join(map(word, (index, *self[:3]))))


Deck = tuple[MaskedCard, ...]
"""Masked cards, the one of index 0 first."""


@lru_cache(maxsize=MAX_CARDS)
def card_point(card: int) -> Point:
    """The point of a card (its number, from 0): (card + 1)G."""
    return times_g(card + 1)


def first_deck(cards: int, key: Point) -> Deck:
    """The deck before anybody has shuffled it: everybody knows every card. `cards`: how many, 1 to 127. `key`: the
    joint key. Raises `InvalidValue`."""
    if not 1 <= cards <= MAX_CARDS:
        raise InvalidValue("cards", cards, f"1 to {MAX_CARDS}")
    return tuple(MaskedCard(G, card_point(card) + key) for card in range(cards))


def remask(card: MaskedCard, mask: int, key: Point) -> MaskedCard:
    """The same card under another mask, more by this scalar. Raises `ScalarOutOfRange`, and `PointRefused` at
    infinity."""
    return MaskedCard(card.c1 + times_g(mask), card.c2 + key * mask)


def take_off(card: MaskedCard, share: Point) -> MaskedCard:
    """The card without one player's mask. Raises `PointRefused` at infinity."""
    return MaskedCard(card.c1, card.c2 - share)


def open_card(point: Point, cards: int) -> int:
    """The card's number, where `point` is all that is left of a masked card. Raises `CardUnknown`."""
    card = _numbers(cards).get(point)
    if card is None:
        raise CardUnknown(cards)
    return card


def require_opens(point: Point, card: int) -> None:
    """Raise `CardUnknown` unless the point is that of this card. The twin of the contract's check. `card`: a number
    that the caller has bounded: one that is more by the order stands for the same point."""
    if not (card + 1) % ORDER or point != card_point(card):  # infinity is not a card's
        raise CardUnknown(card)


@lru_cache(maxsize=4)
def _numbers(cards: int) -> dict[Point, int]:
    return {card_point(card): card for card in range(cards)}


def deck_length(cards: int) -> int:
    """The bytes of a deck of this many cards."""
    return 32 * (1 + 2 * cards)


def encode_deck(deck: Sequence[MaskedCard]) -> bytes:
    """The deck's bytes."""
    return encode_words_of(list(map(CardWords.of, deck)))


def encode_words_of(cards: Sequence[CardWords]) -> bytes:
    """The bytes of a deck by its cards' words, whose parities are 0 to 3."""
    parities = sum(each.parities << 2 * index for index, each in enumerate(cards))
    return word(parities) + b"".join(word(each.c1x) + word(each.c2x) for each in cards)


def decode_deck(data: bytes, cards: int) -> Deck:
    """The inverse of `encode_deck`. Raises `MalformedBytes` on another length or parities of cards that are not there,
    and `PointRefused` on an x of no point, and on an x of C1 that is not below the group's order: no share of such a
    card could be proved to a contract."""
    if len(data) != deck_length(cards):
        raise MalformedBytes("deck", f"it has {len(data)} bytes instead of {deck_length(cards)}")
    parities = int.from_bytes(data[:32], "big")
    if parities >> 2 * cards:
        raise MalformedBytes("deck", "it has parities of cards that are not there")
    places = range(32, len(data), 64)
    return tuple(_card(data[place : place + 64], parities >> 2 * index & 3) for index, place in enumerate(places))


def _card(data: bytes, parities: int) -> MaskedCard:
    c1 = Point.from_x(int.from_bytes(data[:32], "big"), parities & 1)
    if not 0 < c1.x < ORDER:
        raise PointRefused(c1.x, c1.parity)
    return MaskedCard(c1, Point.from_x(int.from_bytes(data[32:], "big"), parities >> 1))


def split_deck(data: bytes) -> tuple[CardWords, ...]:
    """The cards in a deck's bytes, whatever they are, as a contract reads them. `data`: as long as a deck."""
    parities, *xs = (int.from_bytes(data[at : at + 32], "big") for at in range(0, len(data), 32))
    places = range(0, len(xs), 2)
    return tuple(CardWords(xs[place], xs[place + 1], parities >> place & 3) for place in places)


def leaf(index: int, card: MaskedCard) -> bytes:
    """The 32 bytes of a card in the tree."""
    return CardWords.of(card).leaf(index)


def deck_root(deck: Sequence[MaskedCard]) -> bytes:
    """The 32 bytes at the root of the deck's tree. Raises `InvalidValue` where the deck has more than 32 cards."""
    return _levels(deck)[-1][0]


def root_of(cards: Sequence[CardWords]) -> bytes:
    """The root of a deck's tree by the cards' words. Raises `InvalidValue` where there are more than 32."""
    return _levels(cards)[-1][0]


def path_of(deck: Sequence[MaskedCard], index: int) -> tuple[bytes, ...]:
    """The five hashes that lead from a card's leaf to the root, the lowest first."""
    return tuple(level[(index >> height) ^ 1] for height, level in enumerate(_levels(deck)[:-1]))


def root_from(index: int, leaf_: bytes, path: Iterable[bytes]) -> bytes:
    """The root that a leaf and its path lead to."""
    for other in path:
        leaf_ = keccak256(other + leaf_ if index & 1 else leaf_ + other)
        index >>= 1
    return leaf_


def _levels(deck: Sequence[MaskedCard | CardWords]) -> list[list[bytes]]:
    if len(deck) > LEAVES:
        raise InvalidValue("cards", len(deck), f"at most {LEAVES}, for a tree")
    words = (card if isinstance(card, CardWords) else CardWords.of(card) for card in deck)
    levels = [[card.leaf(index) for index, card in enumerate(words)] + [_EMPTY] * (LEAVES - len(deck))]
    while len(levels[-1]) > 1:
        below = levels[-1]
        levels.append([keccak256(below[at] + below[at + 1]) for at in range(0, len(below), 2)])
    return levels
