"""What a player of Discard must not lose: the seed of each hand, and the masked deck as of its last moves. Pure.

A hand's key, its shuffle and all its proofs follow from the seed and the state that is answered. So a player that is
asked twice answers with the same bytes, and no nonce serves for two statements.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from forcemove import LocalError, MalformedBytes, VariablePart, keccak256, word
from forcemove_games.cards.curve import fresh_scalar, times_g
from forcemove_games.discard.position import DECK_LENGTH, KeyWords
from forcemove_games.randomness import Randomness, seeded

_VERSION = 1
_TURN, _SEED = 6, 32
_KEPT = 2
"""How many seeds and decks are kept, the newest: those before and after a move."""


class HandSecretsLost(LocalError):
    """We cannot go on in hand `hand` (from 0), because `what` is not among our secrets: they were lost, or are those of
    another player."""

    what: str
    hand: int


@dataclass(frozen=True)
class HandSeed:
    """32 secret bytes, drawn for the hand whose key is shown on turn `turn_num`."""

    turn_num: int
    secret: bytes = field(repr=False)

    @cached_property
    def key(self) -> int:
        """The secret scalar of the hand's key."""
        return fresh_scalar(seeded(self.secret, b"key"))

    @cached_property
    def public(self) -> KeyWords:
        """x and y of the key."""
        point = times_g(self.key)
        return point.x, point.y

    def source(self, what: str, state: VariablePart) -> Randomness:
        """Bytes for one part of the answer to a state: the same for the same state, and others for each other one."""
        said = keccak256(state.app_data + state.evidence)  # a position says by itself where it ends
        return seeded(self.secret, what.encode() + word(state.turn_num) + said)


@dataclass(frozen=True)
class HandSecrets:
    """A player's secrets in one channel. `seeds`: the newest last. `decks`: by the turn of the state that they belong
    to, the masked deck's bytes, the newest last."""

    seeds: tuple[HandSeed, ...] = field(default=(), repr=False)
    decks: tuple[tuple[int, bytes], ...] = field(default=(), repr=False)

    def seed_of(self, turn_num: int) -> HandSeed | None:
        """The seed that was drawn for the key of this turn."""
        return next((each for each in self.seeds if each.turn_num == turn_num), None)

    def seed_with(self, key: KeyWords) -> HandSeed | None:
        """The seed of this key."""
        return next((each for each in self.seeds if each.public == key), None)

    def deck_of(self, turn_num: int) -> bytes | None:
        """The masked deck as of the state of this turn."""
        return dict(self.decks).get(turn_num)

    def with_seed(self, seed: HandSeed) -> HandSecrets:
        """With a new seed, whose turn has none yet."""
        return HandSecrets((*self.seeds, seed)[-_KEPT:], self.decks)

    def with_deck(self, turn_num: int, deck: bytes) -> HandSecrets:
        """With the deck as of the state of this turn, in place of one that was there."""
        others = tuple(each for each in self.decks if each[0] != turn_num)
        return HandSecrets(self.seeds, (*others, (turn_num, deck))[-_KEPT:])

    def encode(self) -> bytes:
        """The bytes: a version, the numbers of seeds and decks, and each with its turn. At most 3.3 kB."""
        seeds = b"".join(each.turn_num.to_bytes(_TURN, "big") + each.secret for each in self.seeds)
        decks = b"".join(turn_num.to_bytes(_TURN, "big") + deck for turn_num, deck in self.decks)
        return bytes((_VERSION, len(self.seeds), len(self.decks))) + seeds + decks if self.seeds else b""

    @classmethod
    def decode(cls, data: bytes) -> HandSecrets:
        """The inverse of `encode`; of no bytes, no secrets. Raises `MalformedBytes`."""
        if not data:
            return cls()
        version, seeds, decks = (*data[:3], 0, 0, 0)[:3]
        ends = 3 + seeds * (_TURN + _SEED)
        if version != _VERSION or max(seeds, decks) > _KEPT or len(data) != ends + decks * (_TURN + DECK_LENGTH):
            raise MalformedBytes("secrets", f"{len(data)} bytes are not those of a player of Discard")
        return cls(
            tuple(HandSeed(*each) for each in _split(data[3:ends], _SEED)), tuple(_split(data[ends:], DECK_LENGTH))
        )


def _split(data: bytes, length: int) -> list[tuple[int, bytes]]:
    """Turns, each with this many bytes."""
    whole = _TURN + length
    parts = (data[at : at + whole] for at in range(0, len(data), whole))
    return [(int.from_bytes(each[:_TURN], "big"), each[_TURN:]) for each in parts]
