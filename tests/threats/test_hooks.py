"""A payee or a token that is called while money moves calls back: each operation from each such place. The lock
refuses, and what was refused is good as soon as the money has moved."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pytest

from forcemove import ETHER, FixedPart, Outcome, VariablePart
from forcemove.chain.prices import OSAKA
from forcemove.protocol.codec.packed_writer import (
    batch_call,
    challenge_call,
    checkpoint_call,
    conclude_call,
    respond_call,
    transfer_call,
)
from forcemove.protocol.encoding import hash_state, word
from tests.evm import errors_of, function_selector
from tests.parity import core_abi as abi
from tests.parity.core_world import BATCH_FAILED
from tests.protocol.builders import ALICE, BOB, MALLORY, allocation, chain, final, state
from tests.threats.court import ALLOWED, Court

A, B, M = ALICE.address, BOB.address, MALLORY.address
LOCKED = "ReentrancyGuardReentrantCall"
PUSH, GAS = OSAKA.push, 3_000_000
OUTER, INNER = 1, 2
"""The nonces of the channel whose money moves, and of the one that is called back about."""


class Sent(NamedTuple):
    """A transaction: of whom, what, and with how much ether."""

    sender: bytes
    data: bytes
    value: int = 0


# ----------------------------------------------------------------------------------------------------------- calldata


def deposit_data(court: Court, nonce: int, asset: bytes, amount: int) -> bytes:
    at = court.id_of(court.channel(nonce=nonce)), abi.address(asset)
    return function_selector("Adjudicator", "deposit") + abi.arguments(*at, word(0), word(amount))


def conclude_data(court: Court, fixed: FixedPart, *owed: tuple[bytes, bytes]) -> bytes:
    """Ten to each of these accounts in an asset."""
    last = final(14, tens(*owed))
    return conclude_call(fixed, last.outcome, 14, court.sign_all(last, fixed), PUSH)


def tens(*owed: tuple[bytes, bytes]) -> Outcome:
    return tuple(allocation(to, 10, asset) for to, asset in owed)


def transfer_data(court: Court, fixed: FixedPart, recorded: VariablePart, indices: tuple[int, ...] = ()) -> bytes:
    """After a challenge that ran out."""
    id_ = court.id_of(fixed)
    assert court.challenge_with(fixed, recorded) == ALLOWED
    court.expire(fixed)
    return transfer_call(id_, fixed.asset, hash_state(id_, recorded).state, recorded.outcome, indices, PUSH)


def credit_data(operation: str, *of: bytes) -> bytes:
    """`claim`, or `payCredit`, of accounts and assets."""
    return function_selector("Adjudicator", operation) + abi.arguments(*map(abi.address, of))


# -------------------------------------------------------------------------------------- where somebody else is called


def in_a_conclusion(court: Court, reentry: bytes) -> Sent:
    court.fund(court.channel(nonce=OUTER))
    return Sent(M, conclude_data(court, court.channel(nonce=OUTER), (reentry, ETHER), (B, ETHER)))


def in_a_batch(court: Court, reentry: bytes) -> Sent:
    return Sent(M, batch_call([(GAS, in_a_conclusion(court, reentry).data)]))


def in_a_transfer(court: Court, reentry: bytes) -> Sent:
    fixed = court.channel(nonce=OUTER)
    court.fund(fixed)
    return Sent(M, transfer_data(court, fixed, state(11, tens((reentry, ETHER), (B, ETHER)))))


def in_a_transfer_of_a_part(court: Court, reentry: bytes) -> Sent:
    fixed = court.channel(nonce=OUTER)
    court.fund(fixed)
    return Sent(M, transfer_data(court, fixed, state(11, tens((reentry, ETHER), (B, ETHER))), (0,)))


def in_a_claim(court: Court, reentry: bytes) -> Sent:
    """Of what another account was refused."""
    hostile = court.recipients["RevertingRecipient"]
    court.fund(court.channel(nonce=OUTER))
    assert court.conclude_with(court.channel(nonce=OUTER), allocation(hostile, 20)) == ALLOWED
    return Sent(hostile, credit_data("claim", ETHER, reentry))


def in_a_paid_credit(court: Court, reentry: bytes) -> Sent:
    """Of what it has refused itself, by insisting on an operation that there is not."""
    court.fund(court.channel(nonce=OUTER))
    arm(court, reentry, b"none", insists=True)
    assert court.conclude_with(court.channel(nonce=OUTER), allocation(reentry, 20)) == ALLOWED
    assert court.credit(reentry) == 20
    return Sent(M, credit_data("payCredit", reentry, ETHER))


def in_the_rest_of_a_deposit(court: Court, reentry: bytes) -> Sent:
    assert court.deposit(A, court.id_of(court.channel(nonce=OUTER)), ETHER, 0, 1) == ALLOWED
    court.chain.enrich(reentry)
    return Sent(reentry, deposit_data(court, OUTER, ETHER, 5), 5)


def in_a_tokens_arrival(court: Court, reentry: bytes) -> Sent:
    return Sent(B, deposit_data(court, OUTER, hooked(court, reentry), 20))


def in_a_tokens_payment(court: Court, reentry: bytes) -> Sent:
    token, fixed = hooked(court, b""), court.channel(nonce=OUTER)
    court.fund(fixed, asset=token)
    hooked(court, reentry)
    return Sent(M, conclude_data(court, fixed, (B, token), (A, token)))


def in_a_tokens_transfer(court: Court, reentry: bytes) -> Sent:
    token, fixed = hooked(court, b""), court.channel(nonce=OUTER)
    court.fund(fixed, asset=token)
    hooked(court, reentry)
    return Sent(M, transfer_data(court, fixed, state(11, tens((B, token), (A, token)))))


def hooked(court: Court, hook: bytes) -> bytes:
    """A token that calls a hook when Bob pays or is paid."""
    token = court.tokens["HookToken"]
    court.chain.send(M, "HookToken", "setHook", token, abi.address(B), abi.address(hook or ETHER))
    return token


PLACES = (
    in_a_conclusion,
    in_a_batch,
    in_a_transfer,
    in_a_transfer_of_a_part,
    in_a_claim,
    in_a_paid_credit,
    in_the_rest_of_a_deposit,
    in_a_tokens_arrival,
    in_a_tokens_payment,
    in_a_tokens_transfer,
)


# ------------------------------------------------------------------------------------------------------- calling back


def depositing(court: Court, reentry: bytes) -> bytes:
    """A token: ether is a test of its own, since a payee would have to send it along."""
    token = court.tokens["TestToken"]
    court.chain.send(M, "TestToken", "mint", token, abi.address(reentry), word(1))
    approve = function_selector("TestToken", "approve") + abi.arguments(abi.address(court.adjudicator), word(1))
    assert court.send(reentry, token, approve).success
    return deposit_data(court, INNER, token, 1)


def concluding(court: Court, reentry: bytes) -> bytes:
    court.fund(court.channel(nonce=INNER))
    return conclude_data(court, court.channel(nonce=INNER), (A, ETHER), (B, ETHER))


def transferring(court: Court, reentry: bytes) -> bytes:
    court.fund(court.channel(nonce=INNER))
    return transfer_data(court, court.channel(nonce=INNER), state(11))


def claiming(court: Court, reentry: bytes) -> bytes:
    return credit_data("claim", refused(court, reentry), M)


def paying_a_credit(court: Court, reentry: bytes) -> bytes:
    return credit_data("payCredit", reentry, refused(court, reentry))


def refused(court: Court, reentry: bytes) -> bytes:
    """A token of which it has a credit now, and that pays again."""
    token, fixed = court.tokens["BlacklistToken"], court.channel(nonce=INNER)
    court.blacklist(reentry)
    court.fund(fixed, asset=token)
    assert court.conclude_with(fixed, allocation(reentry, 20, token)) == ALLOWED
    court.chain.send(A, "BlacklistToken", "blacklist", token, abi.address(reentry), word(0))
    return token


def challenging(court: Court, reentry: bytes) -> bytes:
    fixed, (first, last) = court.channel(nonce=INNER), chain(10, 11)
    return challenge_call(fixed, court.proof(fixed, first, last), court.sign_challenge(ALICE, last, fixed))


def checkpointing(court: Court, reentry: bytes) -> bytes:
    return checkpoint_call(court.channel(nonce=INNER), court.proof(court.channel(nonce=INNER), *chain(10, 11)))


def responding(court: Court, reentry: bytes) -> bytes:
    fixed, (challenged, response) = court.channel(nonce=INNER), chain(11, 12)
    assert court.challenge_with(fixed, challenged) == ALLOWED
    return respond_call(fixed, challenged, response, court.sign(ALICE, response, fixed))


def concluding_in_a_batch(court: Court, reentry: bytes) -> bytes:
    return batch_call([(GAS, concluding(court, reentry))])


BACK = (
    depositing,
    concluding,
    transferring,
    claiming,
    paying_a_credit,
    challenging,
    checkpointing,
    responding,
    concluding_in_a_batch,
)


def arm(court: Court, reentry: bytes, data: bytes, insists: bool = False) -> None:
    """From now on it calls back with this, once it is called; with nothing, where there are no bytes."""
    at = abi.address(court.adjudicator if data else ETHER)
    court.chain.send(M, "Reentry", "arm", reentry, at, abi.text(data), word(insists))


def told(court: Court, reentry: bytes, what: str) -> bytes:
    return court.chain.call("Reentry", what, reentry)


@pytest.mark.parametrize("back", BACK, ids=lambda each: each.__name__)
@pytest.mark.parametrize("place", PLACES, ids=lambda each: each.__name__)
def test_threat_15_nothing_is_done_from_within_what_moves_money(
    court: Court, place: Callable[[Court, bytes], Sent], back: Callable[[Court, bytes], bytes]
) -> None:
    reentry = court.recipients["Reentry"]
    outer, data = place(court, reentry), back(court, reentry)
    arm(court, reentry, data)
    before = int.from_bytes(told(court, reentry, "calls"))
    receipt = court.send(outer.sender, court.adjudicator, outer.data, outer.value)
    assert receipt.success
    assert int.from_bytes(told(court, reentry, "calls")) == before + 1
    failures = [log.data for log in receipt.logs if log.topics == (BATCH_FAILED,)]
    if back is concluding_in_a_batch:
        assert failures == [word(0) + selector_of(LOCKED).ljust(32, b"\0")]
    else:
        assert (told(court, reentry, "failure")[:4], failures) == (selector_of(LOCKED), [])
    arm(court, reentry, b"")
    again = court.send(reentry, court.adjudicator, data)
    assert again.success
    assert not [log for log in again.logs if log.topics == (BATCH_FAILED,)]


def selector_of(error: str) -> bytes:
    (selector,) = (found for found, (name, *_) in errors_of("Adjudicator").items() if name == error)
    return selector
