"""States, pairs of states and support proofs. That the contracts say the same, tests/parity shows; here it is said what
they say."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from forcemove import ETHER, ForcemoveError, VariablePart
from forcemove.protocol import rule_errors, rules
from forcemove.protocol.app import Rules
from forcemove.protocol.encoding import channel_id, hash_state
from tests.expected import raising
from tests.protocol.builders import (
    ALICE,
    BOB,
    CAROL,
    COUNTING,
    DOMAIN,
    MALLORY,
    WrongCount,
    chain,
    count_data,
    final,
    fixed_part,
    outcome,
    players,
    proof,
    sign,
    signed,
    state,
)

CHANNEL = fixed_part()
ID = channel_id(CHANNEL, DOMAIN)


class Always:
    """An app with one answer."""

    def __init__(self, answer: bool) -> None:
        self.answer = answer
        self.asked: list[tuple[int, int, int]] = []

    def valid_transition(self, channel_id: bytes, from_: VariablePart, to: VariablePart, num_participants: int) -> bool:
        self.asked.append((from_.turn_num, to.turn_num, num_participants))
        return self.answer


def step(from_: VariablePart, to: VariablePart, app: Rules = COUNTING) -> None:
    rules.require_valid_transition(ID, CHANNEL, from_, hash_state(ID, from_), to, hash_state(ID, to), app)


def refusal(from_: VariablePart, to: VariablePart, app: Rules = COUNTING) -> ForcemoveError:
    with pytest.raises(ForcemoveError) as caught:
        step(from_, to, app)
    return caught.value


# ------------------------------------------------------------------------------------------------------- one state


def test_a_good_state_is_hashed() -> None:
    assert rules.require_valid_state(ID, DOMAIN.adjudicator, fixed_part(), state()) == hash_state(ID, state())


def test_app_data_has_at_most_8192_bytes() -> None:
    rules.require_valid_state(ID, DOMAIN.adjudicator, fixed_part(), state(app_data=bytes(8_192)))
    with raising(rule_errors.AppDataTooLong(8_193)):
        rules.require_valid_state(ID, DOMAIN.adjudicator, fixed_part(), state(app_data=bytes(8_193)))


def test_a_final_state_has_no_app_data() -> None:
    with raising(rule_errors.FinalStateWithAppData(1)):
        rules.require_valid_state(ID, DOMAIN.adjudicator, fixed_part(), state(app_data=b"x", is_final=True))


# ------------------------------------------------------------------------------------------------------- two states


def test_a_move_of_the_game_is_the_apps_to_judge() -> None:
    app = Always(True)
    step(state(10), state(11, outcome(20, 0)), app)
    assert app.asked == [(10, 11, 2)]


def test_the_app_may_refuse_by_saying_so_or_by_raising() -> None:
    assert refusal(state(10), state(11), Always(False)) == rule_errors.TransitionRefused()
    assert refusal(state(10), state(11, app_data=count_data(12))) == WrongCount(11, 12)


@pytest.mark.parametrize("to", [8, 9, 11])
def test_turns_follow_one_another(to: int) -> None:
    assert refusal(state(9), state(to)) == rule_errors.TurnNumberNotConsecutive(9, to)


def test_no_app_can_change_a_total() -> None:
    assert refusal(state(10), state(11, outcome(10, 11)), Always(True)) == rule_errors.TotalChanged(ETHER, 20, 21)


@pytest.mark.parametrize("turn", range(1, 4))
def test_the_setup_changes_nothing_and_asks_no_app(turn: int) -> None:
    step(state(turn - 1), state(turn), Always(False))
    assert refusal(state(turn - 1), state(turn, outcome(9, 11))) == rule_errors.OutcomeChanged()
    assert refusal(state(turn - 1), state(turn, app_data=b"other")) == rule_errors.AppDataChanged()


def test_the_game_begins_at_turn_2n() -> None:
    app = Always(True)
    step(state(2), state(3), app)
    step(state(3), state(4), app)
    assert app.asked == [(3, 4, 2)]


@pytest.mark.parametrize("turn", [1, 4, 11])
def test_a_final_state_may_follow_any_with_the_same_outcome(turn: int) -> None:
    step(state(turn - 1), final(turn), Always(False))
    step(final(turn - 1), final(turn), Always(False))
    assert refusal(state(turn - 1), final(turn, outcome(20, 0))) == rule_errors.OutcomeChanged()


def test_only_a_final_state_follows_a_final_state() -> None:
    assert refusal(final(10), state(11), Always(True)) == rule_errors.FinalStateRequired()


# ---------------------------------------------------------------------------------------------------------- support


def test_a_proof_gives_the_hashes_of_its_last_state() -> None:
    assert rules.require_supported(DOMAIN, CHANNEL, proof(*chain(10, 11)), COUNTING) == hash_state(ID, state(11))


def test_one_state_that_all_have_signed_asks_no_app() -> None:
    app = Always(False)
    rules.require_supported(DOMAIN, CHANNEL, proof(state(10)), app)
    assert app.asked == []


def test_every_step_of_a_proof_is_checked() -> None:
    keys = players(3)
    bad = proof(state(10), state(11), replace(state(12), app_data=count_data(13)), keys=keys)
    with pytest.raises(WrongCount):
        rules.require_supported(DOMAIN, fixed_part(keys), bad, COUNTING)


def test_a_stranger_supports_nothing() -> None:
    with raising(rule_errors.WrongSigner(BOB.address, MALLORY.address)):
        rules.require_supported(DOMAIN, CHANNEL, proof(*chain(10, 11), keys=(ALICE, MALLORY), fixed=CHANNEL), COUNTING)


# -------------------------------------------------------------------------------------------------- building proofs


def test_the_usual_proof_is_one_state_of_each_participant() -> None:
    states = [signed(state(9), BOB), signed(state(10), ALICE), signed(state(11), BOB)]
    assert rules.build_support_proof(CHANNEL, states) == proof(*chain(10, 11))


def test_one_state_suffices_that_all_have_signed() -> None:
    states = [signed(state(10), ALICE), signed(state(11), ALICE, BOB)]
    assert rules.build_support_proof(CHANNEL, states) == proof(state(11))


def test_a_later_signature_stands_for_an_earlier_one() -> None:
    keys = (ALICE, BOB, CAROL)
    channel = fixed_part(keys)
    states = [
        signed(state(9), ALICE, keys=keys),
        signed(state(10), ALICE, BOB, keys=keys),
        signed(state(11), CAROL, keys=keys),
    ]
    built = rules.build_support_proof(channel, states)
    assert built is not None
    assert built.states == chain(10, 11)
    rules.require_supported(DOMAIN, channel, built, COUNTING)


def test_a_signature_from_before_the_own_turn_does_not_count() -> None:
    states = [signed(state(9), BOB, ALICE), signed(state(10)), signed(state(11), BOB)]
    assert rules.build_support_proof(CHANNEL, states) is None


@pytest.mark.parametrize(
    "states",
    [
        [],
        [signed(state(10), ALICE)],
        [signed(state(11), BOB)],
        [signed(state(9), ALICE), signed(state(11), BOB)],
    ],
    ids=["none", "nobody else", "no predecessor", "a gap"],
)
def test_there_is_no_proof_where_a_signature_is_missing(states: list[Any]) -> None:
    assert rules.build_support_proof(CHANNEL, states) is None


def test_prefund_states_are_supported_from_the_first_turn_of_each() -> None:
    states = [signed(state(0), ALICE), signed(state(1), BOB)]
    assert rules.build_support_proof(CHANNEL, states[:1]) is None
    assert rules.build_support_proof(CHANNEL, states) == proof(*chain(0, 1))


def test_a_signature_of_another_channel_is_none_of_this_one() -> None:
    other = fixed_part(nonce=1)
    with pytest.raises(rule_errors.WrongSigner):
        rules.require_supported(DOMAIN, other, proof(*chain(10, 11), fixed=CHANNEL), COUNTING)
    assert sign(ALICE, state(), CHANNEL) != sign(ALICE, state(), other)
