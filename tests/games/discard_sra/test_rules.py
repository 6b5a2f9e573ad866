"""The cards and the rules, without any cipher: piles of which a test says what lies where."""

from __future__ import annotations

from dataclasses import replace

import pytest

from forcemove_games.discard_sra.cards import HAND, PLAIN_SUITS, SIZE, fits, name, names, suit, value
from forcemove_games.discard_sra.rules import (
    RULES,
    CouldMove,
    Kind,
    Move,
    PileNotEmpty,
    Position,
    is_over,
    require_pile_empty,
    require_rightful,
    seat_to_move,
    turns,
    winner,
)
from forcemove_games.sra.cipher import DecryptionKey
from forcemove_games.sra.faults import CardFault, DiscardNotAllowed, DrawNotAllowed
from forcemove_games.sra.pile import CardPlace, Pile
from tests.expected import raising
from tests.games.sra.shuffled import ALICE, BOB

KEY = DecryptionKey(3)
CLIENTS = ("alice", "bob")
ORDER = tuple(range(SIZE))
"""The deck from the top: card i lies at index i."""
NINE, TEN, JACK, QUEEN, KING, ACE = range(6)
"""Of spades."""


def dealt(*hands: tuple[int, ...], top: int = NINE, left: int = 0) -> Pile:
    """A pile of which the two hold these cards (by index, which is the card), and `top` is turned up."""
    places = [CardPlace(None, (KEY, KEY), card) for card in range(SIZE - left)]
    for seat, hand in enumerate(hands):
        for index in hand:
            places[index] = CardPlace(seat, (None, KEY) if seat == ALICE else (KEY, None))
    return Pile(tuple(range(SIZE)), tuple(places), (top,))


def discarded(pile: Pile, index: int, card: int | None = None) -> Pile:
    opened = replace(pile.places[index], keys=(KEY, KEY), card=index if card is None else card)
    places = (*pile.places[:index], opened, *pile.places[index + 1 :])
    return replace(pile, places=places, opened=(*pile.opened, index))


def drawn(pile: Pile, seat: int) -> Pile:
    return replace(pile, places=(*pile.places, CardPlace(seat, (None, KEY) if seat == ALICE else (KEY, None))))


def test_there_are_six_values_in_four_suits() -> None:
    assert {(suit(card), value(card)) for card in range(SIZE)} == {(s, v) for s in range(4) for v in range(6)}
    assert (SIZE, HAND) == (24, 5)


def test_cards_have_names() -> None:
    assert names(range(7)) == "9♠ 10♠ J♠ Q♠ K♠ A♠ 9♥"
    assert [name(card, PLAIN_SUITS) for card in (0, 7, 14, 23)] == ["9s", "10h", "Jd", "Ac"]
    assert len({name(card) for card in range(SIZE)}) == SIZE
    assert names([23, 0, 12]) == "9♠ 9♦ A♣"


def test_a_card_fits_on_its_suit_and_on_its_value() -> None:
    for card in range(SIZE):
        assert sum(fits(card, top) for top in range(SIZE)) == 6 + 3


@pytest.mark.parametrize(
    ("position", "moves"),
    [
        (Position((TEN, 7, 13), (NINE,), 3, 5), (Move(Kind.DISCARD, TEN), Move(Kind.DRAW))),
        (Position((TEN, 6), (NINE,), 0, 5), (Move(Kind.DISCARD, TEN), Move(Kind.DISCARD, 6))),
        (Position((7, 13), (NINE,), 1, 5), (Move(Kind.DRAW),)),
        (Position((7, 13), (NINE,), 0, 5), (Move(Kind.CANNOT_MOVE),)),
        (Position((7, 13), (12, NINE), 0, 5), (Move(Kind.CANNOT_MOVE),)),
    ],
    ids=["both", "no cards left", "nothing fits", "neither", "only the top counts"],
)
def test_what_is_legal(position: Position, moves: tuple[Move, ...]) -> None:
    """A player may draw although a card fits."""
    assert position.moves == moves


