"""Drawing, discarding and turning up; who asks for, or gives, what is not its to have is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import FrozenInstanceError, fields
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from channel.errors import ForcemoveError, LocalError
from games.sra.arithmetic import MODULUS
from games.sra.cipher import DecryptionKey
from games.sra.faults import (
    CardTwice,
    DrawNotAllowed,
    KeyNotDue,
    KeyTwice,
    NoSuchCard,
    NothingToDraw,
    NotInHand,
    NotTheTop,
    PileEmpty,
    ShuffleNotFinished,
)
from games.sra.pile import (
    Pile,
    Player,
    discard,
    draw,
    hand_over,
    lift,
    publish,
    sit_down,
    take,
    turn_up,
)
from tests.games.sra.shuffled import ALICE, BOB, SIZE, both, cheated, keys, order, seated, sides_before, spectated
from tests.games.sra.test_deck import duplicating

BOBS_KEYS = keys(both()[BOB])
CARDS = order()


def always(pile: Pile, seat: int) -> bool:
    return True


def drawn(drawer: Player, other: Player) -> tuple[Player, Player, int]:
    """Both after the first has drawn a card; and the card."""
    drawer, index = draw(drawer)
    other, key = hand_over(other, index, always)
    drawer, card = take(drawer, index, key)
    return drawer, other, card


def refused(fault: ForcemoveError, act: Callable[[], object]) -> None:
    with pytest.raises(type(fault)) as error:
        act()
    assert error.value == fault


# --------------------------------------------------------------------------------------------------------------- honest


def test_who_draws_sees_the_card_at_the_top_and_the_other_does_not() -> None:
    alice, bob, card = drawn(*seated())
    assert card == CARDS[0]
    assert alice.hand == ((0, card),)
    assert bob.hand == ()
    assert bob.pile == alice.pile
    assert bob.pile.places[0].card is None


def test_the_next_to_draw_gets_the_next_card() -> None:
    alice, bob, _ = drawn(*seated())
    bob, alice, card = drawn(bob, alice)
    assert card == CARDS[1]
    assert (alice.pile.held_by(ALICE), alice.pile.held_by(BOB), alice.pile.top) == ((0,), (1,), 2)


def test_several_cards_may_be_asked_for_before_the_first_key_comes() -> None:
    alice, bob = seated()
    alice, first = draw(alice)
    alice, second = draw(alice)
    bob, first_key = hand_over(bob, first, always)
    bob, second_key = hand_over(bob, second, always)
    alice, card = take(alice, second, second_key)
    assert card == CARDS[1]
    alice, card = take(alice, first, first_key)
    assert dict(alice.hand) == {0: CARDS[0], 1: CARDS[1]}


def test_a_discarded_card_is_seen_by_all() -> None:
    alice, bob, card = drawn(*seated())
    alice, key = discard(alice, 0)
    bob, seen = take(bob, 0, key)
    assert seen == card
    assert alice.hand == ()
    assert alice.pile == bob.pile
    assert bob.pile.places[0].card == card
    assert bob.pile.held_by(ALICE) == ()


def test_a_card_turned_up_is_seen_by_both() -> None:
    alice, bob = seated()
    alice, of_alice = turn_up(alice)
    bob, of_bob = turn_up(bob)
    assert alice.pile.places[0].card is None
    alice, seen_by_alice = take(alice, 0, of_bob)
    bob, seen_by_bob = take(bob, 0, of_alice)
    assert seen_by_alice == seen_by_bob == CARDS[0]
    assert alice.pile == bob.pile
    assert alice.hand == ()


def test_the_rule_is_asked_about_the_pile_before_the_draw_and_the_drawer() -> None:
    asked = []
    _, bob = seated()

    def rule(pile: Pile, seat: int) -> bool:
        asked.append((pile, seat))
        return True

    hand_over(bob, 0, rule)
    assert asked == [(bob.pile, ALICE)]


def test_a_spectator_sees_what_is_open_and_nothing_else() -> None:
    alice, bob = seated()
    pile = spectated(alice)
    pile = lift(pile, ALICE, 0)
    alice, _ = draw(alice)
    bob, of_bob = hand_over(bob, 0, always)
    pile = publish(pile, BOB, 0, of_bob)
    assert pile.places[0].card is None
    alice, _ = take(alice, 0, of_bob)
    alice, of_alice = discard(alice, 0)
    pile = publish(pile, ALICE, 0, of_alice)
    assert pile.places[0].card == CARDS[0]
    assert pile == alice.pile


def test_nobody_sits_down_before_the_shuffle_is_over() -> None:
    refused(ShuffleNotFinished(3), lambda: sit_down(sides_before(3)[ALICE]))


# ------------------------------------------------------------------------------------------------- asking for a card


@pytest.mark.parametrize("index", [-1, 1, 2, 3, SIZE, 10**6])
def test_another_card_than_the_top_is_not_handed_over(index: int) -> None:
    _, bob = seated()
    refused(NotTheTop(0, index), lambda: hand_over(bob, index, always))


def test_the_key_of_a_card_is_not_handed_over_again() -> None:
    _, bob, _ = drawn(*seated())
    refused(NotTheTop(1, 0), lambda: hand_over(bob, 0, always))


def test_the_key_of_our_own_card_is_not_handed_over() -> None:
    alice, _, _ = drawn(*seated())
    refused(NotTheTop(1, 0), lambda: hand_over(alice, 0, always))


def test_nothing_is_handed_over_of_an_empty_pile() -> None:
    alice, bob = seated()
    for _ in range(SIZE):
        alice, bob, _ = drawn(alice, bob)
    for index in (0, SIZE - 1, SIZE):
        refused(PileEmpty(ALICE), partial(hand_over, bob, index, always))
    refused(NothingToDraw(), lambda: draw(bob))
    refused(NothingToDraw(), lambda: turn_up(bob))
    refused(PileEmpty(None), lambda: lift(bob.pile, None, SIZE))


@pytest.mark.parametrize("answer", [False, None, 1, "yes"])
def test_a_draw_that_the_game_does_not_allow_gets_no_key(answer: bool) -> None:
    _, bob = seated()
    refused(DrawNotAllowed(ALICE, 0), lambda: hand_over(bob, 0, lambda *_: answer))
    assert bob == seated()[BOB]


def test_what_the_rule_raises_goes_through() -> None:
    _, bob = seated()

    def rule(pile: Pile, seat: int) -> bool:
        raise LocalError

    refused(LocalError(), lambda: hand_over(bob, 0, rule))


# ------------------------------------------------------------------------------------------------------ giving a key


@pytest.mark.parametrize("index", [-1, 0, 1, SIZE, 10**6])
def test_a_key_for_a_card_that_nobody_has_drawn_is_refused(index: int) -> None:
    alice, _ = seated()
    refused(KeyNotDue(BOB, index), lambda: take(alice, index, BOBS_KEYS[0]))


def test_a_key_for_the_card_after_the_drawn_one_is_refused() -> None:
    alice, _ = draw(seated()[ALICE])
    refused(KeyNotDue(BOB, 1), lambda: take(alice, 1, BOBS_KEYS[1]))


def test_a_key_that_was_given_before_is_refused() -> None:
    alice, _, _ = drawn(*seated())
    refused(KeyTwice(BOB, 0), lambda: take(alice, 0, BOBS_KEYS[0]))
    alice, _ = discard(alice, 0)
    refused(KeyTwice(BOB, 0), lambda: take(alice, 0, BOBS_KEYS[0]))


def test_a_discarded_card_is_not_discarded_again() -> None:
    alice, bob, _ = drawn(*seated())
    alice, key = discard(alice, 0)
    bob, _ = take(bob, 0, key)
    refused(KeyTwice(ALICE, 0), lambda: take(bob, 0, key))
    refused(NotInHand(0), lambda: discard(alice, 0))


def test_a_turned_up_cards_key_is_not_taken_again() -> None:
    alice, _ = turn_up(seated()[ALICE])
    alice, _ = take(alice, 0, BOBS_KEYS[0])
    refused(KeyTwice(BOB, 0), lambda: take(alice, 0, BOBS_KEYS[0]))


def test_who_draws_does_not_open_the_card_before_the_other_has_given_its_key() -> None:
    pile = lift(spectated(seated()[ALICE]), BOB, 0)
    refused(KeyNotDue(BOB, 0), lambda: publish(pile, BOB, 0, BOBS_KEYS[0]))


@pytest.mark.parametrize("index", [-1, 0, 1, SIZE])
def test_only_cards_in_hand_are_discarded(index: int) -> None:
    alice, bob = seated()
    bob, alice, _ = drawn(bob, alice)
    refused(NotInHand(index), lambda: discard(alice, index))


def test_a_card_whose_key_has_not_come_is_not_discarded() -> None:
    alice, _ = draw(seated()[ALICE])
    refused(NotInHand(0), lambda: discard(alice, 0))


@pytest.mark.parametrize("false", [BOBS_KEYS[1], keys(both()[ALICE])[0], DecryptionKey(3)])
def test_a_false_key_is_refused_and_the_true_one_taken_afterwards(false: DecryptionKey) -> None:
    alice, _ = draw(seated()[ALICE])
    refused(NoSuchCard(0), lambda: take(alice, 0, false))
    assert alice == draw(seated()[ALICE])[0]
    assert take(alice, 0, BOBS_KEYS[0])[1] == CARDS[0]


def test_a_false_key_for_a_discard_is_refused_and_the_true_one_taken_afterwards() -> None:
    alice, bob = seated()
    bob, alice, card = drawn(bob, alice)
    refused(NoSuchCard(0), lambda: take(alice, 0, BOBS_KEYS[1]))
    assert take(alice, 0, BOBS_KEYS[0])[1] == card


def test_a_false_key_for_a_turned_up_card_is_refused() -> None:
    alice, _ = turn_up(seated()[ALICE])
    refused(NoSuchCard(0), lambda: take(alice, 0, BOBS_KEYS[1]))


# ------------------------------------------------------------------------------------------------ a card that is twice


def test_a_card_that_we_hold_already_is_refused() -> None:
    alice, mallory = map(sit_down, duplicating())
    alice, mallory, card = drawn(alice, mallory)
    alice, index = draw(alice)
    mallory, key = hand_over(mallory, index, always)
    refused(CardTwice(card, 0, 1), lambda: take(alice, 1, key))
    assert alice.hand == ((0, card),)


def test_a_discard_of_a_card_that_we_hold_is_refused() -> None:
    alice, mallory = map(sit_down, duplicating())
    alice, mallory, card = drawn(alice, mallory)
    mallory, alice, _ = drawn(mallory, alice)
    mallory, key = discard(mallory, 1)
    refused(CardTwice(card, 0, 1), lambda: take(alice, 1, key))


@pytest.mark.parametrize("way", ["drawn", "discarded", "turned up"])
def test_a_card_that_is_open_already_does_not_come_again(way: str) -> None:
    alice, mallory = map(sit_down, duplicating())
    alice, mallory, card = drawn(alice, mallory)
    alice, opened = discard(alice, 0)
    mallory, _ = take(mallory, 0, opened)
    if way == "drawn":
        alice, _ = draw(alice)
    elif way == "discarded":
        alice, _ = hand_over(alice, 1, always)
    else:
        alice, _ = turn_up(alice)
    refused(CardTwice(card, 0, 1), lambda: take(alice, 1, mallory.keys[1].disclose()))


def test_a_multiplied_card_is_refused_when_it_is_drawn() -> None:
    alice, mallory = cheated({3: lambda view: (view.latest[0] * 4 % MODULUS, *view.latest[1:])})
    drawer, index = draw(sit_down(alice))
    refused(NoSuchCard(0), lambda: take(drawer, index, keys(mallory)[0]))


# --------------------------------------------------------------------------------------------------------- any game


@settings(max_examples=25)
@given(moves=st.lists(st.tuples(st.sampled_from(["draw", "discard", "turn up"]), st.integers(0, 1)), max_size=14))
def test_in_any_game_all_see_one_pile_and_each_its_own_cards(moves: list[tuple[str, int]]) -> None:
    size = 6
    sides, cards = list(seated(size)), order(size)
    pile = spectated(sides[0])
    for kind, seat in moves:
        us, them = sides[seat], sides[1 - seat]
        if kind == "discard" and us.hand:
            index = us.hand[-1][0]
            us, key = discard(us, index)
            them, card = take(them, index, key)
            pile = publish(pile, seat, index, key)
            assert card == cards[index]
        elif kind == "draw" and not pile.is_empty:
            index = pile.top
            us, them, _ = drawn(us, them)
            pile = publish(lift(pile, seat, index), 1 - seat, index, them.keys[index].disclose())
        elif kind == "turn up" and not pile.is_empty:
            index = pile.top
            us, ours = turn_up(us)
            them, theirs = turn_up(them)
            us, them = take(us, index, theirs)[0], take(them, index, ours)[0]
            pile = publish(publish(lift(pile, None, index), seat, index, ours), 1 - seat, index, theirs)
        sides[seat], sides[1 - seat] = us, them
        assert pile == us.pile == them.pile
        for side in sides:
            assert side.hand == tuple((held, cards[held]) for held, _ in side.hand)
            assert tuple(sorted(held for held, _ in side.hand)) == pile.held_by(side.seat)


def test_a_hand_does_not_show() -> None:
    alice, _, _ = drawn(*seated())
    assert repr(alice) == "Player(seat=0, pile=Pile(places=(Place(holder=0, card=None),)))"


def test_a_player_is_a_value() -> None:
    alice, _ = seated()
    for each in fields(alice):
        with pytest.raises(FrozenInstanceError):
            setattr(alice, each.name, getattr(alice, each.name))
