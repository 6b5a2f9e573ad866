"""What follows the core of a position of Discard: proofs, the masked deck, and cards with their shares.

Values and their bytes, as they stand in appData, by the type of the position. What they prove is checked by `rules` and
by players: a value here may hold any numbers. Knows no core.
"""

from __future__ import annotations

from typing import NamedTuple

from forcemove import LabelledEnum
from forcemove_games.cards.deck import CardWords, deck_length
from forcemove_games.cards.key_proof import KeyProof
from forcemove_games.cards.share_proof import ITEM_LENGTH, ShareItem, ShareProof
from forcemove_games.cards.shuffle_proof import proof_length
from forcemove_games.discard_sra.cards import SIZE
from forcemove_games.two_player import encode_words

__all__ = [
    "DEAL_ITEMS",
    "DECK_LENGTH",
    "HAND_SIZE",
    "PROOF_LENGTH",
    "SHOWN_AT_ONCE",
    "TOP_INDEX",
    "DealtShares",
    "MoveShares",
    "PositionType",
    "ShownCard",
    "ShownCards",
    "ShuffledDeck",
    "Tail",
    "TouchedCard",
    "decode_tail",
    "encode_tail",
    "tail_length",
]

HAND_SIZE = 5
"""How many cards each side is dealt: indices 0 to 4 of the deck to A, who shows the first key, 5 to 9 to B."""
TOP_INDEX = 2 * HAND_SIZE
"""The index of the card that is turned up."""
DEAL_ITEMS = HAND_SIZE + 1
"""The shares of a deal: of the other's hand, and of the card that is turned up."""
SHOWN_AT_ONCE = 4
"""How many cards one move of showing has, unless fewer are left."""
DECK_LENGTH = deck_length(SIZE)
"""Bytes of a deck."""
PROOF_LENGTH = proof_length(SIZE)
"""Bytes of the proof of a shuffle."""
_PAIR_LENGTH = 64
"""Bytes of the c and s of a proof."""
_CARD_LENGTH = 3 * 32
_PATH_LENGTH = 5 * 32
_TOUCHED_LENGTH = _CARD_LENGTH + ITEM_LENGTH + _PATH_LENGTH
"""Bytes of a card of which a move has a share."""
_SHOWN_LENGTH = 32 + _TOUCHED_LENGTH
"""Bytes of a card that is shown: its number stands before it."""


class PositionType(LabelledEnum):
    """What the mover of the state has done."""

    READY = 0
    KEYED_FIRST = 1
    KEYED = 2
    SHUFFLED_FIRST = 3
    SHUFFLED = 4
    DEALT_FIRST = 5
    DEALT = 6
    PLAYING = 7
    OVER = 8
    SHOWING = 9
    TIED = 10


_KEYED = (PositionType.KEYED_FIRST, PositionType.KEYED)
_SHUFFLED = (PositionType.SHUFFLED_FIRST, PositionType.SHUFFLED)
_DEALT = (PositionType.DEALT_FIRST, PositionType.DEALT)
_IN_PLAY = (PositionType.PLAYING, PositionType.OVER)
_SHOWN = (PositionType.SHOWING, PositionType.TIED)


class ShuffledDeck(NamedTuple):
    """What follows in `SHUFFLED_FIRST` and `SHUFFLED`, as bytes: no contract looks into them. `deck`: 1,568 bytes, as
    `forcemove_games.cards.deck` reads them. `proof`: 3,280 bytes, of the shuffle."""

    deck: bytes
    proof: bytes

    def encode(self) -> bytes:
        """The 4,848 bytes."""
        return self.deck + self.proof


class DealtShares(NamedTuple):
    """What follows in `DEALT_FIRST` and `DEALT`: shares of the other's hand and of the card that is turned up.

    - `deck`: in `DEALT_FIRST` the deck's bytes with A's shares taken off; no bytes in `DEALT`.
    - `proof`: one for all shares.
    - `items`: six, by rising index of their cards.
    """

    deck: bytes
    proof: ShareProof
    items: tuple[ShareItem, ...]

    def encode(self) -> bytes:
        """The bytes in the order of the fields."""
        return self.deck + encode_words(*self.proof) + b"".join(item.encode() for item in self.items)


