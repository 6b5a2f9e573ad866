"""The twin of `DealApp`: three players show a key each, shuffle twelve cards, and deal three cards to each. A position
has the newest move and the one before, so that who has missed both has all that was done since its own last one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from forcemove import AppError, Terms, VariablePart, word
from forcemove.contracts import artifact
from forcemove_games.cards.curve import ORDER, Point
from forcemove_games.cards.deck import CardWords, deck_length, encode_words_of, split_deck
from forcemove_games.cards.errors import (
    KeyRefused,
    MaskRefused,
    PointRefused,
    ScalarOutOfRange,
    ShareRefused,
    SlopeRefused,
)
from forcemove_games.cards.key_proof import KeyProof, require_key
from forcemove_games.cards.share_proof import ITEM_LENGTH, ShareItem, ShareProof, take_shares
from forcemove_games.cards.shuffle_proof import proof_length

__all__ = [
    "CARDS",
    "DEALT",
    "DECK",
    "KEYED",
    "PLAYERS",
    "SHUFFLED",
    "DealApp",
    "DealPosition",
    "given_places",
    "hand_places",
]

PLAYERS, CARDS, HAND = 3, 12, 3
KEYED, SHUFFLED, DEALT = 3, 6, 9
"""The numbers of the last moves of each kind, counted from 1."""
_PAIR = 64
_CORE = 32 + PLAYERS * _PAIR
DECK = deck_length(CARDS)
_SHUFFLE = DECK + proof_length(CARDS)
_DEAL = DECK + _PAIR + (PLAYERS - 1) * HAND * ITEM_LENGTH


@dataclass(eq=False)
class WrongLength(AppError):
    moves: int
    length: int


@dataclass(eq=False)
class WrongMoveCount(AppError):
    expected: int
    submitted: int


@dataclass(eq=False)
class KeyChanged(AppError):
    participant: int


@dataclass(eq=False)
class MoveForgotten(AppError):
    pass


@dataclass(eq=False)
class WrongDeck(AppError):
    pass


@dataclass(eq=False)
class OutcomeChanged(AppError):
    pass


_ERRORS: tuple[type[AppError], ...] = (
    WrongLength,
    WrongMoveCount,
    KeyChanged,
    MoveForgotten,
    WrongDeck,
    OutcomeChanged,
    ScalarOutOfRange,
    PointRefused,
    SlopeRefused,
    KeyRefused,
    MaskRefused,
    ShareRefused,
)


def hand_places(seat: int) -> range:
    """The indices of a participant's cards."""
    return range(HAND * seat, HAND * (seat + 1))


def given_places(seat: int) -> list[int]:
    """The indices of the cards of which a participant gives its share with its deal."""
    return [place for place in range(PLAYERS * HAND) if place not in hand_places(seat)]


def pair(data: bytes) -> tuple[int, int]:
    """Two words."""
    return int.from_bytes(data[:32], "big"), int.from_bytes(data[32:64], "big")


class DealPosition(NamedTuple):
    """`moves`: how many were made. `keys`: 64 bytes of each participant, zero before it has shown one. `before`,
    `newest`: the bytes of the last two moves."""

    moves: int
    keys: tuple[bytes, ...]
    before: bytes = b""
    newest: bytes = b""

    def encode(self) -> bytes:
        return b"".join((word(self.moves), *self.keys, self.before, self.newest))

    @classmethod
    def decode(cls, data: bytes) -> DealPosition:
        """Raises `WrongLength`."""
        if len(data) < _CORE:
            raise WrongLength(0, len(data))
        moves = int.from_bytes(data[:32], "big")
        if moves > DEALT or len(data) != _CORE + _length(moves) + _length(moves - 1):
            raise WrongLength(moves, len(data))
        ends = _CORE + _length(moves - 1)
        keys = tuple(data[at : at + _PAIR] for at in range(32, _CORE, _PAIR))
        return cls(moves, keys, data[_CORE:ends], data[ends:])

    def key_of(self, seat: int) -> Point:
        """Raises `PointRefused`."""
        key = Point.from_coordinates(*pair(self.keys[seat]))
        if key.x >= ORDER:
            raise PointRefused(key.x, key.y)
        return key


def _length(move: int) -> int:
    if move <= 0:
        return 0
    return _PAIR if move <= KEYED else _SHUFFLE if move <= SHUFFLED else _DEAL


class DealApp:
    name = "deal"
    artifact = artifact("DealApp")
    errors: ClassVar = {each.__name__: each for each in _ERRORS}

    def initial_app_data(self, terms: Terms) -> bytes:
        """No move was made."""
        return DealPosition(0, (bytes(_PAIR),) * PLAYERS).encode()

    def stake_of(self, app_data: bytes) -> int:
        return 0

    def valid_transition(self, channel_id: bytes, from_: VariablePart, to: VariablePart, num_participants: int) -> bool:
        """Every check in the contract's order."""
        old = DealPosition.decode(from_.app_data)
        new = DealPosition.decode(to.app_data)
        if new.moves != old.moves + 1:
            raise WrongMoveCount(old.moves + 1, new.moves)
        if from_.outcome != to.outcome:
            raise OutcomeChanged
        mover = to.turn_num % PLAYERS
        for seat in range(PLAYERS):
            if (new.moves > KEYED or seat != mover) and old.keys[seat] != new.keys[seat]:
                raise KeyChanged(seat)
        if new.before != old.newest:
            raise MoveForgotten
        if new.moves <= KEYED:
            require_key(new.key_of(mover), KeyProof(*pair(new.newest)), channel_id, to.turn_num)
        elif new.moves > SHUFFLED:
            _require_deal(channel_id, to.turn_num, old.newest[:DECK], new)
        return True


def _require_deal(channel_id: bytes, turn_num: int, deck: bytes, position: DealPosition) -> None:
    mover, move = turn_num % PLAYERS, position.newest
    places, cards = given_places(mover), list(split_deck(deck))
    data = move[DECK + _PAIR :]
    items = [ShareItem.decode(data[at : at + ITEM_LENGTH]) for at in range(0, len(data), ITEM_LENGTH)]
    proof = ShareProof(*pair(move[DECK:]))
    given: list[CardWords] = [cards[place] for place in places]
    taken = take_shares(position.key_of(mover), given, proof, items, channel_id, turn_num)
    for place, card in zip(places, taken, strict=True):
        cards[place] = card
    if encode_words_of(cards) != move[:DECK]:
        raise WrongDeck
