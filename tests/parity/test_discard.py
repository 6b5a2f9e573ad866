"""Discard in Python and in bytecode: one verdict, one error, the same values, on whole hands and what differs from
them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from math import inf
from random import Random

import pytest
from msgspec.structs import replace

from forcemove.contracts import artifact
from forcemove.protocol.types import VariablePart
from forcemove.testing import properties
from forcemove.testing.calls import FROM, ID, TO, Bench, TransitionCall
from forcemove.testing.space import Bounds, StateSpace
from forcemove_games.discard import GAME, rules
from forcemove_games.discard.position import CORE_LENGTH, PositionType, decode
from tests.games.discard.dealer import Dealer, begin
from tests.games.discard.hands import NAMES, games
from tests.parity.discard_space import moves_of_each_form, shape

BENCH = Bench(artifact("Discard"), rules)
UNCHECKED = (PositionType.SHUFFLED_FIRST, PositionType.SHUFFLED)
"""Deck and proof of these are for players."""


@pytest.mark.parametrize("name", NAMES)
def test_whole_hands_are_accepted_by_both(name: str) -> None:
    for from_, to in pairwise(games()[name]):
        BENCH.require_accepted(TransitionCall(from_, to))


def test_there_is_a_move_of_each_form() -> None:
    forms = {shape(to) for _, to in moves_of_each_form()}
    assert {kind for kind, *_ in forms} == set(PositionType)
    played = {form[1:] for form in forms if form[0] == PositionType.PLAYING}
    assert played == {
        (p, s, lays) for p in (False, True) for s in (False, True) for lays in (False, True) if not p & lays
    }
    assert {form[3] for form in forms if form[0] == PositionType.SHOWING} >= {0, 1, 4}


@pytest.mark.parametrize("most", [1, pytest.param(20, marks=pytest.mark.long)])
def test_every_word_of_every_state_is_checked_but_deck_and_proof_of_a_shuffle(most: int) -> None:
    """Each word of appData and evidence of the state after a move is changed to some other values."""
    chance = Random(27)
    for from_, to in moves_of_each_form(most):
        call = TransitionCall(from_, to)
        is_free = decode(to.app_data).position_type in UNCHECKED
        for index, others in other_words(to.app_data, chance):
            accepted = BENCH.compare(call, [call.word(TO, index, other) for other in others])
            assert set(accepted) == {is_free and index >= CORE_LENGTH // 32}, (shape(to), index)
        for index, others in other_words(to.evidence, chance):
            accepted = BENCH.compare(call, [call.evidence_word(index, other) for other in others])
            assert set(accepted) == {is_free}, (shape(to), index)


def other_words(data: bytes, chance: Random) -> Iterator[tuple[int, list[int]]]:
    """The place of each word, with other values for it."""
    for index in range(len(data) // 32):
        value = int.from_bytes(data[32 * index : 32 * index + 32], "big")
        others = {value ^ 1, value ^ 1 << chance.randrange(256), 0, chance.randrange(2**256)} - {value}
        yield index, sorted(others)


def test_nobody_needs_the_evidence_of_the_state_before() -> None:
    """Neither the bytecode, which is never given any, nor the twin."""
    for from_, to in moves_of_each_form(1):
        for evidence in (b"", from_.evidence, b"something else"):
            assert rules.valid_transition(ID, replace(from_, evidence=evidence), to, 2)


@pytest.mark.parametrize("most", [1, pytest.param(5, marks=pytest.mark.long)])
def test_every_word_of_every_position_before_a_move_has_one_verdict(most: int) -> None:
    chance = Random(28)
    for from_, to in moves_of_each_form(most):
        call, data = TransitionCall(from_, to), from_.app_data
        for index in range(len(data) // 32):
            value = int.from_bytes(data[32 * index : 32 * index + 32], "big")
            others = {value ^ 1 << chance.randrange(256), chance.randrange(2**256)}
            BENCH.compare(call, [call.word(FROM, index, other) for other in sorted(others)])


def test_moves_with_the_same_word_changed_on_both_sides_have_one_verdict() -> None:
    """Such pairs get past the comparison of cores: keys that are not points, roots of no deck, other hands and tops."""
    chance, refused = Random(29), set[int]()
    for from_, to in moves_of_each_form(2):
        call = TransitionCall(from_, to)
        for index in range(3, CORE_LENGTH // 32):
            for other in (chance.randrange(2**256), chance.randrange(2**24), chance.randrange(24), 0):
                both = call.both(call.word(FROM, index, other), call.word(TO, index, other))
                if not BENCH.compare(call, [both])[0]:
                    refused.add(index)
    assert refused == set(range(3, CORE_LENGTH // 32))


def test_decks_that_are_none_have_one_verdict() -> None:
    """Nobody but the players looks at a deck before it is dealt: what is dealt of it may not be a point."""
    chance = Random(30)
    for from_, to in moves_of_each_form(2):
        if decode(to.app_data).position_type not in (PositionType.DEALT_FIRST, PositionType.DEALT):
            continue
        call, cards = TransitionCall(from_, to), range(CORE_LENGTH // 32, CORE_LENGTH // 32 + 49)
        for index in cards:
            for other in (chance.randrange(2**256), chance.choice((0, 2**256 - 1, chance.randrange(2**48)))):
                changed = [call.word(FROM, index, other)]
                if decode(to.app_data).position_type is PositionType.DEALT_FIRST:
                    changed.append(call.both(call.word(FROM, index, other), call.word(TO, index, other)))
                BENCH.compare(call, changed)


def space(label: str, states: int, games: int) -> StateSpace:
    """The first states of a hand, and those of random hands, whatever time it takes."""
    return StateSpace(begin(), Dealer(label).moves, Bounds(states, inf, games, turns=90, seed=1))


@pytest.mark.parametrize(("states", "games"), [(6, 1), pytest.param(200, 10, marks=pytest.mark.long)])
def test_the_kit_finds_no_difference_and_no_state_without_a_successor(states: int, games: int) -> None:
    sample = space("kit", states, games)
    assert properties.require_both_alike(BENCH, sample) > 5_000
    assert properties.require_legal_moves(rules, sample) > 25
    assert properties.require_successors(sample, is_settled) > 15


@pytest.mark.parametrize(("states", "games"), [(20, 1), pytest.param(100, 5, marks=pytest.mark.long)])
def test_nobody_who_is_to_move_is_better_off_leaving(states: int, games: int) -> None:
    assert properties.require_no_gain_by_leaving(space("leaving", states, games), is_settled, ahead=2) >= states


def test_each_hand_has_a_result_of_what_changed_hands() -> None:
    assert properties.require_results(GAME, begin(), is_settled, games=3, turns=90) >= 3


def is_settled(state: VariablePart) -> bool:
    """Before the first deal nothing is lost; after the end the stake is paid."""
    kind = decode(state.app_data).position_type
    return kind < PositionType.DEALT_FIRST or kind in (PositionType.OVER, PositionType.TIED)


def test_neighbours_of_every_form_of_a_move_have_one_verdict() -> None:
    """Bits and values of words, lengths, amounts."""
    chance = Random(31)
    for from_, to in moves_of_each_form(1):
        call = TransitionCall(from_, to)
        assert BENCH.compare(call, properties.neighbours(call, chance))[0]
