"""Proofs of shares: cards are read with them, and each way to cheat is refused by its own name."""

from __future__ import annotations

from typing import Any

import pytest

from forcemove.errors import AppError, MalformedBytes
from forcemove_games.cards import errors
from forcemove_games.cards.curve import FIELD, ORDER, Point
from forcemove_games.cards.deck import CardWords, MaskedCard, open_card
from forcemove_games.cards.share_proof import ShareItem, ShareProof, prove_shares, require_shares, share_of, take_shares
from tests.games.cards.dealt import CHANNEL, TURN, Party, stream

ALICE_AND_BOB = Party.of(2)
DECK = ALICE_AND_BOB.shuffled(24)
CARDS = DECK[:3]
SECRET, KEY = ALICE_AND_BOB.secrets[0], ALICE_AND_BOB.keys[0]
PROOF, ITEMS = prove_shares(SECRET, CARDS, CHANNEL, TURN, stream("share"))


def _check(
    proof: ShareProof = PROOF, items: tuple[ShareItem, ...] = ITEMS, cards: tuple[MaskedCard, ...] = CARDS, **other: Any
) -> tuple[MaskedCard, ...]:
    channel, turn = other.get("channel", CHANNEL), other.get("turn", TURN)
    return require_shares(other.get("key", KEY), cards, proof, items, channel, turn)


def _first(**changed: int) -> tuple[ShareItem, ...]:
    return (ITEMS[0]._replace(**changed), *ITEMS[1:])


@pytest.mark.parametrize("players", [2, 3])
def test_all_shares_show_every_card_once(players: int) -> None:
    party = Party.of(players, "all")
    deck = party.shuffled(6)
    for secret, key in zip(party.secrets, party.keys, strict=True):
        proof, items = prove_shares(secret, deck, CHANNEL, TURN)
        deck = require_shares(key, deck, proof, [ShareItem.decode(each.encode()) for each in items], CHANNEL, TURN)
    assert sorted(open_card(card.c2, 6) for card in deck) == list(range(6))


def test_a_card_with_a_share_missing_shows_nothing() -> None:
    with pytest.raises(errors.CardUnknown):
        open_card(_check()[0].c2, 24)


@pytest.mark.parametrize("other", [{"channel": bytes(32)}, {"turn": TURN + 1}])
def test_a_proof_of_another_channel_or_turn_is_refused(other: dict[str, Any]) -> None:
    with pytest.raises(errors.ShareRefused):
        _check(**other)


def test_a_share_by_another_key_is_refused() -> None:
    with pytest.raises(errors.ShareRefused):
        _check(key=ALICE_AND_BOB.keys[1])


def test_a_share_of_another_card_is_refused() -> None:
    with pytest.raises(errors.MaskRefused):
        _check(cards=(DECK[5], *CARDS[1:]))


def test_items_in_another_order_are_refused() -> None:
    with pytest.raises(errors.MaskRefused):
        _check(items=(ITEMS[1], ITEMS[0], ITEMS[2]))


def test_a_free_challenge_is_refused() -> None:
    """Anyone who may choose c proves any share: s and c first, the rest to fit."""
    share = CARDS[0].c1 * 77
    for challenge, response in ((3, 5), (PROOF.challenge, 5)):
        with pytest.raises(errors.ShareRefused):
            _check(ShareProof(challenge, response), (item_of(CARDS[0], share, challenge, response),), CARDS[:1])


def item_of(card: MaskedCard, share: Point, c: int, s: int) -> ShareItem:
    """One whose every part fits the numbers, but the hash."""
    w1, w2 = card.c1 * s, share * c
    pairs = ((w1, w2), (card.c2, share))
    slopes = [(-taken.y - point.y) * pow(taken.x - point.x, -1, FIELD) % FIELD for point, taken in pairs]
    return ShareItem(share.x, share.y, w1.x, w1.y, w2.x, w2.y, slopes[0], card.c2.y, slopes[1])