def test_draws_and_discards_have_a_rule() -> None:
    assert RULES.may_draw(dealt(left=1), ALICE)
    assert not RULES.may_draw(dealt(left=0), ALICE)
    assert RULES.may_discard(dealt(), BOB, TEN)
    assert not RULES.may_discard(dealt(), BOB, 7)


def test_nobody_is_stuck_who_could_draw() -> None:
    require_pile_empty(dealt(left=0), ALICE)
    with raising(PileNotEmpty(ALICE, 2)):
        require_pile_empty(dealt(left=2), ALICE)


def test_what_has_happened_follows_from_the_piles() -> None:
    first = dealt((TEN, 7), (JACK, 14), left=1)
    second = discarded(first, TEN)
    third = drawn(second, BOB)
    history = (first, second, third, third)
    assert [(turn.seat, turn.kind, turn.index) for turn in turns(history)] == [
        (ALICE, Kind.DISCARD, TEN),
        (BOB, Kind.DRAW, SIZE - 1),
        (ALICE, Kind.CANNOT_MOVE, None),
    ]
    assert [turn.before for turn in turns(history)] == [first, second, third]
    assert [seat_to_move(history[:length]) for length in (1, 2, 3)] == [ALICE, BOB, ALICE]


def test_an_empty_hand_wins() -> None:
    first = dealt((TEN,), (JACK, 14))
    history = (first, discarded(first, TEN))
    assert (winner(history[:1]), winner(history)) == (None, ALICE)
    assert (is_over(history[:1]), is_over(history)) == (False, True)


def test_both_are_stuck_when_both_have_said_so_one_after_the_other() -> None:
    first = dealt((7,), (JACK, 14))
    moved = discarded(first, JACK)
    assert not is_over((first, first))
    assert is_over((first, first, first))
    assert not is_over((first, first, moved, moved))
    assert is_over((first, first, moved, moved, moved))
    assert winner((first, first, first)) is None


# ---------------------------------------------------------------------------------------------------------- afterwards


def test_a_rightful_history_passes() -> None:
    first = dealt((TEN, 7), (14, 15), left=1)
    laid = discarded(first, TEN)
    drew = drawn(laid, BOB)
    require_rightful((first, laid, drew, discarded(drew, 7), discarded(drew, 7)), ORDER, CLIENTS)


@pytest.mark.parametrize(
    ("history", "fault"),
    [
        ((dealt((TEN, 7), (14,)),) * 2, CouldMove(ALICE, 0, TEN, NINE, culprit="alice")),
        ((dealt((7,), (14, 6)),) * 3, CouldMove(BOB, 1, 6, NINE, culprit="bob")),
        ((dealt((7,), (14,), left=3),) * 2, PileNotEmpty(ALICE, 3, culprit="alice")),
        (
            (dealt((7, 8), (14,)), discarded(dealt((7, 8), (14,)), 7)),
            DiscardNotAllowed(ALICE, 7, 7, culprit="alice"),
        ),
        (
            (dealt((7, 8), (1,)), discarded(dealt((7, 8), (1,)), 1)),
            DiscardNotAllowed(ALICE, 1, 1, culprit="alice"),
        ),
        ((dealt((7,), (14,)), drawn(dealt((7,), (14,)), ALICE)), DrawNotAllowed(ALICE, SIZE, culprit="alice")),
    ],
    ids=["could move", "the second could move", "could draw", "does not fit", "the other's card", "nothing to draw"],
)
def test_every_turn_is_looked_at_again_when_all_cards_are_open(history: tuple[Pile, ...], fault: CardFault) -> None:
    with pytest.raises(type(fault)) as found:
        require_rightful(history, ORDER, CLIENTS)
    assert found.value == fault


def test_a_hand_is_looked_at_as_it_was_then() -> None:
    """The card that fits may have come later, or be gone."""
    first = dealt((7,), (14, 12))
    require_rightful((first, first, discarded(first, 12)), ORDER, CLIENTS)
    with pytest.raises(CouldMove):
        require_rightful((first, first, first), ORDER, CLIENTS)
