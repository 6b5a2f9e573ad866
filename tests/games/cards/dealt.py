"""Players with keys and decks, for the tests of cards: everything follows from labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import shake_256
from itertools import count

from forcemove_games.cards import curve, key_proof, shuffle_proof
from forcemove_games.cards.deck import Deck, first_deck
from forcemove_games.randomness import Randomness

__all__ = ["ABOVE_ORDER", "CHANNEL", "TURN", "Party", "stream"]

CHANNEL = bytes(range(32))
TURN = 12


def _above_order() -> tuple[int, int]:
    x = curve.ORDER
    while pow(x**3 + 7, (curve.FIELD - 1) // 2, curve.FIELD) != 1:
        x += 1
    return x, pow(x**3 + 7, (curve.FIELD + 1) // 4, curve.FIELD)


ABOVE_ORDER = _above_order()
"""x and y of a point whose x is the order or more: `ecrecover` takes no such x."""


def stream(label: str) -> Randomness:
    """Bytes that follow from a label, other ones at each call."""
    draws = count()
    return lambda length: shake_256(f"{label} {next(draws)}".encode()).digest(length)


@dataclass(frozen=True)
class Party:
    """Players around a deck. `secrets`: of their keys."""

    secrets: Sequence[int]
    keys: Sequence[curve.Point]
    joint: curve.Point

    @classmethod
    def of(cls, players: int, label: str = "party") -> Party:
        draw = stream(label)
        secrets = [curve.fresh_scalar(draw) for _ in range(players)]
        keys = [key_proof.prove_key(secret, CHANNEL, turn, draw)[0] for turn, secret in enumerate(secrets)]
        return cls(secrets, keys, key_proof.joint_key(keys))

    def first(self, cards: int) -> Deck:
        return first_deck(cards, self.joint)

    def shuffled(self, cards: int, label: str = "deck") -> Deck:
        """Shuffled by every player."""
        deck = self.first(cards)
        for turn in range(len(self.keys)):
            deck, _ = shuffle_proof.shuffle(deck, self.joint, CHANNEL, turn, stream(f"{label} {turn}"))
        return deck
