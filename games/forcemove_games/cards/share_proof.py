"""Proofs that shares of masked cards were made with the secret of a key (Chaum and Pedersen), one for several cards.

The share of a card is D = sk C1. The proof is (c, s) with, for W = sC1 - cD of each card,
c = H(context, K, address(sG - cK), and for each card C1.x, the parity of C1.y, D, W).

A contract cannot multiply points, but `ecrecover` compares an address with that of a multiple. So each share comes as
an item of nine words with what is multiplied written out: D, W1 = sC1, W2 = cD, the slope of the line through W1 and
-W2 that makes W of them; and to take the share off, C2.y and the slope of the line through C2 and -D. Every address is
compared with one that was fixed before c was known, so that forging a proof means to hit 160 bits, not to find a
collision.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from forcemove import MalformedBytes, keccak256, word
from forcemove_games.cards.curve import FIELD, ORDER, Point, inverse, require_scalar, require_secret, times_g
from forcemove_games.cards.deck import CardWords, MaskedCard
from forcemove_games.cards.errors import MaskRefused, PointRefused, ShareRefused, SlopeRefused
from forcemove_games.cards.hashing import Tag, address_word, context, hash_to_scalar
from forcemove_games.randomness import Randomness, system_randomness

ITEM_LENGTH = 9 * 32
"""Bytes of an item."""


class ShareProof(NamedTuple):
    """c and s, each from 1 to the order less 1."""

    challenge: int
    response: int


class ShareItem(NamedTuple):
    """One share, and what a contract needs to check it. Coordinates and slopes are below the field's prime.

    - `dx`, `dy`: of D, the share.
    - `w1x`, `w1y`: of W1 = sC1.
    - `w2x`, `w2y`: of W2 = cD.
    - `slope`: of the line through W1 and -W2.
    - `c2y`: of the card's C2.
    - `off_slope`: of the line through C2 and -D.
    """

    dx: int
    dy: int
    w1x: int
    w1y: int
    w2x: int
    w2y: int
    slope: int
    c2y: int
    off_slope: int

    def encode(self) -> bytes:
        """The 288 bytes: nine words in the order of the fields."""
        return b"".join(map(word, self))

    @classmethod
    def decode(cls, data: bytes) -> ShareItem:
        """The inverse of `encode`. Raises `MalformedBytes` on another length."""
        if len(data) != ITEM_LENGTH:
            raise MalformedBytes("share", f"it has {len(data)} bytes instead of {ITEM_LENGTH}")
        return cls(*(int.from_bytes(data[at : at + 32], "big") for at in range(0, ITEM_LENGTH, 32)))


def share_of(secret: int, card: MaskedCard) -> Point:
    """D = sk C1. Raises `ScalarOutOfRange`."""
    return card.c1 * secret


def prove_shares(
    secret: int,
    cards: Sequence[MaskedCard],
    channel_id: bytes,
    turn_num: int,
    randomness: Randomness = system_randomness,
) -> tuple[ShareProof, tuple[ShareItem, ...]]:
    """Shares of these cards, with one proof. Raises `ScalarOutOfRange`, and `PointRefused` where a share cannot be
    taken off, of a card that is not a card of an honest deck.

    - `secret`: of our key.
    - `cards`: masked cards, at least one.
    - `channel_id`: 32 bytes.
    - `turn_num`: of the state that the proof is in.
    - `randomness`: fresh bytes; the nonce depends on the secret and the statement, too, so that equal bytes for two
      statements give nothing away.
    """
    require_secret(secret)
    key, about = times_g(secret), context(Tag.SHARE, channel_id, turn_num)
    shares = [share_of(secret, card) for card in cards]
    statement = b"".join(_stated(card, share) for card, share in zip(cards, shares, strict=True))
    while True:
        nonce = hash_to_scalar(Tag.NONCE.bytes, word(secret), about, key.words, statement, randomness(32))
        if not nonce:
            continue
        rows = [_row(card, share, card.c1 * nonce) for card, share in zip(cards, shares, strict=True)]
        challenge = _challenge(about, key, times_g(nonce), rows)
        response = (nonce + challenge * secret) % ORDER
        if challenge and response:
            proof = ShareProof(challenge, response)
            return proof, tuple(_item(card, share, proof) for card, share in zip(cards, shares, strict=True))


def require_shares(
    key: Point,
    cards: Sequence[MaskedCard],
    proof: ShareProof,
    items: Sequence[ShareItem],
    channel_id: bytes,
    turn_num: int,
) -> tuple[MaskedCard, ...]:
    """The cards without these shares, if the proof holds; every check in the contract's order.

    - `key`: whose shares they are.
    - `cards`: the masked cards.
    - `proof`: one for all items.
    - `items`: one for each card.
    - `channel_id`: 32 bytes.
    - `turn_num`: of the state that the proof is in.

    Raises `ScalarOutOfRange`, `PointRefused`, `MaskRefused`, `SlopeRefused`, `ShareRefused`; and `MalformedBytes` where
    there are not as many items as cards.
    """
    if not cards:
        raise MalformedBytes("shares", f"there are {len(items)} of no card")
    taken = take_shares(key, list(map(CardWords.of, cards)), proof, items, channel_id, turn_num)
    return tuple(
        MaskedCard(card.c1, Point.from_coordinates(words.c2x, words.c2y))
        for card, words in zip(cards, taken, strict=True)
    )


def take_shares(
    key: Point,
    cards: Sequence[CardWords],
    proof: ShareProof,
    items: Sequence[ShareItem],
    channel_id: bytes,
    turn_num: int,
) -> tuple[CardWords, ...]:
    """As `require_shares`, of cards that may not be points, as in a deck that nobody has checked: the twin of the
    contract's function.

    - `key`: whose shares they are.
    - `cards`: the masked cards.
    - `proof`: one for all items.
    - `items`: one for each card.
    - `channel_id`: 32 bytes.
    - `turn_num`: of the state that the proof is in.
    """
    if len(items) != len(cards):
        raise MalformedBytes("shares", f"there are {len(items)} of {len(cards)} cards")
    require_scalar(proof.challenge)
    require_scalar(proof.response)
    try:
        commitment = times_g(proof.response) - key * proof.challenge
    except PointRefused:
        raise ShareRefused(0) from None
    rows, taken = [], []
    for card, item in zip(cards, items, strict=True):
        rows.append(_checked_row(card, item, proof))
        taken.append(_taken_off(card, item))
    expected = _challenge(context(Tag.SHARE, channel_id, turn_num), key, commitment, rows)
    if expected != proof.challenge:
        raise ShareRefused(expected)
    return tuple(taken)


def _challenge(about: bytes, key: Point, commitment: Point, rows: Sequence[bytes]) -> int:
    return hash_to_scalar(about, key.words, address_word(commitment.address), *rows)


def _stated(card: MaskedCard, share: Point) -> bytes:
    return card.c1.words[:32] + word(card.c1.parity) + share.words


def _row(card: MaskedCard, share: Point, w: Point) -> bytes:
    """What is hashed of one card."""
    return _stated(card, share) + w.words


def _item(card: MaskedCard, share: Point, proof: ShareProof) -> ShareItem:
    w1, w2 = card.c1 * proof.response, share * proof.challenge
    return ShareItem(share.x, share.y, w1.x, w1.y, w2.x, w2.y, _slope(w1, w2), card.c2.y, _slope(card.c2, share))


def _slope(point: Point, taken: Point) -> int:
    """Of the line through a point and the negative of another one. Raises `PointRefused` where both have one x."""
    if point.x == taken.x:
        raise PointRefused(point.x, point.y)
    return (-taken.y - point.y) * inverse(taken.x - point.x) % FIELD


# ------------------------------------------------------------------------------------------ as the contract checks it


def _checked_row(card: CardWords, item: ShareItem, proof: ShareProof) -> bytes:
    _require_curve(item.dx, item.dy)
    if not 0 < item.dx < ORDER:
        raise PointRefused(item.dx, item.dy)
    parity = card.parities & 1
    _require_multiple(card.c1x, parity, proof.response, item.w1x, item.w1y)
    _require_multiple(item.dx, item.dy & 1, proof.challenge, item.w2x, item.w2y)
    x, y = _difference(item.w1x, item.w1y, item.w2x, item.w2y, item.slope)
    return b"".join(map(word, (card.c1x, parity, item.dx, item.dy, x, y)))


def _taken_off(card: CardWords, item: ShareItem) -> CardWords:
    _require_curve(card.c2x, item.c2y)
    if item.c2y & 1 != card.parities >> 1:
        raise PointRefused(card.c2x, item.c2y)
    x, y = _difference(card.c2x, item.c2y, item.dx, item.dy, item.off_slope)
    return CardWords(card.c1x, x, card.parities & 1 | (y & 1) << 1, y)


def _require_curve(x: int, y: int) -> None:
    if not (0 <= x < FIELD and 0 <= y < FIELD) or (y * y - x**3 - 7) % FIELD:
        raise PointRefused(x, y)


def _require_multiple(x: int, parity: int, scalar: int, wx: int, wy: int) -> None:
    """(wx, wy) are below the prime, and have the address of this multiple of the point with this x and parity."""
    if not (0 <= wx < FIELD and 0 <= wy < FIELD):
        raise PointRefused(wx, wy)
    if not 0 < x < ORDER:  # the contract's means takes no other
        raise MaskRefused(x)
    try:
        multiple = Point.from_x(x, parity) * scalar
    except PointRefused:
        raise MaskRefused(x) from None
    if keccak256(word(wx) + word(wy))[12:] != multiple.address:
        raise MaskRefused(x)


def _difference(x1: int, y1: int, x2: int, y2: int, slope: int) -> tuple[int, int]:
    """The point (x1, y1) less (x2, y2), by the slope of the line through the first and the second's negative."""
    if x1 == x2 or not 0 <= slope < FIELD or (slope * (x2 - x1) + y2 + y1) % FIELD:
        raise SlopeRefused(slope)
    x = (slope * slope - x1 - x2) % FIELD
    return x, (slope * (x1 - x) - y1) % FIELD
