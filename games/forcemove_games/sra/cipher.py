"""SRA's cipher: cards as numbers, and keys that encrypt them in any order.

To encrypt is to raise to a secret power modulo p, so that keys commute: (x^a)^b = (x^b)^a, and the client that
encrypted first can decrypt first. What this does not change in a number, everybody can see. What follows from that:

**Numbers of cards are squares.** Exponents are odd, so a non-square stays one: each card would tell a bit of itself.

**Numbers of cards are hashed.** Raising to a power keeps products: if 2 * 3 = 6 holds among the cards' numbers, it
holds among their ciphers, and betrays three cards in a deck that is encrypted with one key. It keeps powers, too: if
4 = 2^2, then the owner of the key k that opens a 2 can show 2k modulo q instead and has opened a 4. So there must be no
relation c1^k1 * c2^k2 * ... = 1 that anybody knows, with exponents that are not all zero modulo q. Here a card's
number is the square of a SHAKE256 output, 128 bits longer than p and reduced modulo p: within 2^-128 a uniform
square. Seen as a random oracle, it hides every discrete logarithm from everybody, those who chose the encoding
included; and finding such a relation among random squares is finding discrete logarithms. Numbers with a pattern
(card + 2, powers of a generator, squares of small numbers) come with relations that everybody knows.

**Exponents are of full size**, uniform over all that are valid. Of the odd numbers below 2q exactly one is congruent
to each residue modulo q; so a uniform odd exponent is a uniform automorphism of the squares, and a card under a fresh
key is a uniform square, whatever the card (but 1, the card itself and its inverse, which no draw will ever meet). That
is why one cipher alone says nothing at all. Short exponents would rest on one more assumption and save little, since
inverses and merged exponents are long in any case.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import shake_256
from types import MappingProxyType
from typing import NoReturn

from forcemove import InvalidValue
from forcemove_games.randomness import Randomness, system_randomness
from forcemove_games.sra import arithmetic
from forcemove_games.sra.faults import InvalidExponent

MIN_CARDS = 2
MAX_CARDS = 120
"""As hex, a deck of this many cards still fits into one action on the log."""

_DOMAIN = b"forcemove/sra/card/1:"
_HASH_LENGTH = arithmetic.NUMBER_LENGTH + 16


def card_number(card: int) -> int:
    """The public number of a card, 0 to 119: (SHAKE256(domain, card as 2 bytes big-endian; 272 bytes) mod p)^2 mod p.

    The domain is the ASCII text `forcemove/sra/card/1:`. Raises `InvalidValue` on other cards.
    """
    if type(card) is not int or not 0 <= card < MAX_CARDS:
        raise InvalidValue("card", card, f"an integer from 0 to {MAX_CARDS - 1}")
    hashed = shake_256(_DOMAIN + card.to_bytes(2, "big")).digest(_HASH_LENGTH)
    return arithmetic.power(int.from_bytes(hashed, "big"), 2)


@lru_cache(maxsize=16)
def card_numbers(size: int) -> arithmetic.Numbers:
    """The numbers of cards 0 to size - 1, all different. Raises `InvalidValue` unless there are 2 to 120."""
    require_size(size)
    return tuple(map(card_number, range(size)))


def require_size(size: int) -> None:
    """Raise `InvalidValue` unless a deck can have this many cards: 2 to 120."""
    if type(size) is not int or not MIN_CARDS <= size <= MAX_CARDS:
        raise InvalidValue("size", size, f"{MIN_CARDS} to {MAX_CARDS} cards")


def find_card(number: int, size: int) -> int | None:
    """Which card of a deck of `size` has this number, None if it is not a card of it."""
    return _cards(size).get(number)


@lru_cache(maxsize=16)
def _cards(size: int) -> Mapping[int, int]:
    return MappingProxyType({number: card for card, number in enumerate(card_numbers(size))})


@dataclass(frozen=True, slots=True)
class DecryptionKey:
    """The half of a key that its owner gives away to open a card; it reveals everything about this one card. Not in its
    repr.

    Raises `InvalidExponent` unless `arithmetic.is_exponent` holds for the exponent.
    """

    exponent: int = field(repr=False)

    def __post_init__(self) -> None:
        if not arithmetic.is_exponent(self.exponent):
            raise InvalidExponent(self.exponent)

    def encode(self) -> str:
        """512 lower-case hex digits."""
        return arithmetic.encode_number(self.exponent)

    @classmethod
    def decode(cls, text: str) -> DecryptionKey:
        """The inverse of `encode`. Raises `MalformedBytes` on other texts, `InvalidExponent` on an exponent that is
        not a key."""
        return cls(arithmetic.decode_number(text))


class CipherKey:
    """A secret exponent. It is in no repr, and it refuses to be pickled, copied or made into JSON."""

    __slots__ = ("_exponent",)

    def __init__(self, exponent: int) -> None:
        """From an exponent that is known already. Raises `InvalidValue`, which does not show it."""
        if not arithmetic.is_exponent(exponent):
            raise InvalidValue("exponent", "hidden", "odd, from 3 to p - 4, and not (p - 1) / 2")
        self._exponent = exponent

    @classmethod
    def fresh(cls, randomness: Randomness = system_randomness) -> CipherKey:
        """A key that nobody had before, each as likely as the others.

        Setting the last bit makes two numbers one, for every odd one alike; what is not valid then is drawn again.
        """
        while not arithmetic.is_exponent(exponent := _random_number(randomness) | 1):
            pass
        return cls(exponent)

    def encrypt(self, number: int) -> int:
        """The number under this key."""
        return arithmetic.power(number, self._exponent)

    def decrypt(self, number: int) -> int:
        """The number without this key."""
        return arithmetic.power(number, arithmetic.inverse(self._exponent))

    def replaced_by(self, other: CipherKey) -> CipherKey:
        """The key that decrypts with this key and encrypts with the other, at the price of one power."""
        return CipherKey(arithmetic.product(arithmetic.inverse(self._exponent), other._exponent))

    def disclose(self) -> DecryptionKey:
        """The key by which others can decrypt what is encrypted with this key."""
        return DecryptionKey(arithmetic.inverse(self._exponent))

    def __repr__(self) -> str:
        return "Key()"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a private key is not to be pickled or copied")


def _random_number(randomness: Randomness) -> int:
    drawn = randomness(arithmetic.NUMBER_LENGTH)
    if len(drawn) != arithmetic.NUMBER_LENGTH:  # a short draw would be a weak key, and nobody would notice
        raise InvalidValue("randomness", len(drawn), f"exactly {arithmetic.NUMBER_LENGTH} bytes")
    return int.from_bytes(drawn, "big")


def open_number(number: int, first: DecryptionKey, second: DecryptionKey) -> int:
    """The number without the keys of both, at the price of one power."""
    return arithmetic.power(number, arithmetic.product(first.exponent, second.exponent))
