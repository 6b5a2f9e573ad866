"""What `IAdjudicator` promises to channels that fund channels: ledgers and intermediaries need no other contract."""

from __future__ import annotations

from itertools import permutations

import pytest
from msgspec.structs import replace

from forcemove import ETHER, FixedPart, Outcome, VariablePart
from forcemove.protocol.encoding import hash_state
from forcemove.protocol.logs import Closed, Deposited
from tests.protocol.builders import ALICE, BOB, MALLORY, allocation, chain, final, outcome, state
from tests.threats.court import ALLOWED, Court

A, B, M = ALICE.address, BOB.address, MALLORY.address
NOBODY_HOME = bytes.fromhex("de" * 20)
"""An app address without code."""


@pytest.fixture
def ledger(court: Court) -> FixedPart:
    """Funded with twenty."""
    fixed = court.channel(nonce=100)
    court.fund(fixed)
    return fixed


# ------------------------------------------------------------------------------------- logs of payments to channels


@pytest.mark.parametrize("asset", ["ether", "TestToken"])
def test_a_payment_to_a_channel_is_logged_with_what_it_holds_now(court: Court, asset: str) -> None:
    """As a deposit is, once for each payment, also of several in one payout."""
    token = ETHER if asset == "ether" else court.tokens[asset]
    ledger, first, second = (court.channel(nonce=nonce) for nonce in (100, 1, 2))
    court.fund(ledger, asset=token)
    assert court.deposit(A, court.id_of(first), token, 0, 3) == ALLOWED
    paid = [(court.id_of(first), 5), (court.id_of(second), 6), (court.id_of(first), 7)]
    entries = (*(allocation(id_, amount, token) for id_, amount in paid), allocation(A, 2, token))
    assert court.conclude_with(ledger, *entries) == ALLOWED
    for id_, held in ((court.id_of(first), 8), (court.id_of(second), 6), (court.id_of(first), 15)):
        assert court.logged(Deposited(id_, token, held))
    assert (court.held(court.id_of(first), token), court.held(court.id_of(second), token)) == (15, 6)


def test_what_a_channel_is_not_paid_is_not_logged(court: Court, ledger: FixedPart) -> None:
    """A closed channel is skipped."""
    closed = court.channel(nonce=1)
    court.fund(closed)
    assert court.conclude_with(closed) == ALLOWED
    assert court.conclude_with(ledger, allocation(court.id_of(closed), 5), allocation(A, 15)) == ALLOWED
    assert not any(court.logged(Deposited(court.id_of(closed), ETHER, held)) for held in range(40))


# ------------------------------------------------------------------------------------------------- what is promised


def test_one_state_signed_by_all_may_jump_turns_and_change_the_totals(court: Court, channel: FixedPart) -> None:
    assert court.checkpoint_with(channel, state(11)) == ALLOWED
    for turn, owed in ((400, outcome(30, 90)), (2**31, outcome(1))):
        assert court.checkpoint_with(channel, state(turn, owed)) == ALLOWED
        assert court.record(channel) == turn
    higher = state(2**31 + 1, outcome(7, 8))
    assert court.challenge_with(channel, higher) == ALLOWED
    jumped = state(2**31 + 500, (allocation(court.id_of(court.channel(nonce=1)), 20),))
    assert court.checkpoint_with(channel, jumped) == ALLOWED


def test_an_app_without_code_refuses_every_move_and_lets_a_final_state_stand(court: Court) -> None:
    fixed = court.channel(app=NOBODY_HOME)
    court.fund(fixed)
    assert court.challenge_with(fixed, *chain(10, 11)) == ("TransitionRefused", ())
    assert court.challenge_with(fixed, state(10)) == ALLOWED
    assert court.respond_with(fixed, state(10), state(11), mover=BOB) == ("TransitionRefused", ())
    assert court.respond_with(fixed, state(10), final(11), mover=BOB) == ALLOWED
    assert court.conclude_with(fixed, turn=12) == ALLOWED
    assert court.is_closed(court.id_of(fixed))


