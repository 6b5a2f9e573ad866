"""The attacks in which balances, gas, the clock or the order of a block decide: rows 2, 11, 12, 15, 16 and 24 of the
list, on eth-tester."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import cast

import pytest
from eth_account import Account

from forcemove import ETHER, EmbeddedChain, FixedPart, Key, Outcome
from forcemove.chain.adjudicator import Operation, PlacedLog
from forcemove.chain.answers import read_receipt
from forcemove.chain.chain import Call, Receipt
from forcemove.chain.errors import TransactionReverted
from forcemove.protocol import encoding, rule_errors, words
from tests.chain.world import MINER, World, deploy_contract, make_world, refusal
from tests.evm import selector
from tests.expected import known
from tests.protocol.builders import ALICE, BOB, MALLORY, allocation, final, outcome, state

A, B, M = ALICE.address, BOB.address, MALLORY.address
MINUTE = 60


@pytest.fixture
def world(embedded: EmbeddedChain) -> World:
    return make_world(embedded)


def local(world: World) -> EmbeddedChain:
    return cast("EmbeddedChain", world.chain)


@contextmanager
def one_block(world: World) -> Iterator[None]:
    """What is broadcast inside is mined together, in that order."""
    tester = local(world).tester
    tester.disable_auto_mine_transactions()
    yield
    tester.enable_auto_mine_transactions()


@contextmanager
def trial(world: World) -> Iterator[None]:
    """What happens inside has not happened afterwards."""
    snapshot = local(world).tester.take_snapshot()
    yield
    local(world).tester.revert_to_snapshot(snapshot)


# ---------------------------------------------------------------------------------------------------------------- 2


@pytest.mark.parametrize("kind", ["challenge", "checkpoint"])
def test_threat_02_an_older_challenge_in_the_same_block_changes_nothing(world: World, kind: str) -> None:
    """Bob sees Alice's transaction, and pays for the place before it; both orders end with the newest state."""
    fixed = world.channel()
    newest = world.proof(fixed, state(20), state(21))
    older = world.adjudicator.challenge(fixed, world.proof(fixed, state(10), state(11)))
    ours = (
        world.adjudicator.challenge(fixed, newest)
        if kind == "challenge"
        else world.adjudicator.checkpoint(fixed, newest)
    )
    for bob_first in (True, False):
        with trial(world):
            by_bob, by_alice = world.adjudicator.sign(older, BOB), world.adjudicator.sign(ours, ALICE)
            with one_block(world):
                for signed in (by_bob, by_alice) if bob_first else (by_alice, by_bob):
                    world.chain.broadcast(signed)
            landed = world.adjudicator.wait(by_alice)
            assert world.adjudicator.status_of(world.id_of(fixed), ETHER).turn_num_record == 21
            if bob_first:
                assert world.adjudicator.wait(by_bob).block_number == landed.block_number
            else:
                with pytest.raises(TransactionReverted) as caught:
                    world.adjudicator.wait(by_bob)
                assert caught.value.block_number == landed.block_number
                assert caught.value.reason == rule_errors.TurnNumberNotIncreased(21, 11)


# --------------------------------------------------------------------------------------------------------------- 11


def test_threat_11_the_second_deposit_reverts_when_the_first_has_vanished(world: World) -> None:
    """Bob signs his deposit on a chain that has Alice's; it is mined in one from which hers has gone."""
    id_, tester = world.id_of(world.channel()), local(world).tester
    before = tester.take_snapshot()
    world.adjudicator.send(world.adjudicator.deposit(id_, ETHER, 0, 10), ALICE)
    second = world.adjudicator.sign(world.adjudicator.deposit(id_, ETHER, 10, 10), BOB)
    tester.revert_to_snapshot(before)

    world.chain.broadcast(second)
    with pytest.raises(TransactionReverted) as caught:
        world.adjudicator.wait(second)
    assert caught.value.reason == rule_errors.HoldingsBelowExpected(0, 10)
    assert world.adjudicator.holdings_of(id_, ETHER, 0).amount == 0
    assert world.chain.balance(world.adjudicator.address) == 0


def test_threat_11_nor_does_a_smaller_first_deposit_do(world: World) -> None:
    id_ = world.id_of(world.channel())
    world.adjudicator.send(world.adjudicator.deposit(id_, ETHER, 0, 9), ALICE)
    assert refusal(world, world.adjudicator.deposit(id_, ETHER, 10, 10), BOB) == rule_errors.HoldingsBelowExpected(
        9, 10
    )


