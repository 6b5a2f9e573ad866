"""Forged shuffles, each of which would be believed if one thing were left out of the challenge; so nothing is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import count

import pytest

from forcemove_games.cards import errors, hashing, share_proof, shuffle_proof
from forcemove_games.cards.curve import ORDER, G, Point
from forcemove_games.cards.deck import Deck, MaskedCard, open_card, take_off
from forcemove_games.cards.shuffle_proof import require_shuffle
from tests.games.cards.dealt import CHANNEL, TURN, Party
from tests.games.cards.forger import COMMITMENTS, Forger, Matrix, over, permutation

PARTY = Party.of(2)
CARDS = 6
STRAIGHT = permutation(range(CARDS))


def _require(forger: Forger, proof: bytes) -> None:
    require_shuffle(forger.before, forger.after, proof, PARTY.joint, CHANNEL, TURN)


def _read(deck: Deck) -> list[int | None]:
    """The cards from 0, as they are read with all shares; None for what is not a card."""
    for secret in PARTY.secrets:
        deck = tuple(take_off(card, share_proof.share_of(secret, card)) for card in deck)
    return [_number(card.c2) for card in deck]


def _number(point: Point) -> int | None:
    try:
        return open_card(point, CARDS)
    except errors.CardUnknown:
        return None


@pytest.mark.parametrize("order", [range(CARDS), (3, 1, 4, 0, 5, 2)])
def test_a_prover_that_was_written_from_the_page_is_believed(order: Sequence[int]) -> None:
    forger = Forger(PARTY.joint, [j + 1 for j in order], permutation(order))
    _require(forger, forger.prove())
    assert _read(forger.after) == list(order)


def _with(**changed: tuple[int, ...]) -> Matrix:
    """The matrix that changes nothing, with other rows, named by the letters from a on."""
    return [changed.get(chr(97 + j), row) for j, row in enumerate(STRAIGHT)]


HALF = over(1, 2)
SCALED = _with(a=(HALF, 0, 0, 0, 0, 0), d=(0, 0, 0, 2, 0, 0))
"""Half of card 1 and twice card 4: the product is right, the sum of a column is not 1."""
MIXED = _with(a=(0, 0, HALF, 0, 0, 0), c=(1, 0, HALF, 0, 0, 0))
"""Cards 1 and 3 become 2 and 2: every sum is right, the product is not."""


def _weights(u: Sequence[int]) -> list[int]:
    """With which a deck of nothing but the highest card has the sum and the product that are asked for."""
    wanted = over(sum(u_j * (j + 1) for j, u_j in enumerate(u)), CARDS)
    product = 1
    for u_j in u:
        product = product * u_j % ORDER
    for third in count(1):
        both, times = (wanted - third - (CARDS - 3)) % ORDER, over(product, third)
        root = _root((both * both - 4 * times) % ORDER)
        if root is not None:
            return [over(both + root, 2), over(both - root, 2), third, *[1] * (CARDS - 3)]
    raise AssertionError


def _root(square: int) -> int | None:
    """A square root modulo the order (Tonelli and Shanks), which is odd times 64 and one more."""
    if pow(square, (ORDER - 1) // 2, ORDER) != 1:
        return None
    odd, generator = (ORDER - 1) // 64, next(z for z in count(2) if pow(z, (ORDER - 1) // 2, ORDER) != 1)
    root, left, step = pow(square, (odd + 1) // 2, ORDER), pow(square, odd, ORDER), pow(generator, odd, ORDER)
    for level in (5, 4, 3, 2, 1):
        if pow(left, 1 << (level - 1), ORDER) != 1:
            root, left = root * step % ORDER, left * step * step % ORDER
        step = step * step % ORDER
    assert root * root % ORDER == square
    return root


def _forged(omitted: str) -> tuple[Forger, list[int | None]]:
    """A forger whose proof fails in what is omitted alone, and what is in its deck."""
    joint, honest, aces = PARTY.joint, list(range(1, CARDS + 1)), [CARDS] * CARDS
    if omitted == "t1":
        return Forger(joint, [2, 2, 3, 2, 5, 6], SCALED, omitted=omitted), [1, 1, 2, 1, 4, 5]
    if omitted in ("t2", "T"):
        return Forger(joint, [2, 2, 2, 4, 5, 6], MIXED, omitted=omitted), [1, 1, 1, 3, 4, 5]
    if omitted == "t3":
        return Forger(joint, aces, STRAIGHT, _weights, omitted=omitted), [5] * CARDS
    if omitted == "com":
        return Forger(joint, aces, STRAIGHT, _weights, com_comes_last=True), [5] * CARDS
    halves = {
        "t41": lambda card: MaskedCard(card.c1 + G, card.c2),
        "t42": lambda card: MaskedCard(card.c1, card.c2 + G),
    }
    first = {"t41": None, "t42": 1}[omitted]
    return Forger(joint, honest, STRAIGHT, omitted=omitted, changed=halves[omitted]), [first, 1, 2, 3, 4, 5]


def _leave_out(omitted: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the verifier one that does not look at it."""

    def challenge(made: shuffle_proof._Commitments, st: bytes, k: Sequence[Point]) -> int:
        t = [point for name, point in zip(COMMITMENTS, made.t, strict=True) if name != omitted]
        chain = made.chain[:-1] if omitted == "T" else made.chain
        return hashing.hash_to_scalar(hashing.Tag.SHUFFLE_C.bytes, st, *(each.compressed for each in (*k, *t, *chain)))

    def challenges(statement: shuffle_proof._Statement) -> tuple[bytes, list[int]]:
        return whole(replace(statement, com=()))

    whole = shuffle_proof._Statement.challenges
    monkeypatch.setattr(shuffle_proof._Commitments, "challenge", challenge)
    if omitted == "com":
        monkeypatch.setattr(shuffle_proof._Statement, "challenges", challenges)


@pytest.mark.parametrize("omitted", [*COMMITMENTS, "T", "com"])
def test_every_commitment_is_in_the_challenge_and_without_it_a_false_deck_is_proved(
    omitted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    forger, deck = _forged(omitted)
    proof = forger.prove()
    assert _read(forger.after) == deck
    assert deck != sorted(range(CARDS))
    with pytest.raises(errors.ShuffleRefused) as refused:
        _require(forger, proof)
    assert refused.value.equation == "c"
    _leave_out(omitted, monkeypatch)
    _require(forger, proof)
