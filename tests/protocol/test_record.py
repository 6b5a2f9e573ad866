"""The record that the logs make, held against the model of the adjudicator that has logged them. At random, too: the
invariant of `test_machine_random` asks after everything that happens to a channel."""

from __future__ import annotations

from forcemove.protocol import adjudication as model
from forcemove.protocol.adjudication import Adjudication, OperationResult, Transaction
from forcemove.protocol.encoding import channel_id, hash_state
from forcemove.protocol.logs import ChallengeRegistered, Claimed, Credited, Deposited, Log
from forcemove.protocol.machine.record import EMPTY_RECORD, Owed, Record, fold_all
from forcemove.protocol.types import ETHER, FixedPart, SignedState, SupportProof, VariablePart
from tests.protocol.builders import (
    ALICE,
    BOB,
    COUNTING,
    DAY,
    DOMAIN,
    chain,
    final,
    fixed_part,
    outcome,
    players,
    proof,
    sign,
    sign_all,
)

NOW = 1_000_000
TWO = fixed_part()


class Court:
    """The model, and everything that it has logged."""

    def __init__(self) -> None:
        self.model, self.now = Adjudication(DOMAIN), NOW
        self.logs: list[Log] = []

    def takes(self, result: OperationResult) -> None:
        self.model = result.adjudication
        self.logs += result.logs

    @property
    def transaction(self) -> Transaction:
        return Transaction(ALICE.address, self.now)

    def challenge(self, given: SupportProof, fixed: FixedPart = TWO) -> None:
        self.takes(model.challenge(self.model, self.transaction, fixed, given, None, COUNTING))

    def checkpoint(self, given: SupportProof, fixed: FixedPart = TWO) -> None:
        self.takes(model.checkpoint(self.model, self.transaction, fixed, given, COUNTING))

    def fund(self, amount: int) -> None:
        self.takes(model.deposit(self.model, Transaction(ALICE.address, self.now, amount), ID, ETHER, 0, amount))

    def conclude(self, last: VariablePart) -> None:
        self.takes(model.conclude(self.model, self.transaction, TWO, last.outcome, last.turn_num, sign_all(last)))

    @property
    def record(self) -> Record:
        record = fold_all(self.logs, DOMAIN, self.now)
        assert record.status == self.model.status_of(ID)
        return record


ID = channel_id(TWO, DOMAIN)


def test_nothing_logged_is_an_empty_record() -> None:
    assert fold_all([], DOMAIN, NOW) == EMPTY_RECORD
    others: list[Log] = [
        Deposited(ID, ETHER, 5),
        Credited(BOB.address, ETHER, 1),
        Claimed(BOB.address, ETHER, BOB.address, 1),
    ]
    assert fold_all(others, DOMAIN, NOW) == EMPTY_RECORD


def test_a_challenge_records_its_state_with_those_who_have_signed_it() -> None:
    court, states = Court(), chain(10, 11)
    court.challenge(proof(*states))

    record = court.record

    assert record.status.finalizes_at == NOW + DAY
    assert record.recorded is not None
    assert record.recorded.signed_by(TWO.participants) == SignedState(states[1], {1: sign(BOB, states[1])})
    assert record.owed == Owed(hash_state(ID, states[1]).state, states[1].outcome)


def test_the_same_state_recorded_again_keeps_its_signatures() -> None:
    court, states = Court(), chain(10, 11)
    court.checkpoint(proof(*states))
    first = court.record.recorded
    court.challenge(SupportProof(states[1:], (), 0))

    assert isinstance(court.logs[-1], ChallengeRegistered)
    assert court.logs[-1].signatures == ()
    assert court.record.recorded == first


def test_another_state_takes_over_no_signature() -> None:
    court = Court()
    court.checkpoint(proof(*chain(10, 11)))
    later = chain(11, 12)
    court.checkpoint(proof(*later))

    assert court.record.recorded is not None
    assert court.record.recorded.signed_by(TWO.participants) == SignedState(later[1], {0: sign(ALICE, later[1])})


def test_of_a_proof_from_the_record_only_the_last_signature_is_of_the_state() -> None:
    keys = players(3)
    fixed = fixed_part(keys)
    states = chain(10, 11, 12, num_participants=3)
    court = Court()
    court.checkpoint(SupportProof(states[:1], sign_all(states[0], keys, fixed), 0), fixed)
    signatures = (sign(keys[2], states[1], fixed), sign(keys[0], states[2], fixed))
    court.checkpoint(SupportProof(states, signatures, 0), fixed)

    recorded = fold_all(court.logs, DOMAIN, NOW).recorded

    assert recorded is not None
    assert recorded.signed_by(fixed.participants) == SignedState(states[2], {0: signatures[1]})


def test_an_answer_stops_the_clock() -> None:
    court, states = Court(), chain(10, 11, 12)
    court.challenge(proof(*states[:2]))
    signature = sign(ALICE, states[2])
    court.takes(model.respond(court.model, court.transaction, TWO, states[1], states[2], signature, COUNTING))

    assert court.record.status.finalizes_at == 0
    assert court.record.recorded is not None
    assert court.record.recorded.state == states[2]


def test_a_payout_leaves_what_is_still_owed() -> None:
    court, states = Court(), chain(10, 11)
    court.fund(20)
    court.challenge(proof(*states))
    before = court.record.recorded
    court.now += DAY
    hashes = hash_state(ID, states[1])
    court.takes(model.transfer(court.model, court.transaction, ID, ETHER, hashes.state, states[1].outcome, [0]))

    record = court.record

    assert (record.recorded, record.payout_begun, record.closed) == (before, True, False)
    first, second = states[1].outcome
    assert record.owed == Owed(hashes.state, outcome(0, second.amount))
    assert first.amount > 0


def test_what_was_concluded_without_enough_money_is_owed_and_no_older_record_is_shown_for_it() -> None:
    court = Court()
    court.challenge(proof(*chain(10, 11)))
    court.fund(5)
    last = final(20)
    court.conclude(last)

    record = court.record

    assert record.status.turn_num_record == 20
    assert (record.recorded, record.payout_begun, record.closed) == (None, True, False)
    assert record.owed is not None
    assert record.owed.state_hash == hash_state(ID, last).state


def test_a_final_state_that_was_recorded_before_it_was_concluded_is_still_shown() -> None:
    court, last = Court(), final(20)
    court.checkpoint(SupportProof((last,), sign_all(last), 0))
    court.fund(5)
    court.conclude(last)

    assert court.record.recorded is not None
    assert court.record.recorded.state == last


def test_of_a_closed_channel_the_recorded_state_is_kept_to_say_what_was_paid() -> None:
    court = Court()
    court.fund(20)
    court.challenge(proof(*chain(10, 11)))
    court.conclude(final(20))

    assert court.record.recorded is not None
    assert court.record == Record(recorded=court.record.recorded, payout_begun=True, closed=True)
    assert (court.record.recorded.state, court.record.recorded.signatures) == (chain(10, 11)[-1], ())