class TouchedCard(NamedTuple):
    """A card of which a move has a share. `card`: as it is in the deck. `item`: the share. `path`: the five hashes from
    its leaf to the root in the state before the move, the lowest first."""

    card: CardWords
    item: ShareItem
    path: tuple[bytes, ...]

    def encode(self) -> bytes:
        """The 544 bytes: 17 words."""
        return encode_words(*self.card[:3]) + self.item.encode() + b"".join(self.path)

    @classmethod
    def decode(cls, data: bytes) -> TouchedCard:
        """The inverse of `encode`. `data`: 544 bytes."""
        card = CardWords(*(int.from_bytes(data[at : at + 32], "big") for at in (0, 32, 64)))
        item = ShareItem.decode(data[_CARD_LENGTH : _CARD_LENGTH + ITEM_LENGTH])
        path = tuple(data[at : at + 32] for at in range(_CARD_LENGTH + ITEM_LENGTH, _TOUCHED_LENGTH, 32))
        return cls(card, item, path)


class MoveShares(NamedTuple):
    """What follows in `PLAYING` and `OVER` where the move has shares. `proof`: one for both. `shared`: the card that
    the other has drawn. `laid`: the card that the mover lays."""

    proof: ShareProof
    shared: TouchedCard | None
    laid: TouchedCard | None

    @property
    def touched(self) -> tuple[TouchedCard, ...]:
        """The cards, in the order of the fields."""
        return tuple(card for card in (self.shared, self.laid) if card is not None)

    def encode(self) -> bytes:
        """The bytes in the order of the fields."""
        return encode_words(*self.proof) + b"".join(card.encode() for card in self.touched)


class ShownCard(NamedTuple):
    """A card that a player shows after the hand. `number`: the card, 0 to 23 if it is honest."""

    number: int
    touched: TouchedCard


class ShownCards(NamedTuple):
    """What follows in `SHOWING` and `TIED` where the mover has cards left: 1 to 4, by rising index. `proof`: one for
    all."""

    proof: ShareProof
    cards: tuple[ShownCard, ...]

    def encode(self) -> bytes:
        """The bytes in the order of the fields."""
        cards = (encode_words(card.number) + card.touched.encode() for card in self.cards)
        return encode_words(*self.proof) + b"".join(cards)


Tail = KeyProof | ShuffledDeck | DealtShares | MoveShares | ShownCards | None
"""What follows the core."""


def tail_length(kind: PositionType, shared: int, laid: int) -> int:
    """The bytes that follow a core with this type and these two words."""
    touched = bool(shared) + bool(laid)
    if kind in _KEYED:
        return _PAIR_LENGTH
    if kind in _SHUFFLED:
        return DECK_LENGTH + PROOF_LENGTH
    if kind in _DEALT:
        deck = DECK_LENGTH if kind is PositionType.DEALT_FIRST else 0
        return deck + _PAIR_LENGTH + DEAL_ITEMS * ITEM_LENGTH
    if kind in _IN_PLAY and touched:
        return _PAIR_LENGTH + touched * _TOUCHED_LENGTH
    return _PAIR_LENGTH + laid * _SHOWN_LENGTH if laid else 0


def decode_tail(kind: PositionType, shared: int, laid: int, data: bytes) -> Tail:
    """What follows a core with this type and these two words. `data`: as many bytes as `tail_length` says."""
    if not data:
        return None
    if kind in _KEYED:
        return KeyProof(*_pair(data))
    if kind in _SHUFFLED:
        return ShuffledDeck(data[:DECK_LENGTH], data[DECK_LENGTH:])
    if kind in _DEALT:
        deck, data = (data[:-_DEAL_LENGTH], data[-_DEAL_LENGTH:])
        return DealtShares(deck, ShareProof(*_pair(data)), tuple(map(ShareItem.decode, _split(data, ITEM_LENGTH))))
    proof = ShareProof(*_pair(data))
    if kind in _SHOWN:
        shown = ((int.from_bytes(each[:32], "big"), each[32:]) for each in _split(data, _SHOWN_LENGTH))
        return ShownCards(proof, tuple(ShownCard(number, TouchedCard.decode(each)) for number, each in shown))
    touched = map(TouchedCard.decode, _split(data, _TOUCHED_LENGTH))
    return MoveShares(proof, next(touched) if shared else None, next(touched) if laid else None)


_DEAL_LENGTH = _PAIR_LENGTH + DEAL_ITEMS * ITEM_LENGTH


def _pair(data: bytes) -> tuple[int, int]:
    return int.from_bytes(data[:32], "big"), int.from_bytes(data[32:64], "big")


def _split(data: bytes, length: int) -> list[bytes]:
    """What stands behind a proof's c and s, in parts of one length."""
    return [data[at : at + length] for at in range(_PAIR_LENGTH, len(data), length)]


def encode_tail(tail: Tail) -> bytes:
    """The bytes of what follows the core."""
    if tail is None:
        return b""
    return encode_words(*tail) if isinstance(tail, KeyProof) else tail.encode()
