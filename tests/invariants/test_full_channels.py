"""A channel that is funded with its total, and what else its words can say: on the bytecode and the twin, which `World`
compares after each step."""

from __future__ import annotations

import pytest

from forcemove import ETHER, FixedPart, Outcome
from forcemove.protocol.adjudication import Payment
from forcemove.protocol.encoding import channel_id, hash_state
from forcemove.protocol.logs import Deposited, PartlyPaid
from forcemove.protocol.types import VariablePart
from forcemove.protocol.words import Holdings
from tests.parity.core_verdict import ALLOWED, Verdict
from tests.parity.core_world import World
from tests.protocol.builders import (
    ALICE,
    BOB,
    DAY,
    MALLORY,
    allocation,
    chain,
    final,
    fixed_part,
    outcome,
    proof,
    sign_all,
    state,
)

A, B, M = ALICE.address, BOB.address, MALLORY.address
TOTAL = 20


class Funded:
    """A channel with a total, in a world of its own where none is given."""

    def __init__(self, held: int = TOTAL, total: int = TOTAL, asset: bytes = ETHER, world: World | None = None) -> None:
        self.world = world or World()
        self.asset = asset
        self.fixed = fixed_part(app=self.world.app, asset=asset, total=total)
        self.id = self.name(self.fixed)
        if held:
            assert self.deposit(0, held) == ALLOWED

    def name(self, fixed: FixedPart) -> bytes:
        id_ = channel_id(fixed, self.world.domain)
        self.world.totals[id_] = fixed.total
        return id_

    def deposit(self, expected: int, amount: int, id_: bytes | None = None) -> Verdict:
        return self.world.deposit(A, id_ or self.id, self.asset, expected, amount)

    def record(self, *turns: int, pays: Outcome | None = None) -> Verdict:
        states = chain(*(turns or (10, 11)), outcome_=pays)
        return self.world.checkpoint(A, self.fixed, proof(*states, fixed=self.fixed, domain=self.world.domain))

    def finalize(self, recorded: VariablePart) -> None:
        """Challenge with the recorded state, and let the clock run out."""
        proved = proof(recorded, fixed=self.fixed, domain=self.world.domain)
        assert self.world.challenge(A, self.fixed, proved, None) == ALLOWED
        self.world.chain.travel_to(self.world.now + DAY)

    def pay(self, recorded: VariablePart, *indices: int, owed: Outcome | None = None) -> Verdict:
        hashed = hash_state(self.id, recorded).state
        return self.world.transfer(M, self.id, hashed, recorded.outcome if owed is None else owed, indices, self.asset)

    def conclude(self, pays: Outcome, fixed: FixedPart | None = None) -> Verdict:
        fixed = fixed or self.fixed
        signatures = sign_all(final(14, pays), fixed=fixed, domain=self.world.domain)
        return self.world.conclude(M, fixed, pays, 14, signatures)

    @property
    def holdings(self) -> Holdings:
        return self.world.model.holdings_of(self.id, self.asset)


def test_what_is_funded_is_full_once_a_state_is_recorded() -> None:
    funded = Funded()
    assert not funded.holdings.full
    assert funded.record() == ALLOWED
    assert funded.holdings == Holdings(TOTAL, full=True)


@pytest.mark.parametrize("held", [0, 1, TOTAL - 1])
def test_what_holds_less_is_not_full_and_takes_deposits(held: int) -> None:
    funded = Funded(held)
    assert funded.record() == ALLOWED
    assert funded.holdings == Holdings(held)
    assert funded.deposit(held, 5) == ALLOWED
    assert funded.holdings == Holdings(held + 5)
    assert funded.world.model.status_of(funded.id).turn_num_record == 11


def test_what_has_no_total_is_never_full() -> None:
    funded = Funded(total=0)
    assert funded.record() == ALLOWED
    assert funded.deposit(TOTAL, 5) == ALLOWED
    assert funded.holdings == Holdings(TOTAL + 5)


@pytest.mark.parametrize("held", [TOTAL, TOTAL + 7])
def test_a_full_channel_takes_no_deposit(held: int) -> None:
    funded = Funded(held)
    assert funded.record() == ALLOWED
    assert funded.deposit(held, 5) == ("ChannelFull", (funded.id,))
    assert funded.holdings == Holdings(held, full=True)


@pytest.mark.parametrize("held", [TOTAL, TOTAL + 7])
def test_a_later_record_keeps_what_is_held(held: int) -> None:
    funded = Funded(held)
    assert funded.record(10, 11) == ALLOWED
    assert funded.record(12, 13) == ALLOWED
    assert funded.holdings == Holdings(held, full=True)


@pytest.mark.parametrize("held", [TOTAL, TOTAL + 7])
@pytest.mark.parametrize("is_recorded", [False, True])
def test_what_is_held_beyond_the_total_goes_with_the_last_payment(held: int, is_recorded: bool) -> None:
    funded = Funded(held)
    if is_recorded:
        assert funded.record() == ALLOWED
    assert funded.conclude(outcome(15, 5)) == ALLOWED
    assert funded.world.paid == [Payment(ETHER, A, 15), Payment(ETHER, B, 5 + held - TOTAL)]
    assert funded.holdings == Holdings(0, payout_begun=True, closed=True)