def test_a_wrong_share_with_an_honest_proof_of_the_key_is_refused() -> None:
    share = -share_of(SECRET, CARDS[0])
    with pytest.raises(errors.ShareRefused):
        _check(items=(item_of(CARDS[0], share, *PROOF), *ITEMS[1:]))


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"dy": FIELD - ITEMS[0].dy}, errors.MaskRefused),  # -D
        ({"dx": ITEMS[0].dx + 1}, errors.PointRefused),
        ({"dy": ITEMS[0].dy + FIELD}, errors.PointRefused),
        ({"dx": ORDER + 3}, errors.PointRefused),
        ({"w1x": ITEMS[0].w2x, "w1y": ITEMS[0].w2y}, errors.MaskRefused),
        ({"w1y": FIELD - ITEMS[0].w1y}, errors.MaskRefused),
        ({"w1x": ITEMS[0].w1x + FIELD}, errors.PointRefused),
        ({"w2x": ITEMS[0].w1x, "w2y": ITEMS[0].w1y}, errors.MaskRefused),  # W1 = W2
        ({"w2x": ITEMS[0].w1x, "w2y": FIELD - ITEMS[0].w1y}, errors.MaskRefused),  # W1 = -W2
        ({"w2y": FIELD - ITEMS[0].w2y}, errors.MaskRefused),
        ({"slope": ITEMS[0].slope + 1}, errors.SlopeRefused),
        ({"slope": ITEMS[0].slope + FIELD}, errors.SlopeRefused),
        ({"c2y": FIELD - ITEMS[0].c2y}, errors.PointRefused),
        ({"c2y": ITEMS[0].c2y + 2}, errors.PointRefused),
        ({"off_slope": ITEMS[0].off_slope + 1}, errors.SlopeRefused),
        ({"off_slope": ITEMS[0].slope}, errors.SlopeRefused),
    ],
)
def test_each_word_of_an_item_is_checked(changed: dict[str, int], error: type[AppError]) -> None:
    with pytest.raises(error):
        _check(items=_first(**changed))


def test_two_points_of_one_x_have_any_slope_and_are_refused() -> None:
    """With sC1 = -cD the line from W1 to -W2 is a tangent, and nothing would be compared with its slope."""
    challenge = 9
    response = -challenge * SECRET % ORDER
    share = share_of(SECRET, CARDS[0])
    w1 = CARDS[0].c1 * response
    item = ShareItem(share.x, share.y, w1.x, w1.y, w1.x, FIELD - w1.y, 5, CARDS[0].c2.y, ITEMS[0].off_slope)
    with pytest.raises(errors.SlopeRefused):
        _check(ShareProof(challenge, response), (item,), CARDS[:1])


@pytest.mark.parametrize("scalar", [0, ORDER])
def test_scalars_out_of_range_are_refused(scalar: int) -> None:
    for proof in (PROOF._replace(challenge=scalar), PROOF._replace(response=scalar)):
        with pytest.raises(errors.ScalarOutOfRange):
            _check(proof)
    for proof in (
        PROOF._replace(challenge=PROOF.challenge + ORDER),
        PROOF._replace(response=PROOF.response + ORDER),
    ):
        with pytest.raises(errors.ScalarOutOfRange):
            _check(proof)


def test_no_changed_byte_passes() -> None:
    data = b"".join(each.encode() for each in ITEMS)
    for at in range(0, len(data), 3):
        changed = data[:at] + bytes((data[at] ^ 1 << at % 8,)) + data[at + 1 :]
        items = tuple(ShareItem.decode(changed[begin : begin + 288]) for begin in range(0, len(data), 288))
        with pytest.raises(AppError):
            _check(items=items)


def test_other_numbers_of_items_are_refused() -> None:
    for items in ((), ITEMS[:2], (*ITEMS, ITEMS[0])):
        with pytest.raises(MalformedBytes):
            _check(items=items)
    for count in (2, 4):
        with pytest.raises(MalformedBytes):
            take_shares(KEY, [CardWords.of(card) for card in DECK[:count]], PROOF, ITEMS, CHANNEL, TURN)
    with pytest.raises(MalformedBytes):
        ShareItem.decode(bytes(287))


@pytest.mark.parametrize("secret", [0, SECRET + ORDER])
def test_a_secret_out_of_range_is_refused_and_not_named(secret: int) -> None:
    with pytest.raises(errors.ScalarOutOfRange) as refused:
        prove_shares(secret, CARDS, CHANNEL, TURN)
    assert refused.value.scalar == 0


def test_equal_randomness_for_two_statements_gives_two_nonces() -> None:
    """One nonce for two statements would give the secret away."""
    statements = [(CARDS, CHANNEL, TURN), (CARDS, CHANNEL, TURN + 1), (DECK[3:6], CHANNEL, TURN)]
    nonces = set()
    for cards, channel, turn in statements:
        proof, _ = prove_shares(SECRET, cards, channel, turn, bytes)
        nonces.add((proof.response - proof.challenge * SECRET) % ORDER)
    assert len(nonces) == len(statements)
    again = prove_shares(SECRET, CARDS, CHANNEL, TURN, bytes)
    assert again == prove_shares(SECRET, CARDS, CHANNEL, TURN, bytes)
