"""The operations as the protocol tells them, on the pure model. That the bytecode does the same, tests/parity shows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from msgspec.structs import replace

from forcemove import Allocation, ForcemoveError, InvalidValue, Key, Outcome
from forcemove.protocol import adjudication, logs, rule_errors
from forcemove.protocol.adjudication import Adjudication, OperationResult, Payment, Transaction
from forcemove.protocol.encoding import channel_id, fingerprint, hash_state
from forcemove.protocol.types import ETHER, MAX_AMOUNT, Signature, SupportProof, VariablePart
from forcemove.protocol.words import EMPTY_STATUS, Mode, Status
from tests.protocol.builders import (
    ALICE,
    BOB,
    COUNTING,
    DAY,
    DOMAIN,
    MALLORY,
    NO_SIGNATURE,
    TOKEN,
    allocation,
    chain,
    final,
    fixed_part,
    outcome,
    proof,
    sign,
    sign_all,
    sign_challenge,
    state,
)

CHANNEL = fixed_part()
ID = channel_id(CHANNEL, DOMAIN)
OTHER_CHANNEL = fixed_part(nonce=1)
OTHER_ID = channel_id(OTHER_CHANNEL, DOMAIN)
START = 1_000_000


class Court:
    """An adjudicator that remembers; `refusing` are the accounts that take no payment."""

    def __init__(self) -> None:
        self.model = Adjudication(DOMAIN)
        self.now = START
        self.logs: tuple[logs.Log, ...] = ()
        self.payments: tuple[Payment, ...] = ()
        self.refusing: set[bytes] = set()
        self.fee = 0

    def _do(self, operation: Callable[..., OperationResult], sender: Key, *arguments: object, value: int = 0) -> None:
        transaction = Transaction(
            sender.address,
            self.now,
            value,
            lambda payment: payment.to not in self.refusing,
            lambda _, amount: amount - self.fee,
        )
        self.model, self.logs, self.payments = operation(self.model, transaction, *arguments)

    def deposit(self, sender: Key, expected: int, amount: int, asset: bytes = ETHER, id_: bytes = ID) -> None:
        value = amount if asset == ETHER else 0
        self._do(adjudication.deposit, sender, id_, asset, expected, amount, value=value)

    def deposit_value(self, value: int, asset: bytes) -> None:
        self._do(adjudication.deposit, ALICE, ID, asset, 0, 10, value=value)

    def challenge(self, sender: Key, proof_: SupportProof, signature: Signature | None = None) -> None:
        self._do(adjudication.challenge, sender, CHANNEL, proof_, signature, COUNTING)

    def respond(self, sender: Key, challenged: VariablePart, response: VariablePart, by: Key) -> None:
        self._do(adjudication.respond, sender, CHANNEL, challenged, response, sign(by, response), COUNTING)

    def checkpoint(self, sender: Key, proof_: SupportProof) -> None:
        self._do(adjudication.checkpoint, sender, CHANNEL, proof_, COUNTING)

    def conclude(self, sender: Key, state_: VariablePart, signatures: Sequence[Signature] | None = None) -> None:
        given = sign_all(state_) if signatures is None else signatures
        self._do(adjudication.conclude, sender, CHANNEL, state_.outcome, state_.turn_num, given)

    def transfer(self, state_: VariablePart, indices: Sequence[int] = (), owed: Outcome | None = None) -> None:
        owed = state_.outcome if owed is None else owed
        self._do(adjudication.transfer, MALLORY, ID, ETHER, hash_state(ID, state_).state, owed, indices)

    def claim(self, sender: Key, to: bytes, asset: bytes = ETHER) -> None:
        self._do(adjudication.claim, sender, asset, to)

    def finalize(self, state_: VariablePart) -> None:
        """Challenge with a state that all have signed, and let the clock run out."""
        self.challenge(ALICE, proof(state_))
        self.now += DAY

    @property
    def status(self) -> Status:
        return self.model.status_of(ID)

    @property
    def held(self) -> int:
        return self.model.holdings_of(ID, ETHER).amount


@pytest.fixture
def court() -> Court:
    return Court()


@pytest.fixture
def funded() -> Court:
    """Ten from each."""
    court = Court()
    court.deposit(ALICE, 0, 10)
    court.deposit(BOB, 10, 10)
    return court


def recorded(state_: VariablePart, finalizes_at: int = 0) -> Status:
    hashes = hash_state(ID, state_)
    return Status(state_.turn_num, finalizes_at, fingerprint(hashes.state, hashes.outcome))


def refuses(error: ForcemoveError, operation: Callable[[], None]) -> None:
    with pytest.raises(type(error)) as caught:
        operation()
    assert caught.value == error


# ---------------------------------------------------------------------------------------------------------- deposit


def test_a_deposit_is_held_and_logged(court: Court) -> None:
    court.deposit(ALICE, 0, 10)
    assert court.held == 10
    assert court.logs == (logs.Deposited(ID, ETHER, 10),)
    assert court.payments == ()


def test_dust_does_not_block_a_deposit_and_the_rest_comes_back(court: Court) -> None:
    court.deposit(MALLORY, 0, 1)
    court.deposit(ALICE, 0, 10)
    assert court.held == 10
    assert court.payments == (Payment(ETHER, ALICE.address, 1),)


def test_a_deposit_whose_rest_is_refused_reverts(court: Court) -> None:
    court.deposit(MALLORY, 0, 1)
    court.refusing.add(ALICE.address)
    refuses(rule_errors.PaymentRefused(ETHER, ALICE.address, 1), lambda: court.deposit(ALICE, 0, 10))
    assert court.held == 1


def test_the_second_deposit_relies_on_the_first(court: Court) -> None:
    refuses(rule_errors.HoldingsBelowExpected(0, 10), lambda: court.deposit(BOB, 10, 10))


def test_what_is_there_already_is_not_paid_twice(funded: Court) -> None:
    refuses(rule_errors.NothingToDeposit(20, 20), lambda: funded.deposit(BOB, 10, 10))


@pytest.mark.parametrize(("value", "asset", "expected"), [(9, ETHER, 10), (11, ETHER, 10), (1, TOKEN, 0)])
def test_ether_comes_along_exactly(court: Court, value: int, asset: bytes, expected: int) -> None:
    refuses(rule_errors.ValueMismatch(expected, value), lambda: court.deposit_value(value, asset))


def test_an_address_is_no_channel(court: Court) -> None:
    address = bytes(12) + ALICE.address
    refuses(rule_errors.NotAChannelId(address), lambda: court.deposit(ALICE, 0, 10, id_=address))


def test_what_arrived_of_a_token_is_held(court: Court) -> None:
    court.fee = 3
    court.deposit(ALICE, 0, 10, TOKEN)
    assert court.model.holdings_of(ID, TOKEN).amount == 7
    assert court.logs == (logs.Deposited(ID, TOKEN, 7),)


def test_a_channel_holds_less_than_2_to_254(court: Court) -> None:
    refuses(rule_errors.HoldingsOverflow(0, MAX_AMOUNT + 1), lambda: court.deposit(ALICE, 0, MAX_AMOUNT + 1))
    court.deposit(ALICE, 0, MAX_AMOUNT)
    assert court.held == MAX_AMOUNT


def test_a_token_that_brings_too_much_is_refused(court: Court) -> None:
    court.fee = -MAX_AMOUNT
    refuses(rule_errors.HoldingsOverflow(0, MAX_AMOUNT + 10), lambda: court.deposit(ALICE, 0, 10, TOKEN))


# -------------------------------------------------------------------------------------------------------- challenge


def test_a_challenge_starts_the_clock(court: Court) -> None:
    given = proof(*chain(10, 11))
    court.challenge(ALICE, given)
    assert court.status == recorded(state(11), START + DAY)
    assert court.logs == (logs.ChallengeRegistered(ID, START + DAY, state(11), given.signatures),)


@pytest.mark.parametrize("turn", [9, 10, 11])
def test_a_challenge_does_not_reset_the_clock(court: Court, turn: int) -> None:
    court.challenge(ALICE, proof(*chain(10, 11)))
    refuses(rule_errors.TurnNumberNotIncreased(11, turn), lambda: court.challenge(BOB, proof(state(turn))))


def test_a_challenge_is_overtaken_by_a_newer_one(court: Court) -> None:
    court.challenge(ALICE, proof(*chain(10, 11)))
    court.now += 100
    court.challenge(BOB, proof(*chain(11, 12)))
    assert court.status == recorded(state(12), START + 100 + DAY)


def test_an_outsider_does_not_challenge(court: Court) -> None:
    given = proof(*chain(10, 11))
    for signature in (None, NO_SIGNATURE):
        refuses(
            rule_errors.ChallengerNotParticipant(MALLORY.address),
            lambda signature=signature: court.challenge(MALLORY, given, signature),  # type: ignore[misc]
        )
    refuses(
        rule_errors.ChallengerNotParticipant(MALLORY.address),
        lambda: court.challenge(MALLORY, given, sign_challenge(MALLORY, state(11))),
    )


def test_a_participant_may_sign_a_challenge_for_somebody_to_send(court: Court) -> None:
    court.challenge(MALLORY, proof(*chain(10, 11)), sign_challenge(BOB, state(11)))
    assert court.status.mode(court.now) is Mode.CHALLENGE


@pytest.mark.parametrize("signature", [sign(BOB, state(11)), sign_challenge(BOB, state(12))])
def test_a_signature_of_the_state_or_of_another_challenge_is_none(court: Court, signature: Signature) -> None:
    with pytest.raises(rule_errors.ChallengerNotParticipant):
        court.challenge(MALLORY, proof(*chain(10, 11)), signature)


def test_the_recorded_state_is_challenged_without_a_proof(court: Court) -> None:
    court.checkpoint(MALLORY, proof(*chain(10, 11)))
    court.challenge(ALICE, SupportProof((state(11),), (), 0))
    assert court.logs == (logs.ChallengeRegistered(ID, START + DAY, state(11), ()),)


def test_another_state_of_the_recorded_turn_does_not_replace_it(court: Court) -> None:
    court.checkpoint(MALLORY, proof(*chain(10, 11)))
    other = state(11, outcome(20, 0))
    error = rule_errors.FingerprintMismatch(recorded(state(11)).fingerprint, recorded(other).fingerprint)
    refuses(error, lambda: court.challenge(ALICE, SupportProof((other,), (), 0)))


@pytest.mark.parametrize("given", [proof(state(11)), proof(*chain(10, 11)), SupportProof((state(11),), (), 0)])
def test_what_is_not_needed_is_neither_checked_nor_logged(court: Court, given: SupportProof) -> None:
    court.checkpoint(MALLORY, proof(*chain(10, 11)))
    court.challenge(ALICE, given)
    assert court.logs == (logs.ChallengeRegistered(ID, START + DAY, state(11), ()),)


def test_an_empty_proof_is_none(court: Court) -> None:
    refuses(rule_errors.StateCountOutOfRange(0), lambda: court.challenge(ALICE, SupportProof((), (), 0)))
    refuses(rule_errors.StateCountOutOfRange(0), lambda: court.checkpoint(ALICE, SupportProof((), (), 0)))


# ------------------------------------------------------------------------------------------------ respond, checkpoint


def test_the_next_move_clears_a_challenge(court: Court) -> None:
    court.challenge(ALICE, proof(*chain(10, 11)))
    court.respond(MALLORY, state(11), state(12), ALICE)
    assert court.status == recorded(state(12))
    assert court.logs == (logs.Responded(ID, state(12), sign(ALICE, state(12))),)


def test_only_the_mover_answers(court: Court) -> None:
    court.challenge(ALICE, proof(*chain(10, 11)))
    refuses(rule_errors.WrongSigner(ALICE.address, BOB.address), lambda: court.respond(BOB, state(11), state(12), BOB))


def test_without_a_challenge_there_is_nothing_to_answer(court: Court) -> None:
    court.checkpoint(MALLORY, proof(*chain(10, 11)))
    refuses(rule_errors.NoChallenge(ID), lambda: court.respond(ALICE, state(11), state(12), ALICE))


def test_the_challenged_state_is_given_again(court: Court) -> None:
    court.challenge(ALICE, proof(*chain(10, 11)))
    other = state(11, outcome(20, 0))
    error = rule_errors.FingerprintMismatch(recorded(state(11)).fingerprint, recorded(other).fingerprint)
    refuses(error, lambda: court.respond(ALICE, other, state(12), ALICE))


def test_a_response_has_the_turns_of_the_record(court: Court) -> None:
    """Whatever turns it is given with: its calldata has none."""
    court.challenge(ALICE, proof(*chain(10, 11)))
    court.respond(MALLORY, replace(state(11), turn_num=0), state(12), ALICE)
    assert court.status == recorded(state(12))


def test_a_later_state_clears_a_challenge_whoever_sends_it(court: Court) -> None:
    court.challenge(BOB, proof(*chain(8, 9)))
    given = proof(*chain(12, 13))
    court.checkpoint(MALLORY, given)
    assert court.status == recorded(state(13))
    assert court.logs == (logs.Checkpointed(ID, state(13), given.signatures),)


@pytest.mark.parametrize("turn", range(2, 13))
def test_after_clearing_no_older_challenge_comes_back(court: Court, turn: int) -> None:
    court.checkpoint(MALLORY, proof(*chain(12, 13)))
    refuses(rule_errors.TurnNumberNotIncreased(13, turn), lambda: court.challenge(BOB, proof(*chain(turn - 1, turn))))
    refuses(rule_errors.TurnNumberNotIncreased(13, turn), lambda: court.checkpoint(BOB, proof(*chain(turn - 1, turn))))


def test_older_challenges_mined_first_do_not_keep_the_newest_state_out(court: Court) -> None:
    for turn in (2, 5, 9, 12):
        court.challenge(BOB, proof(*chain(turn - 1, turn)))
    court.checkpoint(ALICE, proof(*chain(12, 13)))
    assert court.status == recorded(state(13))


@pytest.mark.parametrize("early", [1, 0])
def test_at_the_deadline_it_is_too_late_to_answer_and_time_to_pay(funded: Court, early: int) -> None:
    funded.challenge(ALICE, proof(*chain(10, 11)))
    funded.now = START + DAY - early
    if early:
        refuses(rule_errors.ChannelNotFinalized(ID, START + DAY), lambda: funded.transfer(state(11)))
        funded.respond(ALICE, state(11), state(12), ALICE)
        return
    too_late = rule_errors.ChannelFinalized(ID, START + DAY)
    refuses(too_late, lambda: funded.respond(ALICE, state(11), state(12), ALICE))
    refuses(too_late, lambda: funded.checkpoint(ALICE, proof(*chain(12, 13))))
    refuses(too_late, lambda: funded.challenge(ALICE, proof(*chain(12, 13))))
    refuses(too_late, lambda: funded.conclude(ALICE, final()))
    funded.transfer(state(11))
    assert funded.held == 0


# --------------------------------------------------------------------------------------------------------- conclude


def test_conclude_pays_and_leaves_a_tombstone_and_no_status(funded: Court) -> None:
    funded.conclude(MALLORY, final(14, outcome(12, 8)))
    assert funded.payments == (Payment(ETHER, ALICE.address, 12), Payment(ETHER, BOB.address, 8))
    assert funded.logs == (logs.Closed(ID),)
    assert funded.status == EMPTY_STATUS
    assert funded.model.holdings_of(ID, ETHER).closed


def test_a_final_state_below_the_record_concludes(funded: Court) -> None:
    funded.challenge(BOB, proof(*chain(20, 21)))
    funded.conclude(ALICE, final(14))
    assert funded.model.holdings_of(ID, ETHER).closed


def test_conclude_with_too_little_keeps_the_higher_record(court: Court) -> None:
    court.checkpoint(ALICE, proof(*chain(20, 21)))
    court.conclude(ALICE, final(14))
    assert (court.status.turn_num_record, court.status.finalizes_at) == (21, START)
    assert court.logs == (logs.Concluded(ID, 14), logs.PartlyPaid(ID, hash_state(ID, final(14)).state, outcome()))


@pytest.mark.parametrize(
    ("signatures", "error"),
    [
        (sign_all(final())[:1], InvalidValue("signatures", 1, "2")),
        (sign_all(final(), (ALICE, MALLORY), CHANNEL), rule_errors.WrongSigner(BOB.address, MALLORY.address)),
        (sign_all(final(), (ALICE, ALICE), CHANNEL), rule_errors.WrongSigner(BOB.address, ALICE.address)),
    ],
    ids=["missing", "wrong", "repeated"],
)
def test_conclude_needs_everybody(funded: Court, signatures: tuple[Signature, ...], error: ForcemoveError) -> None:
    refuses(error, lambda: funded.conclude(ALICE, final(), signatures))


def test_signatures_of_a_state_that_is_not_final_conclude_nothing(funded: Court) -> None:
    with pytest.raises(rule_errors.WrongSigner):
        funded.conclude(ALICE, final(14), sign_all(state(14, app_data=b"")))


def test_a_paid_out_channel_is_closed_for_ever(funded: Court) -> None:
    funded.conclude(ALICE, final())
    refuses(rule_errors.ChannelClosed(ID), lambda: funded.deposit(ALICE, 0, 10))
    refuses(rule_errors.ChannelClosed(ID), lambda: funded.challenge(ALICE, proof(*chain(10, 11))))
    refuses(rule_errors.ChannelClosed(ID), lambda: funded.checkpoint(ALICE, proof(*chain(10, 11))))
    refuses(rule_errors.ChannelClosed(ID), lambda: funded.conclude(ALICE, final()))
    refuses(rule_errors.ChannelNotFinalized(ID, 0), lambda: funded.transfer(final()))
    refuses(rule_errors.NoChallenge(ID), lambda: funded.respond(ALICE, state(11), state(12), ALICE))


def test_a_surplus_goes_with_the_last_payment(funded: Court) -> None:
    funded.deposit(MALLORY, 20, 5)
    funded.conclude(ALICE, final())
    assert funded.held == 0
    assert [payment.amount for payment in funded.payments] == [10, 15]


# --------------------------------------------------------------------------------------------------------- transfer


def test_entries_are_paid_in_order_as_far_as_the_holdings_reach(funded: Court) -> None:
    poor = state(11, outcome(15, 10))
    funded.finalize(poor)
    funded.transfer(poor)
    assert funded.payments == (Payment(ETHER, ALICE.address, 15), Payment(ETHER, BOB.address, 5))
    assert funded.logs == (logs.PartlyPaid(ID, hash_state(ID, poor).state, outcome(0, 5)),)
    assert not funded.model.holdings_of(ID, ETHER).closed


def test_a_later_entry_is_not_paid_with_an_earlier_ones_money(funded: Court) -> None:
    poor = state(11, outcome(15, 10))
    funded.finalize(poor)
    funded.transfer(poor, [1])
    assert funded.payments == (Payment(ETHER, BOB.address, 5),)
    assert funded.held == 15


def test_entries_are_paid_one_by_one_and_the_last_closes(funded: Court) -> None:
    paid = state(11)
    funded.finalize(paid)
    funded.transfer(paid, [1])
    assert funded.model.holdings_of(ID, ETHER).payout_begun
    funded.transfer(paid, [0], owed=outcome(10, 0))
    assert funded.logs == (logs.Closed(ID),)
    assert funded.model.holdings_of(ID, ETHER).closed


def test_what_was_paid_is_not_paid_again(funded: Court) -> None:
    paid = state(11)
    funded.finalize(paid)
    funded.transfer(paid, [1])
    with pytest.raises(rule_errors.FingerprintMismatch):
        funded.transfer(paid, [1])


def test_deposits_end_with_the_first_payout(funded: Court) -> None:
    poor = state(11, outcome(15, 10))
    funded.finalize(poor)
    funded.deposit(BOB, 20, 1)
    funded.transfer(poor, [0])
    refuses(rule_errors.PayoutBegun(ID), lambda: funded.deposit(BOB, 6, 4))


@pytest.mark.parametrize(
    ("indices", "error"),
    [
        ([1, 0], rule_errors.IndicesNotIncreasing(1)),
        ([0, 0], rule_errors.IndicesNotIncreasing(1)),
        ([3], rule_errors.IndexOutOfRange(3)),
        ([0, 2], rule_errors.IndexOfAnotherAsset(2)),
    ],
)
def test_indices_rise_and_are_of_one_asset(funded: Court, indices: list[int], error: ForcemoveError) -> None:
    two_assets = state(11, (*outcome(10, 10), *outcome(5, asset=TOKEN)))
    funded.finalize(two_assets)
    refuses(error, lambda: funded.transfer(two_assets, indices))


def test_a_channel_funds_another(funded: Court) -> None:
    ledger = final(14, outcome(15, 5, to=(OTHER_ID, BOB)))
    funded.conclude(ALICE, ledger)
    assert funded.model.holdings_of(OTHER_ID, ETHER).amount == 15
    assert funded.payments == (Payment(ETHER, BOB.address, 5),)
    assert funded.model.holdings_of(ID, ETHER).closed


def test_a_payment_to_a_closed_channel_is_skipped_and_stays_owed(court: Court) -> None:
    court.deposit(ALICE, 0, 5, id_=OTHER_ID)
    closing = final(14, outcome(5))
    signatures = sign_all(closing, fixed=OTHER_CHANNEL)
    court._do(adjudication.conclude, ALICE, OTHER_CHANNEL, closing.outcome, 14, signatures)
    court.deposit(ALICE, 0, 20)
    court.conclude(ALICE, final(14, outcome(15, 5, to=(OTHER_ID, BOB))))
    assert court.payments == (Payment(ETHER, BOB.address, 5),)
    assert court.held == 15
    assert not court.model.holdings_of(ID, ETHER).closed


def test_assets_are_paid_apart(funded: Court) -> None:
    funded.deposit(BOB, 0, 3, TOKEN)
    both: tuple[Allocation, ...] = (*outcome(10, 10), allocation(BOB, 4, TOKEN))
    funded.conclude(ALICE, final(14, both))
    assert funded.payments[-1] == Payment(TOKEN, BOB.address, 3)
    left = (*outcome(0, 0), allocation(BOB, 1, TOKEN))
    assert funded.logs[-1] == logs.PartlyPaid(ID, hash_state(ID, final(14, both)).state, left)


# ------------------------------------------------------------------------------------------------------------ claim


@pytest.fixture
def refused(funded: Court) -> Court:
    """Alice took no payment of 10."""
    funded.refusing.add(ALICE.address)
    funded.conclude(BOB, final())
    return funded


def test_a_refused_payment_becomes_a_credit_and_counts_as_paid(refused: Court) -> None:
    assert refused.payments == (Payment(ETHER, BOB.address, 10),)
    assert refused.logs == (logs.Closed(ID), logs.Credited(ALICE.address, ETHER, 10))
    assert refused.model.credit_of(ALICE.address, ETHER) == 10
    assert refused.model.holdings_of(ID, ETHER).closed


def test_a_credit_is_claimed_once_by_its_owner(refused: Court) -> None:
    refuses(rule_errors.NothingToClaim(BOB.address, ETHER), lambda: refused.claim(BOB, BOB.address))
    refused.claim(ALICE, BOB.address)
    assert refused.payments == (Payment(ETHER, BOB.address, 10),)
    assert refused.logs == (logs.Claimed(ALICE.address, ETHER, BOB.address, 10),)
    refuses(rule_errors.NothingToClaim(ALICE.address, ETHER), lambda: refused.claim(ALICE, BOB.address))


def test_a_claim_that_is_refused_keeps_the_credit(refused: Court) -> None:
    refuses(rule_errors.PaymentRefused(ETHER, ALICE.address, 10), lambda: refused.claim(ALICE, ALICE.address))
    assert refused.model.credit_of(ALICE.address, ETHER) == 10


@pytest.mark.parametrize("to", [bytes(20), DOMAIN.adjudicator])
def test_nobody_is_no_recipient(refused: Court, to: bytes) -> None:
    refuses(rule_errors.ForbiddenRecipient(to), lambda: refused.claim(ALICE, to))


def test_nothing_is_changed_in_place(funded: Court) -> None:
    before = funded.model
    funded.conclude(ALICE, final())
    assert before.holdings_of(ID, ETHER).amount == 20
    assert funded.held == 0