# --------------------------------------------------------------------------------------------------------------- 12


def spent(world: World, key: Key, operation: Operation) -> int:
    """By the sender, fees apart."""
    before = world.chain.balance(key.address)
    receipt = world.adjudicator.send(operation, key)
    return before - world.chain.balance(key.address) - receipt.gas_used * receipt.gas_price


@pytest.mark.parametrize(("first", "second"), [(1, 0), (0, 1), (1, 1), (9, 0), (0, 9), (3, 4)])
def test_threat_12_dust_ahead_of_a_deposit_does_not_block_the_funding(world: World, first: int, second: int) -> None:
    """Mallory's dust lies before each of the two deposits; what is then not needed goes back to the depositor."""
    id_, adjudicator = world.id_of(world.channel()), world.adjudicator
    if first:
        assert spent(world, MALLORY, adjudicator.deposit(id_, ETHER, 0, first)) == first
    assert spent(world, ALICE, adjudicator.deposit(id_, ETHER, 0, 10)) == 10 - first
    if second:
        assert spent(world, MALLORY, adjudicator.deposit(id_, ETHER, 10, second)) == second
    assert spent(world, BOB, adjudicator.deposit(id_, ETHER, 10, 10)) == 10 - second
    assert adjudicator.holdings_of(id_, ETHER, 0).amount == 20 == world.chain.balance(adjudicator.address)


@pytest.mark.parametrize("held", [10, 11, 20])
def test_threat_12_who_pays_everything_for_another_does_not_rob_him(world: World, held: int) -> None:
    """Nothing is taken where nothing is missing, and holdings never fall."""
    id_, adjudicator = world.id_of(world.channel()), world.adjudicator
    adjudicator.send(adjudicator.deposit(id_, ETHER, 0, held), MALLORY)
    assert refusal(world, adjudicator.deposit(id_, ETHER, 0, 10), ALICE) == rule_errors.NothingToDeposit(held, 10)
    assert adjudicator.holdings_of(id_, ETHER, 0).amount == held == world.chain.balance(adjudicator.address)


# --------------------------------------------------------------------------------------------------------------- 15

HOSTILE = ("RevertingRecipient", "BurningRecipient", "BombRecipient", "RevertingBombRecipient")
PUSH_COST = 190_000
"""The allowance of 114,688, and what a call with value, the measured slots and a credit cost around it."""
BOMB_COST = 130_000
"""The same where a bomb takes 87,000 of the allowance. To copy the first would cost as much again."""
CLOSE_COST = 80_000


def conclusion(world: World, fixed: FixedPart, owed: Outcome) -> Operation:
    return world.adjudicator.conclude(fixed, owed, 14, world.signatures(final(14, owed), fixed))


@pytest.mark.parametrize("name", HOSTILE)
def test_threat_15_hostile_recipients_cost_a_bounded_amount_of_gas(world: World, name: str) -> None:
    """Whatever they burn or return; and everybody else is paid."""
    fixed = world.channel()
    world.fund(fixed, 4, 6)
    hostile = [deploy_contract(world.chain, name) for _ in range(3)]
    owed = outcome(1, 1, 1, 7, to=(*hostile, MALLORY))
    before = world.chain.balance(M)
    receipt = world.adjudicator.send(conclusion(world, fixed, owed), ALICE)
    assert world.chain.balance(M) == before + 7
    assert receipt.gas_used < CLOSE_COST + 3 * (BOMB_COST if "Bomb" in name else PUSH_COST)
    owed_still = [world.adjudicator.credit_of(each, ETHER) for each in hostile]
    paid = [world.chain.balance(each) for each in hostile]
    assert [sum(pair) for pair in zip(owed_still, paid, strict=True)] == [1, 1, 1]
    assert world.chain.balance(world.adjudicator.address) == sum(owed_still)


