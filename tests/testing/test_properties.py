"""The kit finds what is wrong with a game: each check is seen to fail."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from random import Random

import pytest
from msgspec.structs import replace

from forcemove import AppError, Move, VariablePart, word
from forcemove.contracts import artifact
from forcemove.testing import properties
from forcemove.testing.calls import Bench, TransitionCall, outcome
from forcemove.testing.difference import TwinsDiffer
from forcemove.testing.space import Bounds, StateSpace
from forcemove.testing.walk import LegalMoves, first_state, terms_of
from forcemove_games.commitment import Opening
from forcemove_games.rock_paper_scissors import GAME
from forcemove_games.rock_paper_scissors.position import Weapon, decode
from forcemove_games.rock_paper_scissors.rules import legal_moves
from forcemove_games.two_player import NoSuchTransition, WrongAmount
from tests.protocol.builders import CountingRules, WrongCount

BEGIN = first_state(word(3), (5, 5))
LAST = 6


def space(moves: LegalMoves, begin: VariablePart = BEGIN) -> StateSpace:
    return StateSpace(begin, moves, Bounds(seconds=inf, seed=1))


class Untrue(CountingRules):
    def valid_transition(self, channel_id: bytes, from_: VariablePart, to: VariablePart, num_participants: int) -> bool:
        super().valid_transition(channel_id, from_, to, num_participants)
        return False


def count_of(state: VariablePart) -> int:
    return int.from_bytes(state.app_data, "big")


def one_more(state: VariablePart) -> list[Move]:
    return [Move(state.outcome, word(count_of(state) + 1))] if count_of(state) < LAST else []


def paying(amounts: dict[int, tuple[int, int]]) -> Callable[[VariablePart], list[Move]]:
    """Counting, with an outcome for each count."""

    def moves(state: VariablePart) -> list[Move]:
        number = count_of(state) + 1
        return [Move(outcome(*amounts[number]), word(number))] if number in amounts else []

    return moves


def is_last(state: VariablePart) -> bool:
    return count_of(state) >= LAST


def test_what_is_right_passes() -> None:
    assert properties.require_legal_moves(CountingRules(), space(one_more)) == 3
    assert properties.require_successors(space(one_more), is_last) == 4
    assert properties.require_no_gain_by_leaving(space(one_more), is_last) == 4


def a_call() -> TransitionCall:
    return TransitionCall(VariablePart(outcome(5, 5), word(4), 4), VariablePart(outcome(5, 5), word(5), 5))


def test_a_move_of_its_own_that_the_rules_refuse_is_found() -> None:
    def two_more(state: VariablePart) -> list[Move]:
        return [Move(state.outcome, word(count_of(state) + 2))] if count_of(state) < LAST else []

    with pytest.raises(AssertionError, match=r"the rules refuse the game's own move.*WrongCount"):
        properties.require_legal_moves(CountingRules(), space(two_more))


def test_a_rule_that_answers_something_else_than_true_is_found() -> None:
    with pytest.raises(AssertionError, match="answer False"):
        properties.require_legal_moves(Untrue(), space(one_more))


def test_a_move_that_makes_money_is_found() -> None:
    with pytest.raises(Exception, match="TotalChanged"):
        properties.require_legal_moves(CountingRules(), space(paying({4: (6, 5)})))


def test_a_state_that_nothing_can_follow_is_found() -> None:
    with pytest.raises(AssertionError, match="nothing legal can follow"):
        properties.require_successors(space(one_more), lambda state: count_of(state) > LAST)


def test_a_gain_by_walking_away_is_found() -> None:
    """Participant 1 is to lose its unit with its own next move, and would rather not make it."""
    with pytest.raises(AssertionError, match=r"participant 1 gets 5 by leaving .* and 4 by playing on"):
        properties.require_no_gain_by_leaving(space(paying({4: (5, 5), 5: (6, 4), 6: (6, 4)})), is_last)


def test_who_has_lost_already_gains_nothing() -> None:
    assert properties.require_no_gain_by_leaving(space(paying({4: (6, 4), 5: (6, 4), 6: (6, 4)})), is_last) == 4


def lenient(*_: object) -> bool:
    """Another verdict."""
    return True


def of_another_kind(channel_id: bytes, from_: VariablePart, to: VariablePart, num_participants: int) -> bool:
    """The same verdict with another error."""
    try:
        return GAME.valid_transition(channel_id, from_, to, num_participants)
    except AppError:
        raise NoSuchTransition(7, 7) from None


def with_another_value(channel_id: bytes, from_: VariablePart, to: VariablePart, num_participants: int) -> bool:
    """The same verdict and error with another value."""
    try:
        return GAME.valid_transition(channel_id, from_, to, num_participants)
    except WrongAmount as error:
        raise WrongAmount(error.index, error.expected, error.submitted + 1) from None


def one_round(state: VariablePart) -> list[Move]:
    """With rock hidden."""
    return legal_moves(state, Opening(Weapon.ROCK, bytes(32))) if decode(state.app_data).round_num == 0 else []


@dataclass(frozen=True)
class Twin:
    valid_transition: Callable[[bytes, VariablePart, VariablePart, int], bool]


@pytest.mark.parametrize("twin", [lenient, of_another_kind, with_another_value])
def test_a_twin_that_differs_is_found(twin: Callable[[bytes, VariablePart, VariablePart, int], bool]) -> None:
    bench = Bench(GAME.artifact, Twin(twin))
    begin = first_state(GAME.initial_app_data(terms_of((5, 5), 1)), (5, 5))
    with pytest.raises(AssertionError, match="RockPaperScissors and its twin differ about"):
        properties.require_both_alike(bench, space(one_round, begin))


def test_a_value_that_no_word_can_hold_is_a_difference() -> None:
    """Solidity would have stopped with a panic: `CountingApp` does, after the highest count."""
    bench = Bench(artifact("CountingApp"), CountingRules())
    with pytest.raises(AssertionError, match=r"WrongCount has the value .*, which no word can hold"):
        properties.require_both_alike(bench, space(one_more))


def test_neighbours_differ_from_the_call_in_every_word_length_and_amount() -> None:
    call = a_call()
    found = properties.neighbours(call)
    assert (found[0].from_, found[0].to) == (call.from_, call.to)
    assert len({(each.from_, each.to) for each in found}) == len(found)
    assert {len(each.to.app_data) for each in found} == {0, 31, 32, 33, 64}
    assert {(4, 6), (6, 4), (6, 5), (5, 6)} <= {tuple(e.amount for e in each.to.outcome) for each in found}


def test_neighbours_differ_in_every_word_and_length_of_the_evidence_of_the_second_state_alone() -> None:
    plain, shown = a_call(), word(7) + word(8)
    call = TransitionCall(replace(plain.from_, evidence=shown), replace(plain.to, evidence=shown))
    found = properties.neighbours(call)
    assert {each.from_.evidence for each in found} == {b""}
    assert {len(each.to.evidence) for each in found} == {0, 63, 64, 65, 96}
    words = [(each.to.evidence[:32] != word(7), each.to.evidence[32:64] != word(8)) for each in found]
    assert {(True, False), (False, True)} <= set(words)
    assert {len(each.to.evidence) for each in properties.neighbours(plain)} == {0, 1, 32}


class ShowingRules(CountingRules):
    """As the contract, which looks at no evidence, but for one that is too long."""

    def valid_transition(self, channel_id: bytes, from_: VariablePart, to: VariablePart, num_participants: int) -> bool:
        if len(to.evidence) > len(word(0)):
            raise WrongCount(0, 0)
        return super().valid_transition(channel_id, from_, to, num_participants)


def test_a_twin_that_differs_about_evidence_is_found() -> None:
    plain = a_call()
    call = TransitionCall(plain.from_, replace(plain.to, evidence=word(7)))
    changed = [call.unchanged(), call.evidence_word(0, 8), call.evidence_length(33), call.evidence_length(0)]
    assert all(Bench(artifact("CountingApp"), CountingRules()).compare(call, changed))
    with pytest.raises(TwinsDiffer, match="evidence of 33 bytes instead of 32"):
        Bench(artifact("CountingApp"), ShowingRules()).compare(call, [call.evidence_length(33)])


def long_call() -> TransitionCall:
    """Positions of 170 words and a half."""
    from_ = VariablePart(outcome(5, 5), bytes(5_456), 4)
    return TransitionCall(from_, VariablePart(outcome(5, 5), bytes(5_456), 5))


def test_of_long_positions_a_sample_of_words_is_changed_that_follows_from_a_seed() -> None:
    def changed(seed: int) -> set[tuple[bytes, ...]]:
        return {each.patches for each in properties.neighbours(long_call(), Random(seed))}

    alone = len(properties.neighbours(a_call())) - 1
    assert alone < properties.WORD_CHANGES < len(changed(1)) < properties.WORD_CHANGES + 30
    assert changed(1) == changed(1) != changed(2)
    assert changed(0) == {each.patches for each in properties.neighbours(long_call())}


def test_a_twin_that_differs_in_one_word_of_a_long_position_is_found_by_some_sample() -> None:
    """Each word of both states is changed by some seed."""
    words: set[tuple[int, int]] = set()
    for seed in range(16):
        for each in properties.neighbours(long_call(), Random(seed)):
            if len(each.from_.app_data) == len(each.to.app_data):
                words |= {
                    (side, at // 32)
                    for side, state in enumerate((each.from_, each.to))
                    for at in range(0, 5_440, 32)
                    if any(state.app_data[at : at + 32])
                }
    assert words == {(side, index) for side in (0, 1) for index in range(170)}
