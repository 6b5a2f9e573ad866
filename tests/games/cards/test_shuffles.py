"""Proofs of shuffles: honest ones hold, and no cheat of a prover who may send anything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import permutations

import pytest

from forcemove import AppError, InvalidValue, MalformedBytes, word
from forcemove_games.cards import curve, errors, hashing, share_proof, shuffle_proof
from forcemove_games.cards.deck import Deck, MaskedCard, card_point, open_card, remask, take_off
from forcemove_games.cards.shuffle_proof import proof_length, prove_order, require_shuffle, shuffle
from tests.games.cards.dealt import CHANNEL, TURN, Party, stream
from tests.sampled import sampled

PARTY = Party.of(2)
BEFORE = PARTY.shuffled(6)
AFTER, PROOF = shuffle(BEFORE, PARTY.joint, CHANNEL, TURN, stream("shuffle"))


def _check(after: Deck = AFTER, proof: bytes = PROOF, before: Deck = BEFORE) -> None:
    require_shuffle(before, after, proof, PARTY.joint, CHANNEL, TURN)


def _read(deck: Deck, party: Party = PARTY) -> list[int]:
    for secret in party.secrets:
        deck = tuple(take_off(card, share_proof.share_of(secret, card)) for card in deck)
    return [open_card(card.c2, len(deck)) for card in deck]


@pytest.mark.parametrize("cards", [1, 2, 24, 52])
def test_a_shuffle_keeps_every_card_and_is_proved(cards: int) -> None:
    before = PARTY.first(cards)
    after, proof = shuffle(before, PARTY.joint, CHANNEL, TURN)
    assert len(proof) == proof_length(cards) == 160 + 130 * cards
    require_shuffle(before, after, proof, PARTY.joint, CHANNEL, TURN)
    assert sorted(_read(after)) == list(range(cards))


@pytest.mark.parametrize("cards", [1, 24])
def test_a_shuffle_of_the_first_deck_has_the_same_proof_where_it_is_not_known_as_that(
    cards: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is saved there changes no byte."""
    made = shuffle(PARTY.first(cards), PARTY.joint, CHANNEL, TURN, stream("first"))
    monkeypatch.setattr(shuffle_proof, "_is_first", lambda _deck, _key: False)
    assert shuffle(PARTY.first(cards), PARTY.joint, CHANNEL, TURN, stream("first")) == made


def test_a_proof_of_another_channel_turn_or_key_is_refused() -> None:
    for key, channel, turn in (
        (PARTY.joint, bytes(32), TURN),
        (PARTY.joint, CHANNEL, TURN + 1),
        (PARTY.keys[0], CHANNEL, TURN),
    ):
        with pytest.raises(errors.ShuffleRefused):
            require_shuffle(BEFORE, AFTER, PROOF, key, channel, turn)


def test_a_proof_of_another_deck_is_refused() -> None:
    with pytest.raises(errors.ShuffleRefused):
        _check(before=PARTY.first(6))
    with pytest.raises(errors.ShuffleRefused):
        _check(after=(AFTER[1], AFTER[0], *AFTER[2:]))


def _forged(order: Sequence[int], after: Deck, masks: Sequence[int] | None = None) -> bytes:
    """What the prover's own code makes of a deck that is not a shuffle."""
    given = masks or [curve.fresh_scalar(stream("masks")) for _ in BEFORE]
    return prove_order(BEFORE, after, order, given, PARTY.joint, CHANNEL, TURN, stream("forged"))


def _masked(order: Sequence[int]) -> tuple[Deck, list[int]]:
    masks = [curve.fresh_scalar(stream(f"mask {index}")) for index in range(len(BEFORE))]
    return tuple(remask(BEFORE[j], masks[j], PARTY.joint) for j in order), masks


