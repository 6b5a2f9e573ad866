"""Proofs of knowing the secret of a key (Schnorr), made non-interactive by a hash (Fiat and Shamir).

Without them a player could choose a key that cancels the others' keys. The proof names channel and turn, so a copy of
another player's key and proof is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from forcemove import word
from forcemove_games.cards.curve import ORDER, Point, require_scalar, require_secret, times_g, total
from forcemove_games.cards.errors import KeyRefused, PointRefused
from forcemove_games.cards.hashing import Tag, address_word, context, hash_to_scalar
from forcemove_games.randomness import Randomness, system_randomness


class KeyProof(NamedTuple):
    """c and s with c = H(context, K, address(sG - cK)), each from 1 to the order less 1."""

    challenge: int
    response: int


def prove_key(
    secret: int, channel_id: bytes, turn_num: int, randomness: Randomness = system_randomness
) -> tuple[Point, KeyProof]:
    """The key of a secret scalar, and the proof for the state of this turn. Raises `ScalarOutOfRange`.

    - `secret`: of our key.
    - `channel_id`: 32 bytes.
    - `turn_num`: of the state that the proof is in.
    - `randomness`: fresh bytes; the nonce depends on the secret, the channel and the turn, too, so that equal bytes for
      two proofs of one key give nothing away.
    """
    require_secret(secret)
    key, about = times_g(secret), context(Tag.KEY, channel_id, turn_num)
    while True:
        nonce = hash_to_scalar(Tag.NONCE.bytes, word(secret), about, key.words, randomness(32))
        if not nonce:
            continue
        challenge = _challenge(about, key, times_g(nonce))
        response = (nonce + challenge * secret) % ORDER
        if challenge and response:
            return key, KeyProof(challenge, response)


def require_key(key: Point, proof: KeyProof, channel_id: bytes, turn_num: int) -> None:
    """Raise `PointRefused`, `ScalarOutOfRange` or `KeyRefused` unless the proof holds for this channel and turn; every
    check in the contract's order. The last error's challenge is 0 where the proof leads to infinity."""
    if not 0 < key.x < ORDER:  # a contract could not check its shares
        raise PointRefused(key.x, key.y)
    require_scalar(proof.challenge)
    require_scalar(proof.response)
    about = context(Tag.KEY, channel_id, turn_num)
    try:
        commitment = times_g(proof.response) - key * proof.challenge
    except PointRefused:
        raise KeyRefused(0) from None
    expected = _challenge(about, key, commitment)
    if expected != proof.challenge:
        raise KeyRefused(expected)


def joint_key(keys: Sequence[Point]) -> Point:
    """The key under which a deck is masked: the sum of the players' keys. Raises `PointRefused` where it is infinity,
    which no players with proofs can bring about."""
    return total(keys)


def _challenge(about: bytes, key: Point, commitment: Point) -> int:
    return hash_to_scalar(about, key.words, address_word(commitment.address))
