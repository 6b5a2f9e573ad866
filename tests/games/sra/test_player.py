"""Drawing, discarding and turning up; who asks for, or gives, what is not its to have is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import FrozenInstanceError, fields
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forcemove.errors import ForcemoveError, InvalidValue, LocalError
from forcemove_games.sra import arithmetic, cipher, faults
from forcemove_games.sra.pile import ANYTHING, Pile, PileRules, lift, publish
from forcemove_games.sra.player import (
    Player,
    deal,
    discard,
    draw,
    give,
    give_hand,
    hand_over,
    record_discard,
    record_turned,
    sit_down,
    take,
    take_hand,
    turn_up,
)
from tests.games.sra.shuffled import ALICE, BOB, SIZE, both, cheated, keys, order, seated, sides_before, spectated
from tests.games.sra.test_deck import duplicating

BOBS_KEYS = keys(both()[BOB])
CARDS = order()


def nobody(_pile: Pile, _seat: int) -> bool:
    return False


NO_DRAWS = PileRules(may_draw=nobody)


def turned_up(first: Player, second: Player) -> tuple[Player, Player, int]:
    """Both after they have turned up a card; and the card."""
    (first, index), (second, _) = turn_up(first), turn_up(second)
    (first, of_first), (second, of_second) = give(first, index), give(second, index)
    first, second = record_turned(first, index, of_second), record_turned(second, index, of_first)
    return first, second, first.pile.laid[-1]


def drawn(drawer: Player, other: Player) -> tuple[Player, Player, int]:
    """Both after the first has drawn a card; and the card."""
    drawer, index = draw(drawer, ANYTHING)
    other, key = hand_over(other, index, ANYTHING)
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
    alice, first = draw(alice, ANYTHING)
    alice, second = draw(alice, ANYTHING)
    bob, first_key = hand_over(bob, first, ANYTHING)
    bob, second_key = hand_over(bob, second, ANYTHING)
    alice, card = take(alice, second, second_key)
    assert card == CARDS[1]
    alice, card = take(alice, first, first_key)
    assert dict(alice.hand) == {0: CARDS[0], 1: CARDS[1]}


def test_a_discarded_card_is_seen_by_all() -> None:
    alice, bob, card = drawn(*seated())
    alice, key = discard(alice, 0, ANYTHING)
    bob, seen = record_discard(bob, 0, key, ANYTHING)
    assert seen == card
    assert alice.hand == ()
    assert alice.pile == bob.pile
    assert bob.pile.places[0].card == card
    assert bob.pile.held_by(ALICE) == ()


def test_a_card_turned_up_is_seen_by_both() -> None:
    alice, bob, card = turned_up(*seated())
    assert card == CARDS[0]
    assert alice.pile == bob.pile
    assert alice.pile.laid == (card,)
    assert alice.hand == bob.hand == ()


def test_a_card_is_turned_up_whichever_key_comes_first() -> None:
    alice, bob = seated()
    (alice, index), (bob, _) = turn_up(alice), turn_up(bob)
    alice = record_turned(alice, index, give(bob, index)[1])
    assert alice.pile.places[0].card is None
    assert alice.pile.laid == ()
    alice, _ = give(alice, index)
    assert alice.pile.laid == (CARDS[0],)


def test_the_rule_is_asked_about_the_pile_before_the_draw_and_the_drawer() -> None:
    asked = []
    _, bob = seated()

    def rule(pile: Pile, seat: int) -> bool:
        asked.append((pile, seat))
        return True

    hand_over(bob, 0, PileRules(may_draw=rule))
    draw(bob, PileRules(may_draw=rule))
    assert asked == [(bob.pile, ALICE), (bob.pile, BOB)]


def test_a_spectator_sees_what_is_open_and_nothing_else() -> None:
    alice, bob = seated()
    pile = spectated(alice)
    pile = lift(pile, ALICE, 0)
    alice, _ = draw(alice, ANYTHING)
    bob, of_bob = hand_over(bob, 0, ANYTHING)
    pile = publish(pile, BOB, 0, of_bob)
    assert pile.places[0].card is None
    alice, _ = take(alice, 0, of_bob)
    alice, of_alice = discard(alice, 0, ANYTHING)
    pile = publish(pile, ALICE, 0, of_alice)
    assert pile.places[0].card == CARDS[0]
    assert pile == alice.pile


def test_nobody_sits_down_before_the_shuffle_is_over() -> None:
    refused(faults.ShuffleNotFinished(3), lambda: sit_down(sides_before(3)[ALICE]))


# -------------------------------------------------------------------------------------------------------------- dealing


def dealt(count: int) -> tuple[Player, Player]:
    """Both with the cards before them, and no keys given."""
    alice, bob = seated()
    return deal(alice, count), deal(bob, count)


def test_a_hand_is_dealt_with_all_keys_at_once() -> None:
    alice, bob = dealt(2)
    assert (alice.pile.held_by(ALICE), alice.pile.held_by(BOB), alice.pile.top) == ((0, 1), (2, 3), 4)
    assert alice.hand == bob.hand == ()
    (alice, of_alice), (bob, of_bob) = give_hand(alice), give_hand(bob)
    alice, bob = take_hand(alice, of_bob), take_hand(bob, of_alice)
    assert [card for _, card in alice.hand] == list(CARDS[:2])
    assert [card for _, card in bob.hand] == list(CARDS[2:])
    assert alice.pile == bob.pile
    assert alice.pile.laid == ()


def test_the_keys_of_a_hand_are_those_of_the_others_cards_only() -> None:
    _, of_bob = give_hand(dealt(2)[BOB])
    assert of_bob == BOBS_KEYS[:2]
    assert give_hand(give_hand(dealt(2)[BOB])[0])[1] == ()


@pytest.mark.parametrize(
    ("false", "fault"),
    [
        (BOBS_KEYS[:1], faults.WrongCount(2, 1)),
        (BOBS_KEYS[:3], faults.WrongCount(2, 3)),
        ((), faults.WrongCount(2, 0)),
        ((BOBS_KEYS[1], BOBS_KEYS[0]), faults.NoSuchCard(0)),
        ((BOBS_KEYS[0], BOBS_KEYS[0]), faults.NoSuchCard(1)),
        ((BOBS_KEYS[0], BOBS_KEYS[2]), faults.NoSuchCard(1)),
    ],
    ids=["too few", "too many", "none", "exchanged", "one twice", "of another card"],
)
def test_a_false_hand_is_refused_and_the_true_one_taken_afterwards(
    false: tuple[cipher.DecryptionKey, ...], fault: ForcemoveError
) -> None:
    alice, _ = dealt(2)
    refused(fault, lambda: take_hand(alice, false))
    assert alice.hand == ()
    assert len(take_hand(alice, BOBS_KEYS[:2]).hand) == 2


def test_a_card_that_is_dealt_twice_is_refused() -> None:
    alice, mallory = (deal(sit_down(side), 2) for side in duplicating())
    _, keys_of_mallory = give_hand(mallory)
    with pytest.raises(faults.CardTwice):
        take_hand(alice, keys_of_mallory)


@pytest.mark.parametrize("count", [-1, 0, 3, 100])
def test_no_more_is_dealt_than_there_is(count: int) -> None:
    with pytest.raises(InvalidValue):
        deal(seated()[ALICE], count)


# ------------------------------------------------------------------------------------------------- asking for a card


@pytest.mark.parametrize("index", [-1, 1, 2, 3, SIZE, 10**6])
def test_another_card_than_the_top_is_not_handed_over(index: int) -> None:
    _, bob = seated()
    refused(faults.NotTheTop(0, index), lambda: hand_over(bob, index, ANYTHING))


def test_the_key_of_a_card_is_not_handed_over_again() -> None:
    _, bob, _ = drawn(*seated())
    refused(faults.NotTheTop(1, 0), lambda: hand_over(bob, 0, ANYTHING))


def test_the_key_of_our_own_card_is_not_handed_over() -> None:
    alice, _, _ = drawn(*seated())
    refused(faults.NotTheTop(1, 0), lambda: hand_over(alice, 0, ANYTHING))


def test_nothing_is_handed_over_of_an_empty_pile() -> None:
    alice, bob = seated()
    for _ in range(SIZE):
        alice, bob, _ = drawn(alice, bob)
    for index in (0, SIZE - 1, SIZE):
        refused(faults.PileEmpty(ALICE), partial(hand_over, bob, index, ANYTHING))
    refused(faults.NoCardToDraw(), lambda: draw(bob, ANYTHING))
    refused(faults.NoCardToDraw(), lambda: turn_up(bob))
    refused(faults.PileEmpty(None), lambda: lift(bob.pile, None, SIZE))


@pytest.mark.parametrize("answer", [False, None, 1, "yes"])
def test_a_draw_that_the_game_does_not_allow_gets_no_key(answer: bool) -> None:
    _, bob = seated()
    refused(faults.DrawNotAllowed(ALICE, 0), lambda: hand_over(bob, 0, PileRules(may_draw=lambda *_: answer)))
    assert bob == seated()[BOB]


def test_our_own_draw_is_held_to_the_same_rule() -> None:
    _, bob = seated()
    refused(faults.OurDrawNotAllowed(0), lambda: draw(bob, NO_DRAWS))


def test_what_the_rule_raises_goes_through() -> None:
    _, bob = seated()

    def rule(pile: Pile, seat: int) -> bool:
        raise LocalError

    refused(LocalError(), lambda: hand_over(bob, 0, PileRules(may_draw=rule)))


# ------------------------------------------------------------------------------------------------------ giving a key


@pytest.mark.parametrize("index", [-1, 0, 1, SIZE, 10**6])
def test_a_key_for_a_card_that_nobody_has_drawn_is_refused(index: int) -> None:
    alice, _ = seated()
    refused(faults.KeyNotDue(BOB, index), lambda: take(alice, index, BOBS_KEYS[0]))


def test_a_key_for_the_card_after_the_drawn_one_is_refused() -> None:
    alice, _ = draw(seated()[ALICE], ANYTHING)
    refused(faults.KeyNotDue(BOB, 1), lambda: take(alice, 1, BOBS_KEYS[1]))


def test_a_key_that_was_given_before_is_refused() -> None:
    alice, _, _ = drawn(*seated())
    refused(faults.KeyGivenTwice(BOB, 0), lambda: take(alice, 0, BOBS_KEYS[0]))
    alice, _ = discard(alice, 0, ANYTHING)
    refused(faults.KeyGivenTwice(BOB, 0), lambda: take(alice, 0, BOBS_KEYS[0]))


def test_a_discarded_card_is_not_discarded_again() -> None:
    alice, bob, _ = drawn(*seated())
    alice, key = discard(alice, 0, ANYTHING)
    bob, _ = record_discard(bob, 0, key, ANYTHING)
    refused(faults.KeyGivenTwice(ALICE, 0), lambda: record_discard(bob, 0, key, ANYTHING))
    refused(faults.NotInHand(0), lambda: discard(alice, 0, ANYTHING))


def test_a_turned_up_cards_key_is_not_taken_again() -> None:
    alice, _ = turn_up(seated()[ALICE])
    alice = record_turned(alice, 0, BOBS_KEYS[0])
    refused(faults.KeyGivenTwice(BOB, 0), lambda: record_turned(alice, 0, BOBS_KEYS[0]))


def test_a_key_for_a_card_of_another_kind_is_not_due() -> None:
    """A client that holds a card could otherwise open it with a message that is for another card."""
    alice, bob, _ = drawn(*seated())
    bob, alice, _ = drawn(bob, alice)
    alice, bob, _ = turned_up(alice, bob)
    alice, _ = draw(alice, ANYTHING)
    refused(faults.KeyNotDue(BOB, 1), lambda: take(alice, 1, BOBS_KEYS[1]))
    refused(faults.KeyNotDue(BOB, 1), lambda: record_turned(alice, 1, BOBS_KEYS[1]))
    refused(faults.KeyNotDue(BOB, 3), lambda: record_turned(alice, 3, BOBS_KEYS[3]))
    refused(faults.KeyNotDue(BOB, 3), lambda: record_discard(alice, 3, BOBS_KEYS[3], ANYTHING))
    for index in (0, 1, 3, -1, SIZE):
        refused(faults.NotInHand(index), partial(give, alice, index))


def test_a_key_for_a_turned_up_card_is_for_nothing_else() -> None:
    alice, _ = turn_up(seated()[ALICE])
    refused(faults.KeyNotDue(BOB, 0), lambda: take(alice, 0, BOBS_KEYS[0]))
    refused(faults.KeyNotDue(BOB, 0), lambda: record_discard(give(alice, 0)[0], 0, BOBS_KEYS[0], ANYTHING))


def test_who_draws_does_not_open_the_card_before_the_other_has_given_its_key() -> None:
    pile = lift(spectated(seated()[ALICE]), BOB, 0)
    refused(faults.KeyNotDue(BOB, 0), lambda: publish(pile, BOB, 0, BOBS_KEYS[0]))


def test_a_discard_that_the_game_does_not_allow_is_refused_on_both_sides() -> None:
    asked = []
    alice, bob, card = drawn(*seated())

    def rule(pile: Pile, seat: int, laid: int) -> bool:
        asked.append((pile, seat, laid))
        return False

    refused(faults.OurDiscardNotAllowed(0, card), lambda: discard(alice, 0, PileRules(may_discard=rule)))
    _, key = discard(alice, 0, ANYTHING)
    refused(faults.DiscardNotAllowed(ALICE, 0, card), lambda: record_discard(bob, 0, key, PileRules(may_discard=rule)))
    assert asked == [(alice.pile, ALICE, card), (bob.pile, ALICE, card)]
    assert record_discard(bob, 0, key, ANYTHING)[1] == card


@pytest.mark.parametrize("index", [-1, 0, 1, SIZE])
def test_only_cards_in_hand_are_discarded(index: int) -> None:
    alice, bob = seated()
    bob, alice, _ = drawn(bob, alice)
    refused(faults.NotInHand(index), lambda: discard(alice, index, ANYTHING))


def test_a_card_whose_key_has_not_come_is_not_discarded() -> None:
    alice, _ = draw(seated()[ALICE], ANYTHING)
    refused(faults.NotInHand(0), lambda: discard(alice, 0, ANYTHING))


@pytest.mark.parametrize("false", [BOBS_KEYS[1], keys(both()[ALICE])[0], cipher.DecryptionKey(3)])
def test_a_false_key_is_refused_and_the_true_one_taken_afterwards(false: cipher.DecryptionKey) -> None:
    alice, _ = draw(seated()[ALICE], ANYTHING)
    refused(faults.NoSuchCard(0), lambda: take(alice, 0, false))
    assert alice == draw(seated()[ALICE], ANYTHING)[0]
    assert take(alice, 0, BOBS_KEYS[0])[1] == CARDS[0]


def test_a_false_key_for_a_discard_is_refused_and_the_true_one_taken_afterwards() -> None:
    alice, bob = seated()
    bob, alice, card = drawn(bob, alice)
    refused(faults.NoSuchCard(0), lambda: record_discard(alice, 0, BOBS_KEYS[1], ANYTHING))
    assert record_discard(alice, 0, BOBS_KEYS[0], ANYTHING)[1] == card


def test_a_false_key_for_a_turned_up_card_is_refused() -> None:
    alice, _ = give(turn_up(seated()[ALICE])[0], 0)
    refused(faults.NoSuchCard(0), lambda: record_turned(alice, 0, BOBS_KEYS[1]))


# ------------------------------------------------------------------------------------------------ a card that is twice


def test_a_card_that_we_hold_already_is_refused() -> None:
    alice, mallory = map(sit_down, duplicating())
    alice, mallory, card = drawn(alice, mallory)
    alice, index = draw(alice, ANYTHING)
    mallory, key = hand_over(mallory, index, ANYTHING)
    refused(faults.CardTwice(card, 0, 1), lambda: take(alice, 1, key))
    assert alice.hand == ((0, card),)


def test_a_discard_of_a_card_that_we_hold_is_refused() -> None:
    alice, mallory = map(sit_down, duplicating())
    alice, mallory, card = drawn(alice, mallory)
    mallory, alice, _ = drawn(mallory, alice)
    mallory, key = discard(mallory, 1, ANYTHING)
    refused(faults.CardTwice(card, 0, 1), lambda: record_discard(alice, 1, key, ANYTHING))


@pytest.mark.parametrize("way", ["drawn", "discarded", "turned up"])
def test_a_card_that_is_open_already_does_not_come_again(way: str) -> None:
    alice, mallory = map(sit_down, duplicating())
    alice, mallory, card = drawn(alice, mallory)
    alice, opened = discard(alice, 0, ANYTHING)
    mallory, _ = record_discard(mallory, 0, opened, ANYTHING)
    key = mallory.keys[1].disclose()
    act: Callable[[], object]
    if way == "drawn":
        act = partial(take, draw(alice, ANYTHING)[0], 1, key)
    elif way == "discarded":
        act = partial(record_discard, hand_over(alice, 1, ANYTHING)[0], 1, key, ANYTHING)
    else:
        act = partial(record_turned, give(turn_up(alice)[0], 1)[0], 1, key)
    refused(faults.CardTwice(card, 0, 1), act)


@pytest.mark.parametrize("ours_first", [True, False])
def test_a_card_that_we_hold_is_not_turned_up_whichever_key_comes_first(ours_first: bool) -> None:
    alice, mallory = map(sit_down, duplicating())
    alice, mallory, card = drawn(alice, mallory)
    alice, index = turn_up(alice)
    key = mallory.keys[index].disclose()
    steps: list[Callable[[Player], Player]] = [lambda side: give(side, 1)[0], lambda side: record_turned(side, 1, key)]
    first, second = steps if ours_first else reversed(steps)
    alice = first(alice)
    refused(faults.CardTwice(card, 0, 1), lambda: second(alice))


def test_a_multiplied_card_is_refused_when_it_is_drawn() -> None:
    alice, mallory = cheated({3: lambda view: (view.latest[0] * 4 % arithmetic.MODULUS, *view.latest[1:])})
    drawer, index = draw(sit_down(alice), ANYTHING)
    refused(faults.NoSuchCard(0), lambda: take(drawer, index, keys(mallory)[0]))


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
            us, key = discard(us, index, ANYTHING)
            them, card = record_discard(them, index, key, ANYTHING)
            pile = publish(pile, seat, index, key)
            assert card == cards[index]
        elif kind == "draw" and not pile.is_empty:
            index = pile.top
            us, them, _ = drawn(us, them)
            pile = publish(lift(pile, seat, index), 1 - seat, index, them.keys[index].disclose())
        elif kind == "turn up" and not pile.is_empty:
            index = pile.top
            us, them, card = turned_up(us, them)
            ours, theirs = us.keys[index].disclose(), them.keys[index].disclose()
            pile = publish(publish(lift(pile, None, index), seat, index, ours), 1 - seat, index, theirs)
        sides[seat], sides[1 - seat] = us, them
        assert pile == us.pile == them.pile
        for side in sides:
            assert side.hand == tuple((held, cards[held]) for held, _ in side.hand)
            assert tuple(sorted(held for held, _ in side.hand)) == pile.held_by(side.seat)


def test_a_hand_does_not_show() -> None:
    alice, _, _ = drawn(*seated())
    assert repr(alice) == "Player(seat=0, pile=Pile(places=(CardPlace(holder=0, card=None),), opened=()))"


def test_a_player_is_a_value() -> None:
    alice, _ = seated()
    for each in fields(alice):
        with pytest.raises(FrozenInstanceError):
            setattr(alice, each.name, getattr(alice, each.name))