def test_a_last_payment_of_nothing_takes_the_surplus() -> None:
    funded = Funded(TOTAL + 7)
    assert funded.conclude(outcome(20, 0)) == ALLOWED
    assert funded.world.paid == [Payment(ETHER, A, 20), Payment(ETHER, B, 7)]


def test_a_full_channel_is_paid_one_by_one_and_the_last_closes() -> None:
    funded, recorded = Funded(TOTAL + 7), state(11, outcome(12, 8))
    funded.finalize(recorded)
    assert funded.pay(recorded, 1) == ALLOWED
    assert funded.holdings == Holdings(TOTAL + 7 - 8, payout_begun=True)
    assert funded.deposit(TOTAL - 1, 1) == ("PayoutBegun", (funded.id,))
    assert funded.pay(recorded, 0, owed=outcome(12, 0)) == ALLOWED
    assert funded.world.paid == [Payment(ETHER, B, 8), Payment(ETHER, A, 12), Payment(ETHER, B, 7)]


@pytest.mark.parametrize("is_full", [False, True])
def test_another_channel_pays_into_one_that_is_not_full(is_full: bool) -> None:
    funded = Funded(TOTAL if is_full else TOTAL - 1)
    assert funded.record() == ALLOWED
    held = funded.holdings.amount
    payer = fixed_part(nonce=1, app=funded.world.app, total=10)
    payer_id = funded.name(payer)
    assert funded.deposit(0, 10, payer_id) == ALLOWED
    pays = (allocation(A, 4), allocation(funded.id, 6))
    funded.world.take_logs()
    assert funded.conclude(pays, payer) == ALLOWED
    left = funded.world.model.holdings_of(payer_id, ETHER)
    if is_full:
        assert (funded.holdings.amount, left) == (held, Holdings(6, payout_begun=True))
        assert any(isinstance(each, PartlyPaid) for each in funded.world.take_logs())
    else:
        assert (funded.holdings.amount, left.closed) == (held + 6, True)
        assert Deposited(funded.id, ETHER, held + 6) in funded.world.take_logs()


def test_a_full_channel_that_has_paid_in_part_takes_payments_again() -> None:
    funded, recorded = Funded(), state(11, outcome(12, 8))
    funded.finalize(recorded)
    assert funded.pay(recorded, 0) == ALLOWED
    payer = fixed_part(nonce=1, app=funded.world.app, total=10)
    assert funded.deposit(0, 10, funded.name(payer)) == ALLOWED
    assert funded.conclude((allocation(funded.id, 10),), payer) == ALLOWED
    assert funded.holdings == Holdings(18, payout_begun=True)
    assert funded.pay(recorded, owed=outcome(0, 8)) == ALLOWED
    assert funded.world.paid[-1] == Payment(ETHER, B, 18)


def test_a_surplus_that_nobody_takes_is_stuck_and_not_lost_from_sight() -> None:
    """Its last payment goes to a channel that is closed by then, and owes nothing."""
    funded = Funded(TOTAL + 7)
    closed = fixed_part(nonce=1, app=funded.world.app, total=5)
    assert funded.deposit(0, 5, funded.name(closed)) == ALLOWED
    assert funded.conclude((allocation(M, 5),), closed) == ALLOWED
    pays = (allocation(A, TOTAL), allocation(channel_id(closed, funded.world.domain), 0))
    assert funded.conclude(pays) == ALLOWED
    assert funded.holdings == Holdings(7, payout_begun=True, closed=True)


@pytest.mark.parametrize("amounts", [(10, 9), (10, 11), (0, 0)])
def test_every_outcome_adds_up_to_the_total(amounts: tuple[int, int]) -> None:
    funded = Funded()
    wrong = ("WrongTotal", (TOTAL, sum(amounts)))
    assert funded.conclude(outcome(*amounts)) == wrong
    assert funded.record(pays=outcome(*amounts)) == wrong


def test_a_token_is_a_home_asset_like_ether() -> None:
    world = World()
    token = world.tokens["TestToken"]
    funded = Funded(asset=token, world=world)
    assert funded.record(pays=outcome(12, 8, asset=token)) == ALLOWED
    assert funded.holdings == Holdings(TOTAL, full=True)
    assert funded.conclude(outcome(12, 8, asset=token)) == ALLOWED
    assert funded.world.paid == [Payment(token, A, 12), Payment(token, B, 8)]


@pytest.mark.parametrize("turn", [2**32 - 1, 2**32])
def test_a_turn_below_two_to_the_32_can_be_recorded(turn: int) -> None:
    recorded = Funded().record(turn - 1, turn)
    assert recorded == (ALLOWED if turn < 2**32 else ("TurnNumberTooHigh", (turn,)))


@pytest.mark.parametrize("late", [False, True])
def test_a_clock_runs_out_before_the_second_two_to_the_34(late: bool) -> None:
    funded = Funded()
    funded.world.chain.travel_to(2**34 - DAY - (0 if late else 1))
    proved = proof(state(11), fixed=funded.fixed, domain=funded.world.domain)
    verdict = funded.world.challenge(A, funded.fixed, proved, None)
    assert verdict == (("TimeTooLate", (2**34,)) if late else ALLOWED)
