"""The shuffle of two phases: what comes out, and every deck that a cheat might send."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import FrozenInstanceError, fields
from itertools import permutations, product
from typing import Any

import pytest

from forcemove.errors import InvalidValue
from forcemove_games.sra import arithmetic, cipher, deck, faults
from tests.expected import raising
from tests.games.sra.forgeries import FORGED, NO_SQUARE
from tests.games.sra.shuffled import ALICE, BOB, SIZE, both, cheated, keys, order, scripted, sides_before, stream


def honest_deck(step: int) -> arithmetic.Numbers:
    return sides_before(step + 1)[0].latest


def waiting(step: int) -> deck.Shuffle:
    """The view of the side that waits for the deck of `step`."""
    return sides_before(step)[1 - step % 2]


# ------------------------------------------------------------------------------------------------------------- honest


def test_both_end_with_the_same_deck_of_all_cards() -> None:
    alice, bob = both()
    assert alice.decks == bob.decks
    assert sorted(order()) == list(range(SIZE))


def test_a_full_pack_is_shuffled() -> None:
    alice, bob = both(52)
    cards = deck.audit(alice.latest, keys(alice), keys(bob))
    assert sorted(cards) == list(range(52))
    assert cards != tuple(range(52))


def test_both_permute() -> None:
    """With either side's order left as it was, the outcome is the other side's."""
    orders = set()
    for still in (ALICE, BOB):
        randomness = [stream("a"), stream("b")]
        randomness[still] = keeping_order(randomness[still])
        sides = [deck.begin(SIZE, ALICE, randomness[0]), deck.begin(SIZE, BOB, randomness[1])]
        for step in range(deck.STEPS):
            sides[step % 2] = deck.send(sides[step % 2], randomness[step % 2])
            sides[1 - step % 2] = deck.receive(sides[1 - step % 2], sides[step % 2].latest)
        orders.add(deck.audit(sides[0].latest, keys(sides[0]), keys(sides[1])))
    assert tuple(range(SIZE)) not in orders
    assert len(orders) == 2


def keeping_order(randomness: Callable[[int], bytes]) -> Callable[[int], bytes]:
    """For keys the given bytes; for each choice the last option, so that every item stays where it is."""
    last = iter(range(SIZE - 1, 0, -1))
    return lambda count: bytes([next(last)]) if count == 1 else randomness(count)


@pytest.mark.parametrize("step", range(deck.STEPS + 1))
def test_each_step_is_one_sides(step: int) -> None:
    alice, bob = sides_before(step)
    assert (alice.is_ours, bob.is_ours) == [(True, False), (False, True), (True, False), (False, True), (False,) * 2][
        step
    ]
    assert (alice.step, alice.is_finished) == (step, step == deck.STEPS)


@pytest.mark.parametrize("step", range(deck.STEPS + 1))
def test_who_is_not_to_send_cannot(step: int) -> None:
    for side in sides_before(step):
        if not side.is_ours:
            with raising(faults.NotOurStep(step)):
                deck.send(side)


def test_phase_1_puts_one_key_on_all_and_phase_2_replaces_it() -> None:
    secrets = deck.Secrets.fresh(SIZE, stream("phases"))
    first = deck.encrypt_and_permute(cipher.card_numbers(SIZE), secrets.phase_key, stream("order"))
    assert sorted(map(secrets.phase_key.decrypt, first)) == sorted(cipher.card_numbers(SIZE))
    second = deck.exchange_keys(first, secrets)
    assert [key.decrypt(number) for key, number in zip(secrets.card_keys, second, strict=True)] == [
        secrets.phase_key.decrypt(number) for number in first
    ]


def test_no_side_alone_opens_a_card() -> None:
    for side in both():
        opened = [key.decrypt(number) for key, number in zip(side.secrets.card_keys, side.latest, strict=True)]
        assert [cipher.find_card(number, SIZE) for number in opened] == [None] * SIZE


def test_no_two_shuffles_share_a_key() -> None:
    exponents = [key.exponent for _ in range(2) for side in deck.shuffle_between_two(2) for key in keys(side)]
    assert len(set(exponents)) == 8


@pytest.mark.parametrize("size", [0, 1, 121, None])
def test_a_shuffle_of_another_size_is_refused(size: int) -> None:
    with pytest.raises(InvalidValue):
        deck.begin(size, ALICE)


@pytest.mark.parametrize("seat", [-1, 2, True, None])
def test_a_third_seat_is_refused(seat: int) -> None:
    with pytest.raises(InvalidValue):
        deck.begin(SIZE, seat)


def test_a_shuffle_has_a_key_for_each_card() -> None:
    with pytest.raises(InvalidValue):
        deck.Shuffle(SIZE, ALICE, deck.Secrets.fresh(SIZE - 1, stream("few")))


# -------------------------------------------------------------------------------------------------------- permutations


def test_over_all_choices_every_order_comes_up_once() -> None:
    choices = product(range(4), range(3), range(2))
    orders = Counter(deck.permute("abcd", scripted(*chosen)) for chosen in choices)
    assert orders == Counter(permutations("abcd"))


def test_over_all_bytes_every_order_comes_up_equally_often() -> None:
    orders = Counter(
        deck.permute("abc", scripted(first, second, 0)) for first, second in product(range(255), range(256))
    )
    assert orders == dict.fromkeys(permutations("abc"), 255 * 256 // 6)


def test_a_byte_that_would_favour_an_order_is_drawn_again() -> None:
    assert deck.permute("abc", scripted(255, 1, 0)) == deck.permute("abc", scripted(1, 0))


def test_none_and_one_stay_as_they_are() -> None:
    assert (deck.permute(()), deck.permute("a")) == ((), ("a",))


# ------------------------------------------------------------------------------------------------------------- cheating


@pytest.mark.parametrize("step", range(deck.STEPS))
@pytest.mark.parametrize("forgery", FORGED)
def test_a_forged_deck_is_refused_in_every_step(step: int, forgery: str) -> None:
    forge, fault = FORGED[forgery]
    before = waiting(step)
    with pytest.raises(faults.CardFault) as refused:
        deck.receive(before, forge(honest_deck(step)))
    assert refused.value == fault
    assert deck.receive(before, honest_deck(step)).decks == sides_before(step + 1)[0].decks


@pytest.mark.parametrize("step", range(deck.STEPS))
@pytest.mark.parametrize("index", range(SIZE))
def test_a_card_multiplied_by_what_is_no_square_is_refused(step: int, index: int) -> None:
    """Such a mark stays on a card whatever the keys: times -1, too."""
    for mark in (NO_SQUARE, arithmetic.MODULUS - 1):
        marked = list(honest_deck(step))
        marked[index] = marked[index] * mark % arithmetic.MODULUS
        with pytest.raises(faults.NotASquare) as refused:
            deck.receive(waiting(step), marked)
        assert refused.value.index == index


@pytest.mark.parametrize(
    ("step", "earlier"), [(step, earlier) for step in range(deck.STEPS) for earlier in range(step)]
)
def test_a_number_of_an_earlier_deck_is_refused(step: int, earlier: int) -> None:
    """Sending back what came would let us take off our own key, and see the cards."""
    returned = (*honest_deck(step)[:-1], honest_deck(earlier)[0])
    with raising(faults.NotEncrypted(SIZE - 1, earlier)):
        deck.receive(waiting(step), returned)


@pytest.mark.parametrize("step", range(deck.STEPS + 1))
def test_a_deck_out_of_turn_is_refused(step: int) -> None:
    for side in sides_before(step):
        if side.is_ours or side.is_finished:
            with raising(faults.DeckNotDue(step)):
                deck.receive(side, honest_deck(1))


@pytest.mark.parametrize("number", [4.0, "4", None, b"\x04"])
def test_what_is_no_integer_is_refused(number: Any) -> None:
    with raising(faults.NumberOutOfRange(0, number)):
        deck.receive(waiting(0), (number, *honest_deck(0)[1:]))


def test_a_deck_may_come_as_a_list() -> None:
    assert deck.receive(waiting(0), list(honest_deck(0))) == deck.receive(waiting(0), honest_deck(0))


@pytest.mark.parametrize("step", [1, 3])
@pytest.mark.parametrize("factor", [4, cipher.card_numbers(SIZE)[1]])
def test_a_card_multiplied_by_a_square_opens_to_none(step: int, factor: int) -> None:
    """It cannot be told from a card before."""
    alice, mallory = cheated({step: lambda view: (view.latest[0] * factor % arithmetic.MODULUS, *view.latest[1:])})
    with raising(faults.NoSuchCard(0)):
        deck.audit(alice.latest, keys(alice), keys(mallory))


def test_the_product_of_two_cards_opens_to_none() -> None:
    alice, mallory = cheated(
        {1: lambda view: (*view.latest[:2], view.latest[0] * view.latest[1] % arithmetic.MODULUS, view.latest[3])}
    )
    with raising(faults.NoSuchCard(2)):
        deck.audit(alice.latest, keys(alice), keys(mallory))


def duplicating() -> tuple[deck.Shuffle, deck.Shuffle]:
    """Mallory puts in the card at the top twice, the second time under one more key, which it takes off in phase 2."""
    extra = cipher.CipherKey.fresh(stream("extra"))

    def put_in_twice(view: deck.Shuffle) -> arithmetic.Numbers:
        return (view.latest[0], extra.encrypt(view.latest[0]), *view.latest[2:])

    def cover_up(view: deck.Shuffle) -> arithmetic.Numbers:
        return (view.latest[0], extra.decrypt(view.latest[1]), *view.latest[2:])

    return cheated({1: put_in_twice, 3: cover_up})


def test_a_card_that_was_put_in_twice_is_found_when_both_are_open() -> None:
    alice, mallory = duplicating()
    card = deck.open_card(alice.latest, 0, keys(alice)[0], keys(mallory)[0])
    with raising(faults.CardTwice(card, 0, 1)):
        deck.audit(alice.latest, keys(alice), keys(mallory))


def test_permuting_once_more_in_phase_2_opens_to_no_card() -> None:
    alice, mallory = cheated({3: lambda view: (view.latest[1], view.latest[0], *view.latest[2:])})
    with pytest.raises(faults.NoSuchCard):
        deck.audit(alice.latest, keys(alice), keys(mallory))


def test_an_audit_needs_a_key_for_each_card() -> None:
    alice, bob = both()
    for few in ((keys(alice)[1:], keys(bob)), (keys(alice), keys(bob)[1:])):
        with raising(faults.WrongCount(SIZE, SIZE - 1)):
            deck.audit(alice.latest, *few)


def test_an_audit_with_false_keys_is_refused() -> None:
    alice, bob = both()
    false = (*keys(bob)[:2], keys(bob)[3], keys(bob)[2])
    with raising(faults.NoSuchCard(2)):
        deck.audit(alice.latest, keys(alice), false)


def test_a_shuffle_is_a_value() -> None:
    shuffle = waiting(1)
    for each in fields(shuffle):
        with pytest.raises(FrozenInstanceError):
            setattr(shuffle, each.name, getattr(shuffle, each.name))


def test_a_deck_alone_is_checked_without_earlier_ones() -> None:
    deck.require_deck(honest_deck(0), SIZE)
    with pytest.raises(faults.NotEncrypted):
        deck.require_deck(cipher.card_numbers(SIZE), SIZE)
