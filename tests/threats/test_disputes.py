"""Challenges, answers and the clock: rows 1, 2, 3, 8, 17, 26 and 29 of the list of attacks."""

from __future__ import annotations

from itertools import product

import pytest
from msgspec.structs import replace

from forcemove import VariablePart, word
from forcemove.protocol.codec.packed_writer import challenge_call, checkpoint_call
from forcemove.protocol.logs import ChallengeRegistered, Checkpointed, Responded
from forcemove.protocol.types import UINT48_MAX, FixedPart, Signature
from forcemove.protocol.words import MAX_TURN_RECORD, Mode
from tests.parity.core_verdict import Verdict
from tests.protocol.builders import ALICE, BOB, DAY, MALLORY, chain, final, outcome, players, state
from tests.threats.court import ALLOWED, Court

HOUR = 3_600
A, B, M = ALICE.address, BOB.address, MALLORY.address


def answer(court: Court, fixed: FixedPart, kind: str) -> None:
    """Clear a challenge with state 11."""
    if kind == "respond":
        assert court.respond_with(fixed, state(11), state(12)) == ALLOWED
    else:
        assert court.checkpoint_with(fixed, *chain(11, 12)) == ALLOWED


# ------------------------------------------------------------------------------------------------------------- 1, 2, 3


@pytest.mark.parametrize("kind", ["respond", "checkpoint"])
def test_threat_01_a_cleared_challenge_cannot_be_replayed(court: Court, channel: FixedPart, kind: str) -> None:
    assert court.challenge_with(channel, *chain(10, 11)) == ALLOWED
    answer(court, channel, kind)
    for turn in range(12):
        refused = Verdict("TurnNumberNotIncreased", (12, turn))
        assert court.challenge_with(channel, state(turn)) == refused
        assert court.restate(channel, state(turn)) == refused
        assert turn == 0 or court.challenge_with(channel, *chain(turn - 1, turn)) == refused
        assert court.checkpoint_with(channel, state(turn)) == refused
    status = court.status(channel)
    assert (status.turn_num_record, status.finalizes_at) == (12, 0)


def test_threat_01_the_record_never_falls_and_old_challenges_stay_dead(court: Court, channel: FixedPart) -> None:
    """Years later, and after every further step of the game, whatever was challenged before is refused."""
    for turn in range(11, 41, 2):
        assert court.challenge_with(channel, *chain(turn - 1, turn), by=BOB) == ALLOWED
        assert court.respond_with(channel, state(turn), state(turn + 1)) == ALLOWED
        court.chain.travel_to(court.now + 365 * DAY)
        assert court.challenge_with(channel, *chain(10, 11), by=BOB) == ("TurnNumberNotIncreased", (turn + 1, 11))
        assert court.record(channel) == turn + 1


def test_threat_01_a_final_state_below_the_record_does_not_lower_it(court: Court, channel: FixedPart) -> None:
    """It pays in part here, so that there is a record left to look at."""
    assert court.deposit(A, court.id_of(channel), bytes(20), 0, 5) == ALLOWED
    assert court.challenge_with(channel, *chain(20, 21)) == ALLOWED
    assert court.conclude_with(channel, turn=14) == ALLOWED
    assert court.record(channel) == 21


@pytest.mark.parametrize("kind", ["challenge", "checkpoint"])
def test_threat_02_the_newest_state_lands_whatever_older_challenges_come_first(
    court: Court, channel: FixedPart, kind: str
) -> None:
    """Bob challenges with every older state that he can, in every order that the record allows; one transaction of
    Alice's is enough all the same."""
    older = (3, 5, 8, 13)
    for chosen in product((False, True), repeat=len(older)):
        with court.trial():
            for turn, is_sent in zip(older, chosen, strict=True):
                if is_sent:
                    assert court.challenge_with(channel, *chain(turn - 1, turn), by=BOB) == ALLOWED
            newest = court.challenge_with if kind == "challenge" else court.checkpoint_with
            assert newest(channel, *chain(20, 21)) == ALLOWED
            assert court.record(channel) == 21


def test_threat_03_the_same_turn_does_not_reset_the_clock(court: Court, channel: FixedPart) -> None:
    assert court.challenge_with(channel, *chain(10, 11)) == ALLOWED
    deadline = court.status(channel).finalizes_at
    court.chain.travel_to(court.now + HOUR)
    refused = Verdict("TurnNumberNotIncreased", (11, 11))
    for by in (ALICE, BOB):
        assert court.challenge_with(channel, *chain(10, 11), by=by) == refused
        assert court.challenge_with(channel, state(11), by=by) == refused
        assert court.restate(channel, state(11), by=by) == refused
    assert court.checkpoint_with(channel, *chain(10, 11)) == refused
    assert court.status(channel).finalizes_at == deadline == court.now - HOUR + DAY


