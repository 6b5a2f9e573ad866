"""Decks that no honest client sends, and what is wrong with each."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from forcemove_games.sra.arithmetic import MODULUS, Numbers, is_square
from forcemove_games.sra.cipher import card_numbers
from forcemove_games.sra.faults import CardFault, NotASquare, NotEncrypted, NumberOutOfRange, NumberTwice, WrongCount
from tests.games.sra.shuffled import SIZE

NO_SQUARE = next(number for number in range(2, 100) if not is_square(number))

Forge = Callable[[Numbers], Sequence[int]]

FORGED: dict[str, tuple[Forge, CardFault]] = {
    "no card": (lambda _: (), WrongCount(SIZE, 0)),
    "a card dropped": (lambda deck: deck[1:], WrongCount(SIZE, SIZE - 1)),
    "a card added": (lambda deck: (*deck, 4), WrongCount(SIZE, SIZE + 1)),
    "zero": (lambda deck: (0, *deck[1:]), NumberOutOfRange(0, 0)),
    "one, which no key changes": (lambda deck: (*deck[:-1], 1), NumberOutOfRange(SIZE - 1, 1)),
    "p - 1, which no key changes": (lambda deck: (MODULUS - 1, *deck[1:]), NumberOutOfRange(0, MODULUS - 1)),
    "p": (lambda deck: (MODULUS, *deck[1:]), NumberOutOfRange(0, MODULUS)),
    "above p": (lambda deck: (MODULUS + 4, *deck[1:]), NumberOutOfRange(0, MODULUS + 4)),
    "negative": (lambda deck: (-4, *deck[1:]), NumberOutOfRange(0, -4)),
    "a bool": (lambda deck: (True, *deck[1:]), NumberOutOfRange(0, True)),
    "no square": (lambda deck: (NO_SQUARE, *deck[1:]), NotASquare(0, NO_SQUARE)),
    "a card twice": (lambda deck: (*deck[:-1], deck[0]), NumberTwice(0, SIZE - 1)),
    "one card only": (lambda deck: deck[:1] * SIZE, NumberTwice(0, 1)),
    "the open cards": (lambda _: card_numbers(SIZE), NotEncrypted(0, None)),
    "one open card": (lambda deck: (*deck[:-1], card_numbers(SIZE)[2]), NotEncrypted(SIZE - 1, None)),
}
