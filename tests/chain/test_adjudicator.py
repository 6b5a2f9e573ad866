"""Typed calls, typed refusals and decoded logs: the same on eth-tester and on anvil."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
import requests

from forcemove import ETHER, Key, Outcome, connect, word
from forcemove.chain.adjudicator import Adjudicator, Operation
from forcemove.chain.chain import Call
from forcemove.chain.codec import function
from forcemove.chain.errors import CallRefused, EndpointFailed, Panicked, RevertedWithText, TransactionReverted
from forcemove.chain.token import Token
from forcemove.protocol import logs, rule_errors
from forcemove.protocol.words import EMPTY_STATUS, Holdings, Mode
from tests.chain.server import serving
from tests.chain.world import World, deploy_contract, place, refusal
from tests.expected import raising
from tests.protocol.builders import (
    ALICE,
    BOB,
    DAY,
    MALLORY,
    WrongCount,
    final,
    fixed_part,
    outcome,
    sign_challenge,
    state,
)


def logs_of(world: World, operation: Operation, key: Key = ALICE) -> list[logs.Log]:
    return [placed.log for placed in world.adjudicator.send(operation, key).logs]


# --------------------------------------------------------------------------------------------------------- operations


def test_a_deposit_is_logged_and_held(world: World) -> None:
    id_ = world.id_of(world.channel())

    assert logs_of(world, world.adjudicator.deposit(id_, ETHER, 0, 7)) == [logs.Deposited(id_, ETHER, 7)]
    assert world.adjudicator.holdings_of(id_, ETHER, 0) == Holdings(7, payout_begun=False, closed=False)


def test_a_deposit_of_tokens_has_only_the_adjudicators_logs(world: World) -> None:
    id_ = world.id_of(world.channel())
    token = Token(world.chain, deploy_contract(world.chain, "TestToken"))
    mint = function("mint", "TestToken").encode(ALICE.address, 50)
    world.chain.send(Call(token.address, mint), ALICE)
    world.chain.send(token.approve(world.adjudicator.address, 20), ALICE)

    assert logs_of(world, world.adjudicator.deposit(id_, token.address, 0, 20)) == [
        logs.Deposited(id_, token.address, 20)
    ]
    assert token.balance_of(world.adjudicator.address) == 20


def test_a_challenge_is_logged_with_its_state_and_signatures(world: World) -> None:
    fixed = world.channel()
    proof = world.proof(fixed, state(10), state(11))

    receipt = world.adjudicator.send(world.adjudicator.challenge(fixed, proof), ALICE)

    (placed,) = receipt.logs
    finalizes_at = world.chain.now() + DAY
    assert placed.log == logs.ChallengeRegistered(world.id_of(fixed), finalizes_at, state(11), proof.signatures)
    status = world.adjudicator.status_of(world.id_of(fixed), ETHER)
    assert (status.turn_num_record, status.finalizes_at) == (11, finalizes_at)


def test_somebody_else_challenges_with_a_participants_signature(world: World) -> None:
    fixed = world.channel()
    proof = world.proof(fixed, state(10), state(11))
    signature = sign_challenge(ALICE, state(11), fixed, world.domain)

    (log,) = logs_of(world, world.adjudicator.challenge(fixed, proof, signature), MALLORY)

    assert isinstance(log, logs.ChallengeRegistered)


def test_a_response_is_logged_with_its_state_and_signature(world: World) -> None:
    fixed = world.channel()
    world.challenge(fixed, state(10), state(11))
    signature = world.signature(ALICE, state(12), fixed)

    response = world.adjudicator.respond(fixed, state(11), state(12), signature)

    assert logs_of(world, response) == [logs.Responded(world.id_of(fixed), state(12), signature)]
    assert world.adjudicator.status_of(world.id_of(fixed), ETHER).mode(world.chain.now()) is Mode.OPEN


def test_a_checkpoint_is_logged_with_its_state_and_signatures(world: World) -> None:
    fixed = world.channel()
    proof = world.proof(fixed, state(12), state(13))

    assert logs_of(world, world.adjudicator.checkpoint(fixed, proof)) == [
        logs.Checkpointed(world.id_of(fixed), state(13), proof.signatures)
    ]


def test_concluding_pays_and_closes(world: World) -> None:
    fixed, last = world.channel(), final(outcome_=outcome(15, 5))
    world.fund(fixed)
    before = world.chain.balance(BOB.address)

    conclude = world.adjudicator.conclude(fixed, last.outcome, last.turn_num, world.signatures(last, fixed))

    id_ = world.id_of(fixed)
    assert logs_of(world, conclude) == [logs.Closed(id_)]
    assert world.chain.balance(BOB.address) == before + 5
    assert world.adjudicator.holdings_of(id_, ETHER, 0).closed
    assert world.adjudicator.status_of(id_, ETHER) == EMPTY_STATUS


def test_concluding_beyond_the_holdings_pays_what_is_there(world: World) -> None:
    fixed, last = world.channel(), final(outcome_=outcome(15, 5))
    id_ = world.id_of(fixed)
    world.adjudicator.send(world.adjudicator.deposit(id_, ETHER, 0, 12), ALICE)

    conclude = world.adjudicator.conclude(fixed, last.outcome, last.turn_num, world.signatures(last, fixed))

    left = logs.PartlyPaid(id_, world.state_hash(fixed, last), outcome(3, 5))
    assert logs_of(world, conclude) == [logs.Concluded(id_, 14), left]
    assert world.adjudicator.holdings_of(id_, ETHER, 0) == Holdings(0, payout_begun=True, closed=False)


def expired(world: World, outcome_: Outcome) -> tuple[bytes, bytes]:
    """A challenged channel whose clock runs out with the next block: its id, and the hash of its state."""
    fixed = world.channel()
    world.fund(fixed)
    challenged = state(11, outcome_)
    world.challenge(fixed, state(10, outcome_), challenged)
    world.chain.travel_to(world.adjudicator.status_of(world.id_of(fixed), ETHER).finalizes_at)
    return world.id_of(fixed), world.state_hash(fixed, challenged)


def test_a_transfer_pays_at_exactly_the_deadline(world: World) -> None:
    owed = outcome(12, 8)
    id_, state_hash = expired(world, owed)
    before = world.chain.balance(BOB.address)

    assert logs_of(world, world.adjudicator.transfer(id_, ETHER, state_hash, owed)) == [logs.Closed(id_)]
    assert world.chain.balance(BOB.address) == before + 8


def test_a_refused_payment_becomes_a_credit_that_is_claimed(world: World) -> None:
    recipient = deploy_contract(world.chain, "RevertingRecipient")
    fixed = world.channel()
    world.fund(fixed)
    last = final(outcome_=outcome(12, 8, to=(recipient, BOB)))
    id_ = world.id_of(fixed)

    conclude = world.adjudicator.conclude(fixed, last.outcome, last.turn_num, world.signatures(last, fixed))

    assert logs_of(world, conclude) == [logs.Closed(id_), logs.Credited(recipient, ETHER, 12)]
    assert world.adjudicator.credit_of(recipient, ETHER) == 12
    claim = world.adjudicator.claim(ETHER, MALLORY.address)
    act = function("act", "RevertingRecipient").encode(world.adjudicator.address, claim.data)
    block = world.chain.send(Call(recipient, act), ALICE).block_number
    (placed,) = world.adjudicator.logs(None, block)
    assert placed.log == logs.Claimed(recipient, ETHER, MALLORY.address, 12)
    assert world.adjudicator.credit_of(recipient, ETHER) == 0


def test_a_transfer_of_one_allocation_leaves_the_rest_owed(world: World) -> None:
    owed = outcome(12, 8)
    id_, state_hash = expired(world, owed)

    assert logs_of(world, world.adjudicator.transfer(id_, ETHER, state_hash, owed, [1])) == [
        logs.PartlyPaid(id_, state_hash, outcome(12, 0))
    ]


# ---------------------------------------------------------------------------------------------------------- refusals


def test_refusals_carry_the_values_of_the_solidity_errors(world: World) -> None:
    id_ = world.id_of(world.channel())
    deposit = world.adjudicator.deposit
    world.adjudicator.send(deposit(id_, ETHER, 0, 5), ALICE)

    assert refusal(world, deposit(bytes(32), ETHER, 0, 1)) == rule_errors.NotAChannelId(bytes(32))
    assert refusal(world, deposit(id_, ETHER, 6, 1)) == rule_errors.HoldingsBelowExpected(5, 6)
    assert refusal(world, deposit(id_, ETHER, 0, 5)) == rule_errors.NothingToDeposit(5, 5)
    assert refusal(world, world.adjudicator.claim(ETHER, ALICE.address)) == rule_errors.NothingToClaim(
        ALICE.address, ETHER
    )
    assert refusal(
        world, world.adjudicator.transfer(id_, ETHER, bytes(32), outcome())
    ) == rule_errors.ChannelNotFinalized(id_, 0)


def test_a_wrong_signer_is_named(world: World) -> None:
    fixed, last = world.channel(), final()
    signatures = (world.signature(MALLORY, last, fixed), world.signature(BOB, last, fixed))

    conclude = world.adjudicator.conclude(fixed, last.outcome, last.turn_num, signatures)

    assert refusal(world, conclude) == rule_errors.WrongSigner(ALICE.address, MALLORY.address)


def test_a_refusal_of_the_app_is_the_apps_own_error(world: World) -> None:
    fixed = world.channel()
    illegal = state(11, app_data=word(77))

    challenge = world.adjudicator.challenge(fixed, world.proof(fixed, state(10), illegal))

    assert refusal(world, challenge) == WrongCount(11, 77)


def test_an_app_without_code_refuses(world: World) -> None:
    fixed = fixed_part(nonce=1, app=b"\x99" * 20)

    challenge = world.adjudicator.challenge(fixed, world.proof(fixed, state(10), state(11)))

    assert refusal(world, challenge) == rule_errors.TransitionRefused()


def test_malformed_calldata_is_refused_without_a_word(world: World) -> None:
    cut = Operation("deposit", world.adjudicator.deposit(bytes(32), ETHER, 0, 1).data[:-1])

    assert refusal(world, cut) == CallRefused(world.adjudicator.address)


def test_a_panic_is_typed(world: World) -> None:
    # mstore(0, selector of Panic); mstore(32, 0x99), a code that no list knows; revert(28, 36)
    address = place(world.chain, bytes.fromhex("634e487b7160005260996020526024601cfd"))

    with raising(Panicked(0x99)):
        world.chain.call(Call(address, b""))


def test_a_text_is_typed(world: World) -> None:
    # Error(string): mstore(0, selector), mstore(32, offset), mstore(64, length), mstore(96, "no"); revert(28, 100)
    words = "6308c379a060005260206020526002604052616e6f60f01b606052"
    address = place(world.chain, bytes.fromhex(words + "6064601cfd"))

    with raising(RevertedWithText("no")):
        world.chain.call(Call(address, b""))


def test_a_simulation_meets_the_next_blocks_clock(world: World) -> None:
    fixed = world.channel()
    world.challenge(fixed, state(10), state(11))
    finalizes_at = world.adjudicator.status_of(world.id_of(fixed), ETHER).finalizes_at
    checkpoint = world.adjudicator.checkpoint(fixed, world.proof(fixed, state(12), state(13)))
    world.chain.travel_to(finalizes_at)

    with raising(rule_errors.ChannelFinalized(world.id_of(fixed), finalizes_at)):
        world.adjudicator.simulate(checkpoint, BOB.address)


def test_one_second_before_the_deadline_an_answer_lands(world: World) -> None:
    fixed = world.channel()
    world.challenge(fixed, state(10), state(11))
    world.chain.travel_to(world.adjudicator.status_of(world.id_of(fixed), ETHER).finalizes_at - 1)

    world.adjudicator.send(world.adjudicator.checkpoint(fixed, world.proof(fixed, state(12), state(13))), BOB)

    assert world.adjudicator.status_of(world.id_of(fixed), ETHER).turn_num_record == 13


def test_nothing_is_sent_where_the_simulation_fails(world: World) -> None:
    before = world.chain.rpc.number("eth_getTransactionCount", "0x" + ALICE.address.hex(), "latest")

    assert isinstance(
        refusal(
            world,
            world.adjudicator.respond(
                world.channel(), state(11), state(12), world.signature(ALICE, state(12), world.channel())
            ),
        ),
        rule_errors.NoChallenge,
    )

    assert world.chain.rpc.number("eth_getTransactionCount", "0x" + ALICE.address.hex(), "latest") == before


def test_what_fails_only_once_mined_says_why(anvil_world: World) -> None:
    id_ = anvil_world.id_of(anvil_world.channel())
    chain, adjudicator = anvil_world.chain, anvil_world.adjudicator
    chain.rpc.ask("evm_setAutomine", False)
    try:
        signed = [adjudicator.sign(adjudicator.deposit(id_, ETHER, 0, 5), key) for key in (ALICE, BOB)]
        for transaction in signed:
            chain.broadcast(transaction)
        chain.rpc.ask("evm_mine")
    finally:
        chain.rpc.ask("evm_setAutomine", True)

    reasons = []
    for transaction in signed:
        try:
            adjudicator.wait(transaction)
        except TransactionReverted as error:
            reasons.append(error.reason)

    assert reasons == [rule_errors.NothingToDeposit(5, 5)]


# -------------------------------------------------------------------------------------------------------------- logs


def test_logs_of_a_channel_come_in_order_with_their_places(world: World) -> None:
    fixed, other = world.channel(), world.channel()
    start = world.chain.block_number() + 1
    world.fund(fixed)
    world.fund(other)
    receipt = world.challenge(fixed, state(10), state(11))

    found = world.adjudicator.logs(world.id_of(fixed), start)

    assert [type(placed.log) for placed in found] == [logs.Deposited, logs.Deposited, logs.ChallengeRegistered]
    assert found[-1] == receipt.logs[0]
    assert found[-1].place.block_hash == world.chain.block_hash(receipt.block_number)
    assert len(world.adjudicator.logs(None, start)) == 5


def test_logs_keep_to_the_range(world: World) -> None:
    fixed = world.channel()
    id_ = world.id_of(fixed)
    world.fund(fixed)
    last = world.chain.block_number()

    assert [placed.place.block_number for placed in world.adjudicator.logs(id_, 0)] == [last - 1, last]
    assert [placed.place.block_number for placed in world.adjudicator.logs(id_, last)] == [last]
    assert [placed.place.block_number for placed in world.adjudicator.logs(id_, 0, last - 1)] == [last - 1]
    assert world.adjudicator.logs(id_, last + 1) == []


def test_a_higher_turn_is_wanted(world: World) -> None:
    fixed = world.channel()
    world.adjudicator.send(world.adjudicator.checkpoint(fixed, world.proof(fixed, state(12), state(13))), ALICE)

    older = world.adjudicator.checkpoint(fixed, world.proof(fixed, state(10), state(11)))

    assert refusal(world, older) == rule_errors.TurnNumberNotIncreased(13, 11)


# ------------------------------------------------------------------------------------------------- nodes with limits


def limited(node: str, most_blocks: int) -> Callable[[bytes], tuple[int, bytes]]:
    """Pass requests on to a node, but refuse logs of too many blocks at once, as providers do."""

    def answer(request: bytes) -> tuple[int, bytes]:
        content = json.loads(request)
        if content["method"] == "eth_getLogs":
            (wanted,) = content["params"]
            if int(wanted["toBlock"], 16) - int(wanted["fromBlock"], 16) >= most_blocks:
                error = {"code": -32005, "message": "query exceeds the range"}
                return 200, json.dumps({"jsonrpc": "2.0", "id": content["id"], "error": error}).encode()
        return 200, requests.post(node, request, headers={"Content-Type": "application/json"}, timeout=10).content

    return answer


@pytest.mark.parametrize("most_blocks", [1, 3])
def test_a_range_that_is_too_much_for_the_node_is_halved(anvil_world: World, most_blocks: int) -> None:
    fixed = anvil_world.channel()
    start = anvil_world.chain.block_number()
    anvil_world.fund(fixed)
    anvil_world.challenge(fixed, state(10), state(11))
    id_ = anvil_world.id_of(fixed)

    with serving(limited(anvil_world.chain.endpoint, most_blocks)) as endpoint, connect(endpoint) as chain:
        found = Adjudicator(chain, anvil_world.adjudicator.address).logs(id_, start)

    assert found == anvil_world.adjudicator.logs(id_, start)
    assert len(found) == 3


def test_a_node_that_gives_no_logs_at_all_is_told(anvil_world: World) -> None:
    with (
        serving(limited(anvil_world.chain.endpoint, 0)) as endpoint,
        connect(endpoint) as chain,
        pytest.raises(EndpointFailed) as caught,
    ):
        Adjudicator(chain, anvil_world.adjudicator.address).logs(None, 0)

    assert caught.value == EndpointFailed("eth_getLogs", "query exceeds the range")