def test_conclude_works_at_turn_0_and_with_no_holdings(court: Court, channel: FixedPart) -> None:
    """What comes later is paid then."""
    assert court.conclude_with(channel, turn=0) == ALLOWED
    id_ = court.id_of(channel)
    assert court.status(channel).turn_num_record == 0
    assert court.status(channel).finalizes_at == court.now
    pay_from_ledger(court, id_, 20)
    before = court.chain.balance(B)
    assert court.transfer_all(channel, final(0)) == ALLOWED
    assert court.chain.balance(B) == before + 10
    assert court.is_closed(id_)


def pay_from_ledger(court: Court, id_: bytes, amount: int, nonce: int = 100) -> None:
    ledger = court.channel(nonce=nonce)
    court.fund(ledger)
    assert court.conclude_with(ledger, allocation(id_, amount), allocation(M, 20 - amount)) == ALLOWED


@pytest.mark.parametrize("part", [0, 7])
def test_a_finalised_channel_takes_payments_from_channels_also_when_it_has_paid_in_part(
    court: Court, channel: FixedPart, part: int
) -> None:
    """And no deposit, once it has paid anything: that could be lost."""
    id_ = court.id_of(channel)
    if part:
        assert court.deposit(A, id_, ETHER, 0, part) == ALLOWED
    assert court.challenge_with(channel, *chain(10, 11)) == ALLOWED
    court.expire(channel)
    if part:
        assert court.transfer_all(channel, state(11)) == ALLOWED
        assert court.deposit(B, id_, ETHER, 0, 1) == ("PayoutBegun", (id_,))
    pay_from_ledger(court, id_, 20 - part)
    assert court.held(id_) == 20 - part
    rest = outcome(10 - part, 10)
    assert court.transfer_all(channel, state(11), rest) == ALLOWED
    assert court.is_closed(id_)
    assert court.logged(Closed(id_))


def test_priority_holds_whatever_indices_are_chosen(court: Court) -> None:
    """Three entries, money for one and a half: in every order of single payments each gets what it is worth."""
    recorded = state(11, (allocation(A, 4), allocation(B, 4), allocation(M, 4)))
    for order in permutations(range(3)):
        with court.trial():
            fixed = court.channel(nonce=5)
            id_ = court.id_of(fixed)
            assert court.deposit(A, id_, ETHER, 0, 6) == ALLOWED
            assert court.checkpoint_with(fixed, recorded) == ALLOWED
            assert court.restate(fixed, recorded) == ALLOWED
            court.expire(fixed)
            assert paid_one_by_one(court, fixed, recorded, order) == [4, 2, 0]
            assert court.held(id_) == 0


def paid_one_by_one(court: Court, fixed: FixedPart, recorded: VariablePart, order: tuple[int, ...]) -> list[int]:
    """What each entry has got, when they are paid in this order."""
    id_, left, payees = court.id_of(fixed), recorded.outcome, (A, B, M)
    before = [court.chain.balance(payee) for payee in payees]
    for index in order:
        owed = left
        assert court.transfer(A, id_, hash_state(id_, recorded).state, owed, [index]) == ALLOWED
        left = _less(left, index, court.chain.balance(payees[index]) - before[index])
    return [court.chain.balance(payee) - had for payee, had in zip(payees, before, strict=True)]


def _less(owed: Outcome, index: int, paid: int) -> Outcome:
    return tuple(
        replace(entry, amount=entry.amount - paid) if place == index else entry for place, entry in enumerate(owed)
    )


def test_a_skipped_channel_entry_blocks_nobody_else(court: Court, ledger: FixedPart) -> None:
    """It stays owed, everybody else is paid, and the ledger gets no tombstone."""
    closed = court.channel(nonce=1)
    court.fund(closed)
    assert court.conclude_with(closed) == ALLOWED
    before = court.chain.balance(B)
    entries = (allocation(court.id_of(closed), 5), allocation(B, 9), allocation(A, 6))
    assert court.conclude_with(ledger, *entries) == ALLOWED
    assert court.chain.balance(B) == before + 9
    assert court.held(court.id_of(ledger)) == 5
    assert not court.is_closed(court.id_of(ledger))
