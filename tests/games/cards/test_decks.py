"""Decks: their bytes, their root, and what is refused."""

from __future__ import annotations

import pytest

from forcemove import InvalidValue, MalformedBytes, word
from forcemove_games.cards.curve import FIELD, ORDER
from forcemove_games.cards.deck import (
    card_point,
    deck_length,
    deck_root,
    decode_deck,
    encode_deck,
    first_deck,
    leaf,
    open_card,
    path_of,
    root_from,
)
from forcemove_games.cards.errors import CardUnknown, PointRefused
from tests.games.cards.dealt import Party

PARTY = Party.of(2)
DECK = PARTY.shuffled(24)


@pytest.mark.parametrize("cards", [1, 24, 32, 52])
def test_a_deck_is_read_as_it_was_written(cards: int) -> None:
    deck = PARTY.first(cards) if cards > 24 else PARTY.shuffled(cards)
    data = encode_deck(deck)
    assert len(data) == deck_length(cards)
    assert decode_deck(data, cards) == deck


def test_a_first_deck_hides_nothing() -> None:
    deck = first_deck(24, PARTY.joint)
    assert [open_card((card.c2 - PARTY.joint), 24) for card in deck] == list(range(24))


@pytest.mark.parametrize("cards", [0, 128])
def test_a_deck_has_1_to_127_cards(cards: int) -> None:
    with pytest.raises(InvalidValue):
        first_deck(cards, PARTY.joint)


def test_other_lengths_and_parities_are_refused() -> None:
    data = encode_deck(DECK)
    for wrong in (data[:-1], data + bytes(1), b"", word(1 << 48) + data[32:]):
        with pytest.raises(MalformedBytes):
            decode_deck(wrong, 24)


@pytest.mark.parametrize("x", [0, FIELD, 2**256 - 1, 5])
def test_an_x_of_no_point_is_refused(x: int) -> None:
    data = encode_deck(DECK)
    for at in (32, 64):
        with pytest.raises(PointRefused):
            decode_deck(data[:at] + word(x) + data[at + 32 :], 24)


def test_an_x_of_c1_above_the_order_is_refused_though_it_is_a_points() -> None:
    x = next(x for x in range(ORDER, FIELD) if pow(x**3 + 7, (FIELD - 1) // 2, FIELD) == 1)
    data = encode_deck(DECK)
    with pytest.raises(PointRefused):
        decode_deck(data[:32] + word(x) + data[64:], 24)


def test_each_card_leads_to_the_root_by_its_own_path_alone() -> None:
    root = deck_root(DECK)
    for index, card in enumerate(DECK):
        path = path_of(DECK, index)
        assert root_from(index, leaf(index, card), path) == root
        assert root_from(index ^ 1, leaf(index, card), path) != root
        assert root_from(index, leaf(index, DECK[index - 1]), path) != root


def test_a_tree_has_32_leaves() -> None:
    with pytest.raises(InvalidValue):
        deck_root(first_deck(33, PARTY.joint))


def test_a_point_of_no_card_is_none() -> None:
    with pytest.raises(CardUnknown):
        open_card(card_point(24), 24)