@pytest.mark.parametrize("reverts", [False, True])
def test_threat_15_a_tokens_bomb_costs_a_bounded_amount_of_gas(world: World, reverts: bool) -> None:
    token, fixed = deploy_contract(world.chain, "BombToken"), world.channel()
    id_, adjudicator = world.id_of(fixed), world.adjudicator
    token_call(world, token, "mint(address,uint256)", A, 10)
    token_call(world, token, "approve(address,uint256)", adjudicator.address, 10)
    token_call(world, token, "setReverts(bool)", reverts)
    adjudicator.send(adjudicator.deposit(id_, token, 0, 10), ALICE)
    owed = tuple(allocation(to, amount, token) for to, amount in ((A, 3), (B, 3), (M, 4)))
    receipt = adjudicator.send(conclusion(world, fixed, owed), ALICE)
    assert receipt.gas_used < CLOSE_COST + 3 * BOMB_COST
    assert [adjudicator.credit_of(each, token) for each in (A, B, M)] == [3, 3, 4]


def token_call(world: World, token: bytes, signature: str, *values: bytes | int) -> None:
    words = b"".join(
        value.to_bytes(32, "big") if isinstance(value, int) else value.rjust(32, b"\0") for value in values
    )
    world.chain.send(Call(token, selector(signature) + words), ALICE)


def thrifty_recipient(world: World) -> bytes:
    """Refuses ether, and hands the gas back, unless it is given 95,000: `PUSH3 95000 GAS GT PUSH1 14 JUMPI PUSH1 0
    PUSH1 0 REVERT JUMPDEST STOP`, behind code that returns it."""
    runtime = bytes.fromhex("620173185a11600e5760006000fd5b00")
    creation = bytes.fromhex("601080600b6000396000f3") + runtime
    return known(world.chain.send(Call(None, creation), MINER).contract_address)


def succeeds_with(world: World, operation: Operation, gas: int) -> bool:
    """Whether Mallory's transaction with this much gas is good."""
    chain = local(world)
    transaction = {
        "type": 2,
        "chainId": chain.chain_id,
        "nonce": chain.rpc.number("eth_getTransactionCount", "0x" + M.hex(), "pending"),
        "gas": gas,
        "maxFeePerGas": chain.fees().max_fee_per_gas,
        "maxPriorityFeePerGas": 0,
        "to": world.adjudicator.address,
        "data": operation.data,
    }
    signed = Account.sign_transaction(transaction, MALLORY.secret)
    chain.rpc.ask("eth_sendRawTransaction", "0x" + signed.raw_transaction.hex())
    _, has_failed = read_receipt(chain.rpc.ask("eth_getTransactionReceipt", "0x" + signed.hash.hex()), signed.hash)
    return not has_failed


def starved_payment(world: World, how: str) -> tuple[bytes, Operation]:
    """A payment of ten, the last one, to a recipient that needs most of its allowance."""
    fixed, recipient = world.channel(), thrifty_recipient(world)
    world.fund(fixed)
    owed = outcome(10, 10, to=(BOB, recipient))
    if how == "conclude":
        return recipient, conclusion(world, fixed, owed)
    world.challenge(fixed, state(10, owed), state(11, owed))
    id_ = world.id_of(fixed)
    world.chain.travel_to(world.adjudicator.status_of(id_, ETHER).finalizes_at)
    return recipient, world.adjudicator.transfer(id_, ETHER, encoding.hash_state(id_, state(11, owed)).state, owed)


@pytest.mark.parametrize("how", ["conclude", "transfer"])
def test_threat_15_a_starved_payment_reverts_the_call_and_is_never_a_credit(world: World, how: str) -> None:
    """From too little gas for anything to enough for everything (EIP-150 keeps 1/64 back): paid, or not sent."""
    recipient, operation = starved_payment(world, how)
    verdicts = []
    for gas in range(60_000, 300_000, 5_000):
        with trial(world):
            verdicts.append(succeeds_with(world, operation, gas))
            assert world.adjudicator.credit_of(recipient, ETHER) == 0, gas
            assert world.chain.balance(recipient) == (10 if verdicts[-1] else 0), gas
    assert verdicts == sorted(verdicts)
    assert set(verdicts) == {False, True}


