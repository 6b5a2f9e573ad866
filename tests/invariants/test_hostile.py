"""Recipients and tokens that misbehave: everybody else is paid, at bounded cost, and nothing is lost."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from forcemove import ETHER, UINT256_MAX, Allocation, FixedPart
from forcemove.chain.prices import OSAKA
from forcemove.protocol.adjudication import Payment
from forcemove.protocol.codec.packed_writer import (
    conclude_call,
)
from forcemove.protocol.encoding import channel_id, hash_state, word
from forcemove.protocol.logs import Closed, Credited
from forcemove.protocol.types import MAX_AMOUNT
from tests.evm import function_selector
from tests.parity import core_abi as abi
from tests.parity.core_verdict import ALLOWED, Verdict, of_bytecode
from tests.parity.core_world import REFUSING_RECIPIENTS, REFUSING_TOKENS, World
from tests.protocol.builders import (
    ALICE,
    BOB,
    MALLORY,
    allocation,
    destination,
    final,
    fixed_part,
    outcome,
    sign_all,
)

LOCKED = "ReentrancyGuardReentrantCall"
A, B, M = ALICE.address, BOB.address, MALLORY.address


@pytest.fixture
def world() -> World:
    return World()


def channel(world: World, nonce: int = 0) -> FixedPart:
    return fixed_part(nonce=nonce, app=world.app)


def id_of(world: World, nonce: int = 0) -> bytes:
    return channel_id(channel(world, nonce), world.domain)


def conclude(world: World, *entries: Allocation, nonce: int = 0) -> Verdict:
    state = final(14, entries)
    fixed = channel(world, nonce)
    return world.conclude(M, fixed, entries, 14, sign_all(state, fixed=fixed, domain=world.domain))


def conclude_calldata(world: World, *entries: Allocation, nonce: int = 0, push: int = OSAKA.push) -> bytes:
    fixed = channel(world, nonce)
    signatures = sign_all(final(14, entries), fixed=fixed, domain=world.domain)
    return conclude_call(fixed, entries, 14, signatures, push)


# ---------------------------------------------------------------------------------------------------- recipients


@pytest.mark.parametrize("name", REFUSING_RECIPIENTS)
def test_a_recipient_that_refuses_gets_a_credit_and_the_others_are_paid(world: World, name: str) -> None:
    hostile = world.recipients[name]
    world.deposit(A, id_of(world), ETHER, 0, 30)
    assert conclude(world, allocation(hostile, 10), allocation(A, 20)) == ALLOWED
    assert world.paid == [Payment(ETHER, A, 20)]
    assert world.model.credit_of(hostile, ETHER) == 10


@pytest.mark.parametrize("name", REFUSING_RECIPIENTS)
def test_a_credit_is_claimed_by_its_owner_alone(world: World, name: str) -> None:
    hostile = world.recipients[name]
    world.deposit(A, id_of(world), ETHER, 0, 10)
    conclude(world, allocation(hostile, 10))
    assert world.claim(M, ETHER, M) == ("NothingToClaim", (M, ETHER))
    assert world.claim(hostile, ETHER, hostile) == ("PaymentRefused", (ETHER, hostile, 10))
    assert world.claim(hostile, ETHER, B) == ALLOWED
    assert world.paid == [Payment(ETHER, B, 10)]
    assert world.claim(hostile, ETHER, B) == ("NothingToClaim", (hostile, ETHER))


def test_a_bomb_of_return_data_costs_nobody_anything(world: World) -> None:
    bomb = world.recipients["BombRecipient"]
    world.deposit(A, id_of(world), ETHER, 0, 30)
    assert conclude(world, allocation(bomb, 10), allocation(A, 20)) == ALLOWED
    assert world.paid == [Payment(ETHER, bomb, 10), Payment(ETHER, A, 20)]


@pytest.mark.parametrize("name", REFUSING_RECIPIENTS)
def test_the_largest_outcome_of_hostile_recipients_fits_into_a_block(world: World, name: str) -> None:
    """With 30 million gas, less than any chain's block."""
    hostile = world.recipients[name]
    world.deposit(A, id_of(world), ETHER, 0, 32)
    assert conclude(world, *[allocation(hostile, 1)] * 31, allocation(A, 1)) == ALLOWED
    assert world.paid == [Payment(ETHER, A, 1)]
    assert world.model.credit_of(hostile, ETHER) == 31