# ---------------------------------------------------------------------------------------------------------------- 8


@pytest.mark.parametrize("swapped", ["app", "duration", "nonce", "participants"])
def test_threat_08_states_of_two_channels_are_no_proof(court: Court, channel: FixedPart, swapped: str) -> None:
    """The same states, but one of them signed with another app or duration."""
    other = {
        "app": court.channel(app=court.chain.deploy("PermissiveApp")),
        "duration": court.channel(duration=60),
        "nonce": court.channel(nonce=1),
        "participants": court.channel(keys=(BOB, ALICE)),
    }[swapped]
    states = chain(10, 11)
    ours, theirs = court.proof(channel, *states), court.proof(other, *states)
    for first, second in ((ours, theirs), (theirs, ours)):
        mixed = replace(first, signatures=(first.signatures[0], second.signatures[1]))
        assert court.challenge(A, channel, mixed).error == "WrongSigner"
        assert court.challenge(A, other, mixed).error == "WrongSigner"
    assert court.challenge(A, channel, ours) == ALLOWED
    assert court.status(other).is_empty
    assert court.respond_with(other, state(11), state(12)) == ("NoChallenge", (court.id_of(other),))


# --------------------------------------------------------------------------------------------------------------- 17


def test_threat_17_the_turn_after_the_last_is_not_the_first(court: Court, channel: FixedPart) -> None:
    """The states of the setup carry the same, so that nothing but their numbers tells the first from the last."""
    last = VariablePart(outcome(), word(3), UINT48_MAX)
    first = VariablePart(outcome(), word(3), 0)
    states = replace(last, turn_num=0), replace(first, turn_num=1)
    data, at = challenge_call(channel, court.proof(channel, *states)), court.proof_at(channel)
    wrapped = data[:at] + bytes(6) + data[at + 6 :]
    assert court.packed(A, wrapped) == ("NotCanonical", (at + 6,))
    assert court.challenge_with(channel, last) == ("TurnNumberTooHigh", (UINT48_MAX,))


def test_threat_17_the_turn_after_the_last_that_is_recorded_is_not_the_first(court: Court, channel: FixedPart) -> None:
    last = VariablePart(outcome(), word(3), MAX_TURN_RECORD)
    assert court.challenge_with(channel, last) == ALLOWED
    beyond = VariablePart(outcome(), word(4), MAX_TURN_RECORD + 1)
    assert court.respond_with(channel, last, beyond) == ("TurnNumberTooHigh", (MAX_TURN_RECORD + 1,))
    assert court.record(channel) == MAX_TURN_RECORD


def test_threat_17_the_last_turn_can_be_concluded(court: Court, channel: FixedPart) -> None:
    """When the numbers have run out, the money is shared, not locked."""
    court.fund(channel)
    assert court.challenge_with(channel, state(MAX_TURN_RECORD, app_data=word(3))) == ALLOWED
    assert court.conclude_with(channel, turn=UINT48_MAX) == ALLOWED


def test_threat_17_a_proof_is_no_longer_than_its_turn_allows(court: Court) -> None:
    """A state before turn 0 would have to carry the last number of all."""
    keys = players(3)
    fixed = court.channel(keys=keys)
    first, second = chain(0, 1, num_participants=3)
    three = chain(0, 1, 2, num_participants=3)
    data, at = challenge_call(fixed, court.proof(fixed, *three, keys=keys)), court.proof_at(fixed)
    for turn in (0, 1):
        early = data[:at] + turn.to_bytes(6) + data[at + 6 :]
        assert court.packed(A, early) == ("NotCanonical", (at + 6,))
    assert court.challenge(A, fixed, court.proof(fixed, first, second, keys=keys, pattern=(1, 1, 1))) == ALLOWED


def test_threat_17_a_proof_is_no_longer_than_there_are_participants(court: Court, channel: FixedPart) -> None:
    data, at = checkpoint_call(channel, court.proof(channel, *chain(10, 11))), court.proof_at(channel) + 6
    for count in (0, 3, 127):
        assert court.packed(A, data[:at] + bytes((count,)) + data[at + 1 :]) == ("StateCountOutOfRange", (count,))
    assert court.checkpoint(A, channel, court.proof(channel, *chain(10, 11))) == ALLOWED


# --------------------------------------------------------------------------------------------------------------- 26


