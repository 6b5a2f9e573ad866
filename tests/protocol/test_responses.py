"""What answers a challenge, from what somebody holds: every pair of a challenged and a newest state, asked of the model
of the adjudicator."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from forcemove import FixedPart, Key, RuleError, SignedState, VariablePart, channel_id
from forcemove.protocol import adjudication as model
from forcemove.protocol.adjudication import Adjudication, OperationResult, Transaction
from forcemove.protocol.machine.effects import SubmitCheckpoint, SubmitConclude, SubmitRespond
from forcemove.protocol.machine.responses import Answer, best_answer, cheapest_proof, concluding_answer
from tests.expected import known
from tests.protocol.builders import (
    ALICE,
    BOB,
    COUNTING,
    DOMAIN,
    MALLORY,
    final,
    fixed_part,
    outcome,
    players,
    proof,
    sign_all,
    signed,
    state,
)

NOW = 1_000


def played(count: int, *turns: int) -> list[SignedState]:
    """As play leaves them: each signed by its mover."""
    keys = players(count)
    return [signed(state(turn, num_participants=count), keys[turn % count], keys=keys) for turn in turns]


def challenged_chain(keys: Sequence[Key], *states: VariablePart) -> Adjudication:
    fixed = fixed_part(keys)
    transaction = Transaction(keys[0].address, NOW)
    proven = proof(*states, keys=keys)
    return model.challenge(Adjudication(DOMAIN), transaction, fixed, proven, None, COUNTING).adjudication


def give(chain: Adjudication, fixed: FixedPart, answer: Answer, sender: Key = MALLORY) -> OperationResult:
    """Let anybody, a watchtower for instance, send it."""
    transaction = Transaction(sender.address, NOW + 1)
    match answer:
        case SubmitRespond(challenged, response, signature):
            return model.respond(chain, transaction, fixed, challenged, response, signature, COUNTING)
        case SubmitCheckpoint(proven):
            return model.checkpoint(chain, transaction, fixed, proven, COUNTING)
        case SubmitConclude(entries, turn_num, signatures):
            return model.conclude(chain, transaction, fixed, entries, turn_num, signatures)


@pytest.mark.parametrize("count", [2, 3, 4])
def test_whatever_is_newer_clears_the_challenge_and_nothing_else_is_sent(count: int) -> None:
    """Challenged at 20, holding the n + 1 states up to any turn around it."""
    keys, fixed = players(count), fixed_part(players(count))
    chain = challenged_chain(keys, *(each.state for each in played(count, *range(21 - count, 21))))
    challenged = played(count, 20)[0]
    for newest in range(20 - count, 22 + 2 * count):
        held = played(count, *range(newest - count, newest + 1))
        answer = best_answer(fixed, challenged, held)
        assert (answer is not None) == (newest > 20)
        if answer is not None:
            status = give(chain, fixed, answer).adjudication.status_of(_id(fixed))
            assert (status.turn_num_record, status.finalizes_at) == (newest, 0)


def _id(fixed: FixedPart) -> bytes:
    return channel_id(fixed, DOMAIN)


def test_the_very_next_state_needs_only_its_movers_signature() -> None:
    held = played(2, 9, 10, 11)
    answer = best_answer(fixed_part(), held[1], held)
    assert answer == SubmitRespond(held[1].state, held[2].state, held[2].signatures[1])


def test_a_state_that_follows_another_than_the_challenged_one_is_checkpointed() -> None:
    """Bob has made two states of turn 11: one for us, one for the chain."""
    held = played(2, 10, 11, 12)
    challenged = signed(state(11, outcome(20, 0)), BOB)
    answer = best_answer(fixed_part(), challenged, held)
    assert isinstance(answer, SubmitCheckpoint)
    chain = challenged_chain((ALICE, BOB), state(10), challenged.state)
    assert give(chain, fixed_part(), answer).adjudication.status_of(_id(fixed_part())).turn_num_record == 12


@pytest.mark.parametrize("count", [3, 8])
def test_what_goes_on_from_the_challenged_state_needs_no_more_than_its_movers(count: int) -> None:
    """As far as one proof reaches; further on, everybody's signatures are needed."""
    keys, fixed = players(count), fixed_part(players(count))
    before, challenged = played(count, *range(21 - count, 21)), played(count, 20)[0]
    chain = challenged_chain(keys, *(each.state for each in before))
    for newest in range(22, 21 + count):
        held = played(count, *range(newest - count, newest + 1))
        answer = best_answer(fixed, challenged, held)
        assert isinstance(answer, SubmitCheckpoint)
        is_from_record = newest < 20 + count
        assert answer.proof.is_from_record == is_from_record
        assert len(answer.proof.signatures) == (newest - 20 if is_from_record else count)
        status = give(chain, fixed, answer).adjudication.status_of(_id(fixed))
        assert (status.turn_num_record, status.finalizes_at) == (newest, 0)


def test_one_state_that_all_have_signed_is_cheaper_than_a_chain_from_the_record() -> None:
    keys, fixed = players(3), fixed_part(players(3))
    last = signed(state(22, num_participants=3), *keys, keys=keys)
    held = [*played(3, 20, 21), last]
    found = known(cheapest_proof(fixed, held[0].state, held))
    assert found.states == (last.state,)
    without_carol = signed(last.state, *keys[:2], keys=keys)
    found = known(cheapest_proof(fixed, held[0].state, [*held[:2], without_carol]))
    assert found.is_from_record


@pytest.mark.parametrize("challenged", [10, 13, 14, 21])
def test_what_all_have_signed_concludes_whatever_was_challenged(challenged: int) -> None:
    held = [*played(2, 12, 13), signed(final(14), ALICE, BOB)]
    answer = best_answer(fixed_part(), played(2, challenged)[0], held)
    assert answer == SubmitConclude(outcome(), 14, sign_all(final(14)))


def test_a_final_state_that_somebody_has_not_signed_responds() -> None:
    held = [*played(2, 12, 13), signed(final(14), ALICE)]
    answer = best_answer(fixed_part(), held[1], held)
    assert isinstance(answer, SubmitRespond)
    chain = challenged_chain((ALICE, BOB), state(12), state(13))
    assert give(chain, fixed_part(), answer).adjudication.status_of(_id(fixed_part())).turn_num_record == 14


def test_without_proof_there_is_no_answer() -> None:
    assert best_answer(fixed_part(), played(2, 10)[0], []) is None
    assert best_answer(fixed_part(), played(2, 10)[0], played(2, 12)) is None
    assert best_answer(fixed_part(), played(2, 10)[0], [SignedState(state(10)), SignedState(state(11))]) is None
    assert best_answer(fixed_part(), played(2, 10)[0], played(2, 10, 12)) is None


def test_only_a_final_state_signed_by_all_concludes() -> None:
    assert concluding_answer(fixed_part(), signed(final(), ALICE, BOB)) is not None
    assert concluding_answer(fixed_part(), signed(final(), ALICE)) is None
    assert concluding_answer(fixed_part(), signed(state(), ALICE, BOB)) is None


def test_an_answer_to_a_challenge_that_nobody_made_is_refused_by_name() -> None:
    held = played(2, 9, 10, 11)
    answer = best_answer(fixed_part(), held[1], held)
    assert answer is not None
    with pytest.raises(RuleError):
        give(Adjudication(DOMAIN), fixed_part(), answer)