def test_a_refused_rest_of_a_deposit_reverts_it(world: World) -> None:
    hostile = world.recipients["RevertingRecipient"]
    world.deposit(A, id_of(world), ETHER, 0, 1)
    world.chain.enrich(hostile)
    assert world.deposit(hostile, id_of(world), ETHER, 0, 10) == ("PaymentRefused", (ETHER, hostile, 1))


# ---------------------------------------------------------------------------------------------------- re-entrance


def arm(world: World, data: bytes, insists: bool = False) -> bytes:
    """The recipient that calls back, and with what."""
    reentry = world.recipients["Reentry"]
    at = abi.address(world.adjudicator)
    world.chain.send(M, "Reentry", "arm", reentry, at, abi.text(data), word(insists))
    return reentry


def claim_data(world: World) -> bytes:
    return function_selector("Adjudicator", "claim") + abi.arguments(abi.address(ETHER), abi.address(M))


def test_nobody_reenters_from_a_credit_that_is_paid(world: World) -> None:
    """The recipient tries to take its credit twice; where it insists, it gets nothing and keeps the credit."""
    reentry = arm(world, claim_data(world), insists=True)
    world.deposit(A, id_of(world), ETHER, 0, 10)
    data = conclude_calldata(world, allocation(reentry, 10))
    assert world.chain.transact(M, world.adjudicator, data).success
    again = function_selector("Adjudicator", "payCredit") + abi.arguments(abi.address(reentry), abi.address(ETHER))
    receipt = world.chain.transact(M, world.adjudicator, again)
    assert of_bytecode(receipt.success, receipt.output) == ("PaymentRefused", (ETHER, reentry, 10))
    arm(world, again)
    assert world.chain.transact(M, world.adjudicator, again).success
    assert world.chain.balance(reentry) == 10
    assert world.chain.balance(world.adjudicator) == 0


def test_who_insists_on_reentering_gets_a_credit(world: World) -> None:
    world.deposit(A, id_of(world), ETHER, 0, 20)
    reentry = arm(world, claim_data(world), insists=True)
    fixed, entries = channel(world), (allocation(reentry, 10), allocation(B, 10))
    receipt = world.chain.transact(M, world.adjudicator, conclude_calldata(world, *entries))
    assert of_bytecode(receipt.success, receipt.output) == ALLOWED
    credit = world.chain.call("Adjudicator", "creditOf", world.adjudicator, abi.address(reentry), abi.address(ETHER))
    assert int.from_bytes(credit, "big") == 10
    assert channel_id(fixed, world.domain) == id_of(world)


# ---------------------------------------------------------------------------------------------------------- tokens


@pytest.mark.parametrize("name", REFUSING_TOKENS)
def test_a_token_that_does_not_pay_leaves_credits_and_ether_is_paid(world: World, name: str) -> None:
    token = world.tokens[name]
    world.deposit(A, id_of(world), ETHER, 0, 10)
    world.deposit(A, id_of(world), token, 0, 10)
    assert conclude(world, allocation(A, 10), allocation(B, 10, token)) == ALLOWED
    assert world.paid == [Payment(ETHER, A, 10)]
    assert world.model.credit_of(B, token) == (20 if name == "GenerousToken" else 10)  # it brings twice what was asked


@pytest.mark.parametrize(
    ("answer", "pays"),
    [
        (b"", True),
        (word(1), True),
        (word(1) + b"more", True),
        (word(0), False),
        (word(2), False),
        (b"\x01", False),
        (bytes(31), False),
        (word(1)[:31], False),
        (b"\xff" * 32, False),
    ],
)
def test_a_token_has_paid_when_it_says_true_or_nothing(world: World, answer: bytes, pays: bool) -> None:
    token = world.tokens["RubbishToken"]
    world.chain.send(M, "RubbishToken", "setAnswer", token, abi.text(answer))
    world.deposit(A, id_of(world), token, 0, 10)
    data = conclude_calldata(world, allocation(B, 10, token))
    assert world.chain.transact(M, world.adjudicator, data).success
    credit = world.chain.call("Adjudicator", "creditOf", world.adjudicator, abi.address(B), abi.address(token))
    assert int.from_bytes(credit, "big") == (0 if pays else 10)