@pytest.mark.parametrize("through", ["a person", "a contract"])
def test_threat_26_every_move_made_on_chain_is_logged_with_its_signatures(
    court: Court, channel: FixedPart, through: str
) -> None:
    """From any sender, and through any contract."""
    id_, sender = court.id_of(channel), M if through == "a person" else court.recipients["Reentry"]
    proof = court.proof(channel, *chain(10, 11))
    signed_challenge = court.sign_challenge(ALICE, state(11), channel)
    assert court.challenge(sender, channel, proof, signed_challenge) == ALLOWED
    assert court.logged(ChallengeRegistered(id_, court.now + DAY, state(11), proof.signatures))

    signature = court.sign(ALICE, state(12), channel)
    assert court.respond(sender, channel, state(11), state(12), signature) == ALLOWED
    assert court.logged(Responded(id_, state(12), signature))

    later = court.proof(channel, *chain(13, 14))
    assert court.checkpoint(sender, channel, later) == ALLOWED
    assert court.logged(Checkpointed(id_, state(14), later.signatures))


@pytest.mark.parametrize("kind", ["respond", "checkpoint"])
def test_threat_26_a_recorded_move_is_not_replaced_by_another_of_its_turn(
    court: Court, channel: FixedPart, kind: str
) -> None:
    """Alice moves on chain; then, with Bob's help or by luck, she has proof of another move of the same turn."""
    assert court.challenge_with(channel, *chain(10, 11)) == ALLOWED
    answer(court, channel, kind)
    other = state(12, outcome(15, 5))
    for proof in (court.proof(channel, state(11), other), court.proof(channel, other)):
        assert court.checkpoint(A, channel, proof) == ("TurnNumberNotIncreased", (12, 12))
        assert court.challenge(A, channel, proof) != ALLOWED
    assert court.restate(channel, other).error == "FingerprintMismatch"
    assert court.status(channel).mode(court.now) is Mode.OPEN
    assert court.restate(channel, state(12), by=BOB) == ALLOWED


def test_threat_26_a_response_answers_the_recorded_state_and_no_other(court: Court, channel: FixedPart) -> None:
    assert court.challenge_with(channel, *chain(10, 11)) == ALLOWED
    other = state(11, outcome(15, 5))
    assert court.respond_with(channel, other, state(12)).error == "FingerprintMismatch"
    assert court.respond_with(channel, state(11), state(12)) == ALLOWED


def test_threat_26_a_response_is_signed_by_its_mover(court: Court, channel: FixedPart) -> None:
    """The challenger cannot answer in the other's name."""
    assert court.challenge_with(channel, *chain(10, 11), by=BOB) == ALLOWED
    assert court.respond_with(channel, state(11), state(12), mover=BOB) == ("WrongSigner", (A, B))


def test_threat_26_what_is_not_checked_is_not_logged(court: Court, channel: FixedPart) -> None:
    """With the recorded state nobody smuggles signatures into the log."""
    assert court.checkpoint_with(channel, *chain(10, 11)) == ALLOWED
    forged = replace(court.proof(channel, state(11)), signatures=(Signature(b"\x22" * 64),) * 2)
    for junk in (forged, replace(forged, states=chain(10, 11)), replace(forged, states=chain(10, 11), signed_states=9)):
        with court.trial():
            assert court.challenge(A, channel, junk) == ALLOWED
            assert court.logged(ChallengeRegistered(court.id_of(channel), court.now + DAY, state(11), ()))


# --------------------------------------------------------------------------------------------------------------- 29


@pytest.mark.parametrize("challenged", [11, 13, 14, 21])
def test_threat_29_a_final_state_signed_by_all_answers_every_challenge(
    court: Court, channel: FixedPart, challenged: int
) -> None:
    """Also one of a later turn: a client that has signed a final state signs nothing after it."""
    court.fund(channel)
    assert court.challenge_with(channel, *chain(challenged - 1, challenged), by=BOB) == ALLOWED
    before = court.chain.balance(court.recipients["Reentry"]), court.chain.balance(B)
    entries = outcome(13, 7, to=(court.recipients["Reentry"], B))
    assert court.conclude_with(channel, *entries, turn=14) == ALLOWED
    assert court.chain.balance(court.recipients["Reentry"]) == before[0] + 13
    assert court.chain.balance(B) == before[1] + 7
    assert court.is_closed(court.id_of(channel))


def test_threat_29_concluding_ends_a_challenge_at_once(court: Court, channel: FixedPart) -> None:
    """Nothing is held, so the record stays to be looked at: it is finalised now, with the final state's outcome."""
    assert court.challenge_with(channel, *chain(10, 11), by=BOB) == ALLOWED
    last = final(14, outcome(13, 7))
    assert court.conclude_with(channel, *last.outcome) == ALLOWED
    assert court.status(channel).finalizes_at == court.now
    assert court.challenge_with(channel, *chain(20, 21), by=BOB).error == "ChannelFinalized"
    assert court.transfer_all(channel, state(11)).error == "FingerprintMismatch"
    assert court.transfer_all(channel, last) == ALLOWED