@pytest.mark.parametrize("cheat", ["duplicate", "foreign", "swapped halves", "unmasked", "stacked"])
def test_a_deck_that_is_no_shuffle_cannot_be_proved(cheat: str) -> None:
    order = [3, 1, 4, 0, 5, 2]
    after, masks = _masked(order)
    changed = {
        "duplicate": remask(BEFORE[order[1]], 99, PARTY.joint),
        "foreign": MaskedCard(after[0].c1, after[0].c2 + card_point(4)),
        "swapped halves": MaskedCard(after[0].c2, after[0].c1),
        "unmasked": take_off(after[0], PARTY.joint * masks[order[0]]),
        "stacked": remask(MaskedCard(BEFORE[0].c1, card_point(2) + PARTY.joint), 5, PARTY.joint),
    }[cheat]
    _check(after, _forged(order, after, masks))
    false = (changed, *after[1:])
    with pytest.raises(AppError):
        _check(false, _forged(order, false, masks))
    with pytest.raises(errors.ShuffleRefused):
        _check(false, _forged(order, after, masks))


@pytest.mark.parametrize("order", [[0, 0, 1, 2, 3, 4], [5, 5, 5, 5, 5, 5]])
def test_an_order_that_is_no_permutation_cannot_be_proved(order: list[int]) -> None:
    """A card twice and another one not at all. Forgeries whose sums fit are in `test_forged_shuffles`."""
    after, masks = _masked(order)
    with pytest.raises(errors.ShuffleRefused):
        _check(after, _forged(order, after, masks))


@pytest.mark.parametrize("place", sampled(range(proof_length(6)), 10))
def test_no_changed_byte_passes(place: int) -> None:
    changed = PROOF[:place] + bytes((PROOF[place] ^ 1 << place % 8,)) + PROOF[place + 1 :]
    with pytest.raises(AppError):
        _check(proof=changed)


@pytest.mark.parametrize("scalar", range(5 + 2 * 6))
def test_scalars_out_of_range_are_refused(scalar: int) -> None:
    at = 32 * scalar
    value = int.from_bytes(PROOF[at : at + 32], "big")
    for wrong in (0, curve.ORDER, value + curve.ORDER):
        if wrong < 2**256:
            with pytest.raises(errors.ScalarOutOfRange):
                _check(proof=PROOF[:at] + wrong.to_bytes(32, "big") + PROOF[at + 32 :])


def test_other_lengths_are_refused() -> None:
    for proof in (b"", PROOF[:-1], PROOF + bytes(1)):
        with pytest.raises(MalformedBytes):
            _check(proof=proof)
    for after in (AFTER[:-1], (*AFTER, AFTER[0])):
        with pytest.raises(MalformedBytes):
            _check(after)


def test_a_deck_without_cards_is_refused() -> None:
    """Its proof has a length, too."""
    assert proof_length(0) == 160
    with pytest.raises(MalformedBytes):
        _check((), b"".join(word(1) for _ in range(5)), ())
    with pytest.raises(InvalidValue):
        shuffle((), PARTY.joint, CHANNEL, TURN)


def test_equal_randomness_for_two_statements_gives_two_nonces() -> None:
    """Nonces that come again for another statement would give order and masks away."""
    first, second = (
        prove_order(BEFORE, AFTER, range(6), [1] * 6, PARTY.joint, CHANNEL, turn, lambda length: b"\1" * length)
        for turn in (TURN, TURN + 1)
    )
    assert _first_commitment(first) != _first_commitment(second)


def _first_commitment(proof: bytes) -> curve.Point:
    """t1 = c(sum of com - sum of h) + s1 G: the first nonce, times G."""
    c, s1 = (int.from_bytes(proof[at : at + 32], "big") for at in (0, 32))
    begin = 32 * (5 + 2 * 6)
    com = [curve.Point.from_compressed(proof[at : at + 33]) for at in range(begin, begin + 6 * 33, 33)]
    return (curve.total(com) - curve.total(hashing.generator(i + 1) for i in range(6))) * c + curve.times_g(s1)


def test_every_order_is_as_likely_where_the_other_player_keeps_it() -> None:
    """Chi-square over the six orders of three cards; 20.5 is passed once in a thousand."""
    before, draw, rounds = PARTY.first(3), stream("orders"), 600
    found = Counter(tuple(_read(shuffle(before, PARTY.joint, CHANNEL, TURN, draw)[0])) for _ in range(rounds))
    expected = rounds / 6
    assert sum((found[order] - expected) ** 2 / expected for order in permutations(range(3))) < 20.5