def test_a_blacklisted_account_claims_to_another_one(world: World) -> None:
    token = world.tokens["BlacklistToken"]
    world.deposit(A, id_of(world), token, 0, 20)
    world.blacklist(B)
    assert conclude(world, allocation(B, 10, token), allocation(A, 10, token)) == ALLOWED
    assert world.claim(B, token, B) == ("PaymentRefused", (token, B, 10))
    assert world.claim(B, token, M) == ALLOWED
    assert world.paid == [Payment(token, A, 10), Payment(token, M, 10)]


def test_a_token_with_a_fee_credits_what_arrived(world: World) -> None:
    token = world.tokens["FeeToken"]
    assert world.deposit(A, id_of(world), token, 0, 1_000) == ALLOWED
    assert world.model.holdings_of(id_of(world), token).amount == 990
    assert conclude(world, allocation(A, 600, token), allocation(B, 400, token)) == ALLOWED
    assert world.paid == [Payment(token, A, 600), Payment(token, B, 390)]


def test_an_asset_that_is_no_contract_pays_nobody_and_blocks_nobody(world: World) -> None:
    """Nothing can be deposited of it, yet another channel could not know."""
    nowhere = b"\xee" * 20
    world.deposit(A, id_of(world), ETHER, 0, 10)
    data = function_selector("Adjudicator", "deposit") + abi.arguments(
        id_of(world), abi.address(nowhere), word(0), word(1)
    )
    assert not world.chain.transact(A, world.adjudicator, data).success
    assert conclude(world, allocation(A, 10), allocation(B, 10, nowhere)) == ALLOWED
    assert world.paid == [Payment(ETHER, A, 10)]


