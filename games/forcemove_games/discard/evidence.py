"""The evidence of a state of Discard: proofs, shares, and cards with their paths, as values and as bytes.

Which there is follows from the position: its type, and in play the words shared and laid. What evidence proves is
checked by `rules`, and of a shuffle by players: a value here may hold any numbers.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from forcemove import Move, VariablePart
from forcemove_games.cards.deck import CardWords
from forcemove_games.cards.key_proof import KeyProof
from forcemove_games.cards.share_proof import ITEM_LENGTH, ShareItem, ShareProof
from forcemove_games.cards.shuffle_proof import proof_length
from forcemove_games.discard.errors import WrongEvidenceLength
from forcemove_games.discard.position import DEAL_ITEMS, Core, PositionType, decode
from forcemove_games.discard_sra.cards import SIZE
from forcemove_games.two_player import DECODED_POSITIONS, encode_words

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
_KEYED = (PositionType.KEYED_FIRST, PositionType.KEYED)
_SHUFFLED = (PositionType.SHUFFLED_FIRST, PositionType.SHUFFLED)
_DEALT = (PositionType.DEALT_FIRST, PositionType.DEALT)
_IN_PLAY = (PositionType.PLAYING, PositionType.OVER)
_SHOWN = (PositionType.SHOWING, PositionType.TIED)


class ShuffleProof(NamedTuple):
    """In `SHUFFLED_FIRST` and `SHUFFLED`: the 3,280 bytes of a proof. No contract looks into them."""

    proof: bytes

    def encode(self) -> bytes:
        """The bytes as they are."""
        return self.proof


class DealtShares(NamedTuple):
    """In `DEALT_FIRST` and `DEALT`: shares of the other's hand and of the card that is turned up. `proof`: one for all
    shares. `items`: six, by rising index of their cards."""

    proof: ShareProof
    items: tuple[ShareItem, ...]

    def encode(self) -> bytes:
        """The bytes in the order of the fields."""
        return encode_words(*self.proof) + b"".join(item.encode() for item in self.items)


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
    """In `PLAYING` and `OVER` where the move has shares. `proof`: one for both. `shared`: the card that the other has
    drawn. `laid`: the card that the mover lays."""

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
    """In `SHOWING` and `TIED` where the mover has cards left: 1 to 4, by rising index. `proof`: one for all."""

    proof: ShareProof
    cards: tuple[ShownCard, ...]

    def encode(self) -> bytes:
        """The bytes in the order of the fields."""
        cards = (encode_words(card.number) + card.touched.encode() for card in self.cards)
        return encode_words(*self.proof) + b"".join(cards)


Evidence = KeyProof | ShuffleProof | DealtShares | MoveShares | ShownCards | None
"""What a move is shown to be right by; None where nothing has to be shown."""


def _length(core: Core) -> int:
    """The bytes of the evidence of a position."""
    kind, touched = core.position_type, bool(core.shared) + bool(core.laid)
    if kind in _KEYED:
        return _PAIR_LENGTH
    if kind in _SHUFFLED:
        return PROOF_LENGTH
    if kind in _DEALT:
        return _PAIR_LENGTH + DEAL_ITEMS * ITEM_LENGTH
    if kind in _IN_PLAY and touched:
        return _PAIR_LENGTH + touched * _TOUCHED_LENGTH
    return _PAIR_LENGTH + core.laid * _SHOWN_LENGTH if core.laid else 0


@lru_cache(maxsize=DECODED_POSITIONS)
def decode_evidence(core: Core, evidence: bytes) -> Evidence:
    """The evidence of a state whose position has this core. Raises `WrongEvidenceLength`."""
    if len(evidence) != _length(core):
        raise WrongEvidenceLength(_length(core), len(evidence))
    kind = core.position_type
    if not evidence:
        return None
    if kind in _SHUFFLED:
        return ShuffleProof(evidence)
    c, s = (int.from_bytes(evidence[at : at + 32], "big") for at in (0, 32))
    if kind in _KEYED:
        return KeyProof(c, s)
    proof = ShareProof(c, s)
    if kind in _DEALT:
        return DealtShares(proof, tuple(map(ShareItem.decode, _split(evidence, ITEM_LENGTH))))
    if kind in _SHOWN:
        shown = ((int.from_bytes(each[:32], "big"), each[32:]) for each in _split(evidence, _SHOWN_LENGTH))
        return ShownCards(proof, tuple(ShownCard(number, TouchedCard.decode(each)) for number, each in shown))
    touched = map(TouchedCard.decode, _split(evidence, _TOUCHED_LENGTH))
    return MoveShares(proof, next(touched) if core.shared else None, next(touched) if core.laid else None)


def evidence_of(state: VariablePart | Move) -> Evidence:
    """The evidence of a state that is not final, or of a move to one. Raises what `decode` raises, then
    `WrongEvidenceLength`."""
    return decode_evidence(decode(state.app_data).core, state.evidence)


def encode_evidence(evidence: Evidence) -> bytes:
    """The bytes of evidence."""
    if evidence is None:
        return b""
    return encode_words(*evidence) if isinstance(evidence, KeyProof) else evidence.encode()


def _split(data: bytes, length: int) -> list[bytes]:
    """What stands behind a proof's c and s, in parts of one length."""
    return [data[at : at + length] for at in range(_PAIR_LENGTH, len(data), length)]