def depositing_recipient(world: World, id_: bytes) -> bytes:
    """Pays a wei of what it is given into a channel, at once, and takes no refusal ill.

    `PUSH2 size PUSH2 offset PUSH1 0 CODECOPY PUSH1 0 PUSH1 0 PUSH2 size PUSH1 0 PUSH1 1 PUSH20 adjudicator GAS CALL POP
    STOP` and the calldata, behind code that returns it all.
    """
    data = world.adjudicator.deposit(id_, ETHER, 0, 1).data
    size, offset = len(data).to_bytes(2, "big").hex(), "002d"
    program = (
        f"61{size} 61{offset} 6000 39 6000 6000 61{size} 6000 6001 73{world.adjudicator.address.hex()} 5a f1 50 00"
    )
    runtime = bytes.fromhex(program) + data
    assert runtime.index(data) == int(offset, 16)
    creation = bytes.fromhex(f"61{len(runtime):04x} 80 600c 6000 39 6000 f3") + runtime
    return known(world.chain.send(Call(None, creation), MINER).contract_address)


def test_threat_15_nobody_deposits_from_within_a_payment(world: World) -> None:
    """Ether, that is: tokens are locked where they are pulled in. At any other time the same deposit is taken."""
    fixed, other = world.channel(), world.id_of(world.channel())
    world.fund(fixed)
    recipient = depositing_recipient(world, other)
    world.adjudicator.send(conclusion(world, fixed, outcome(10, 10, to=(recipient, BOB))), ALICE)
    assert world.adjudicator.holdings_of(other, ETHER, 0).amount == 0
    assert world.chain.balance(recipient) == 10
    world.chain.send(Call(recipient, b"", 5), ALICE)
    assert world.adjudicator.holdings_of(other, ETHER, 0).amount == 1


# --------------------------------------------------------------------------------------------------------------- 16

Attempt = Callable[[World, FixedPart], Operation]


def respond(world: World, fixed: FixedPart) -> Operation:
    return world.adjudicator.respond(fixed, state(11), state(12), world.signature(ALICE, state(12), fixed))


def checkpoint(world: World, fixed: FixedPart) -> Operation:
    return world.adjudicator.checkpoint(fixed, world.proof(fixed, state(12), state(13)))


def challenge_later(world: World, fixed: FixedPart) -> Operation:
    return world.adjudicator.challenge(fixed, world.proof(fixed, state(12), state(13)))


def conclude(world: World, fixed: FixedPart) -> Operation:
    return conclusion(world, fixed, outcome())


def pay(world: World, fixed: FixedPart) -> Operation:
    return world.adjudicator.transfer(world.id_of(fixed), ETHER, world.state_hash(fixed, state(11)), outcome())


ANSWERS: tuple[Attempt, ...] = (respond, checkpoint, challenge_later, conclude)


def send_at(world: World, operation: Operation, time: int) -> Receipt[PlacedLog]:
    """In a block of exactly this time."""
    world.chain.travel_to(time)
    receipt = world.adjudicator.send(operation, ALICE)
    assert world.chain.now() == time
    return receipt


@pytest.fixture
def challenged(world: World) -> tuple[FixedPart, int]:
    """A funded channel in challenge, and when that ends."""
    fixed = world.channel(duration=MINUTE)
    world.fund(fixed)
    world.challenge(fixed, state(10), state(11))
    return fixed, world.adjudicator.status_of(world.id_of(fixed), ETHER).finalizes_at


@pytest.mark.parametrize("answer", ANSWERS)
def test_threat_16_a_second_before_the_deadline_answers_are_in_time(
    world: World, challenged: tuple[FixedPart, int], answer: Attempt
) -> None:
    fixed, deadline = challenged
    assert send_at(world, answer(world, fixed), deadline - 1).logs


@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize("late", [0, 1])
def test_threat_16_from_the_deadline_on_answers_are_late(
    world: World, challenged: tuple[FixedPart, int], answer: Attempt, late: int
) -> None:
    fixed, deadline = challenged
    operation = answer(world, fixed)
    world.chain.travel_to(deadline + late)
    assert refusal(world, operation, ALICE) == rule_errors.ChannelFinalized(world.id_of(fixed), deadline)


def test_threat_16_payment_begins_with_the_deadline_and_not_before(
    world: World, challenged: tuple[FixedPart, int]
) -> None:
    fixed, deadline = challenged
    id_ = world.id_of(fixed)
    world.chain.travel_to(deadline - 1)
    assert refusal(world, pay(world, fixed), ALICE) == rule_errors.ChannelNotFinalized(id_, deadline)
    assert send_at(world, pay(world, fixed), deadline).logs
    assert world.adjudicator.holdings_of(id_, ETHER, 0).closed
    assert world.adjudicator.status_of(id_, ETHER) == words.EMPTY_STATUS