@pytest.mark.parametrize(("name", "most"), [("EndlessToken", MAX_AMOUNT), ("GenerousToken", MAX_AMOUNT // 2)])
def test_a_deposit_never_brings_more_than_a_channel_can_hold(world: World, name: str, most: int) -> None:
    token = world.tokens[name]
    assert world.deposit(A, id_of(world), token, 0, most + 1).error == "HoldingsOverflow"
    assert world.deposit(A, id_of(world), token, 0, most) == ALLOWED


def test_a_credit_that_would_overflow_stays_at_the_most_and_blocks_nobody(world: World) -> None:
    token = world.tokens["EndlessToken"]
    for nonce in range(9):
        assert world.deposit(A, id_of(world, nonce), token, 0, MAX_AMOUNT) == ALLOWED
        world.deposit(A, id_of(world, nonce), ETHER, 0, 1)
        assert conclude(world, allocation(A, 1), allocation(M, MAX_AMOUNT, token), nonce=nonce) == ALLOWED
    assert world.model.credit_of(M, token) == UINT256_MAX
    assert world.paid == [Payment(ETHER, A, 1)] * 9


def test_a_channel_that_cannot_hold_more_is_skipped(world: World) -> None:
    token = world.tokens["EndlessToken"]
    full = id_of(world, 1)
    world.deposit(A, full, token, 0, MAX_AMOUNT - 5)
    world.deposit(A, id_of(world), token, 0, 20)
    assert conclude(world, allocation(full, 6, token), allocation(B, 14, token)) == ALLOWED
    assert world.model.credit_of(B, token) == 14
    assert world.model.holdings_of(full, token).amount == MAX_AMOUNT - 5
    assert not world.model.holdings_of(id_of(world), token).closed


def test_a_payment_to_a_closed_channel_stays_owed(world: World) -> None:
    closed = id_of(world, 1)
    world.deposit(A, closed, ETHER, 0, 1)
    conclude(world, allocation(A, 1), nonce=1)
    world.deposit(A, id_of(world), ETHER, 0, 20)
    entries = allocation(closed, 10), allocation(B, 10)
    assert conclude(world, *entries) == ALLOWED
    assert world.paid[-1] == Payment(ETHER, B, 10)
    holdings = world.model.holdings_of(id_of(world), ETHER)
    assert (holdings.amount, holdings.closed) == (10, False)
    left = tuple(replace(entry, amount=amount) for entry, amount in zip(entries, (10, 0), strict=True))
    state_hash = hash_state(id_of(world), final(14, entries)).state
    assert world.transfer(B, id_of(world), state_hash, left) == ALLOWED
    assert world.model.holdings_of(id_of(world), ETHER) == holdings


# ------------------------------------------------------------------------------------------------------------- gas


@pytest.mark.parametrize("asset", ["ether", "token"])
def test_a_starved_payment_reverts_and_is_never_a_credit(asset: str) -> None:
    """Whatever gas the sender gives, either nothing happens or both are paid."""
    paid = 0
    for gas in range(60_000, 420_000, 4_000):
        world = World()
        of = ETHER if asset == "ether" else world.tokens["TestToken"]
        world.deposit(A, id_of(world), of, 0, 20)
        data = conclude_calldata(world, allocation(b"\xc1" * 20, 10, of), allocation(b"\xc2" * 20, 10, of))
        receipt = world.chain.transact(M, world.adjudicator, data, gas=gas)
        if receipt.success:
            paid += 1
            assert [world.chain.balance(account * 20, of) for account in (b"\xc1", b"\xc2")] == [10, 10]
    assert 0 < paid < 90


def test_a_payment_that_needs_its_whole_allowance_is_made_or_the_call_reverts() -> None:
    """The bomb needs most of the allowance: a capped one would turn it into a credit."""
    verdicts = set()
    for gas in range(100_000, 420_000, 4_000):
        world = World()
        bomb = world.recipients["BombRecipient"]
        world.deposit(A, id_of(world), ETHER, 0, 10)
        receipt = world.chain.transact(M, world.adjudicator, conclude_calldata(world, allocation(bomb, 10)), gas=gas)
        verdicts.add(receipt.success)
        if receipt.success:
            assert world.chain.balance(bomb) == 10
        elif receipt.output:
            assert of_bytecode(False, receipt.output).error == "NotEnoughGasToPush"
    assert verdicts == {True, False}


def pay(recipient: str, push: int) -> tuple[World, bytes, str | None]:
    """The world, the payee and the error after a payment of ten, which may use `push` units of gas."""
    world = World()
    to = world.chain.deploy(recipient)
    world.deposit(A, id_of(world), ETHER, 0, 10)
    receipt = world.chain.transact(M, world.adjudicator, conclude_calldata(world, allocation(to, 10), push=push))
    return world, to, None if receipt.success else of_bytecode(False, receipt.output).error


def credit_of(world: World, account: bytes) -> int:
    at = (abi.address(account), abi.address(ETHER))
    return int.from_bytes(world.chain.call("Adjudicator", "creditOf", world.adjudicator, *at), "big")


@pytest.mark.parametrize("name", REFUSING_RECIPIENTS)
@pytest.mark.parametrize("push", [0, 1, OSAKA.push - 1, OSAKA.push, 255])
def test_a_refusal_counts_only_where_the_payee_was_allowed_two_new_slots(name: str, push: int) -> None:
    world, to, error = pay(name, push)
    assert error == ("NotEnoughGasToPush" if push < OSAKA.push else None)
    assert credit_of(world, to) == (10 if error is None else 0)


@pytest.mark.parametrize("push", [0, OSAKA.push])
def test_a_payment_that_is_made_needs_no_more_than_it_uses(push: int) -> None:
    world, to = World(), b"\xc1" * 20
    world.deposit(A, id_of(world), ETHER, 0, 10)
    data = conclude_calldata(world, allocation(to, 10), push=push)
    assert world.chain.transact(M, world.adjudicator, data, gas=130_000).success
    assert world.chain.balance(to) == 10


@pytest.mark.parametrize(("push", "is_paid"), [(OSAKA.push, False), (13, True)])
def test_a_payee_that_needs_more_is_paid_by_a_sender_that_allows_more(push: int, is_paid: bool) -> None:
    world, to, error = pay("HungryRecipient", push)
    assert error is None
    assert (world.chain.balance(to), credit_of(world, to)) == ((10, 0) if is_paid else (0, 10))


# ------------------------------------------------------------------------------------------------------------ order


def test_closing_is_logged_before_anybody_is_paid(world: World) -> None:
    hostile = world.recipients["RevertingRecipient"]
    world.deposit(A, id_of(world), ETHER, 0, 20)
    world.take_logs()
    conclude(world, *outcome(10, 10, to=(hostile, B)))
    assert world.take_logs() == [Closed(id_of(world)), Credited(hostile, ETHER, 10)]
    assert destination(hostile) == bytes(12) + hostile
