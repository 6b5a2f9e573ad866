"""Recipients, tokens and stingy senders: row 15 of the list of attacks, in process. What it costs in gas is in
`test_on_a_chain.py`."""

from __future__ import annotations

import pytest

from forcemove import ETHER, word
from forcemove.protocol.logs import Claimed
from forcemove.protocol.words import word_key
from tests.parity import core_abi as abi
from tests.parity.core_world import REFUSING_RECIPIENTS, REFUSING_TOKENS
from tests.protocol.builders import ALICE, BOB, MALLORY, allocation
from tests.threats.court import ALLOWED, Court

A, B, M = ALICE.address, BOB.address, MALLORY.address


# ------------------------------------------------------------------------------------------------------------ refusals


@pytest.mark.parametrize("name", REFUSING_RECIPIENTS)
def test_threat_15_who_refuses_ether_keeps_nobody_from_being_paid(court: Court, name: str) -> None:
    hostile, channel = court.recipients[name], court.channel()
    court.fund(channel)
    before = court.chain.balance(B)
    assert court.conclude_with(channel, allocation(hostile, 12), allocation(B, 8)) == ALLOWED
    assert court.chain.balance(B) == before + 8
    assert court.chain.balance(hostile) == 0
    assert court.credit(hostile) == 12 == court.chain.balance(court.adjudicator)
    assert court.is_closed(court.id_of(channel))


@pytest.mark.parametrize("name", REFUSING_RECIPIENTS)
def test_threat_15_a_credit_is_claimed_by_its_owner_alone_and_once(court: Court, name: str) -> None:
    hostile, channel = court.recipients[name], court.channel()
    court.fund(channel)
    assert court.conclude_with(channel, allocation(hostile, 12), allocation(B, 8)) == ALLOWED
    court.fund(court.channel(nonce=1))
    for thief in (M, A):
        for to in (thief, hostile):
            assert court.claim(thief, ETHER, to) == ("NothingToClaim", (thief, ETHER))
    assert court.claim(hostile, ETHER, hostile) == ("PaymentRefused", (ETHER, hostile, 12))
    for nowhere in (bytes(20), court.adjudicator):
        assert court.claim(hostile, ETHER, nowhere) == ("ForbiddenRecipient", (nowhere,))
    before = court.chain.balance(B)
    assert court.claim(hostile, ETHER, B) == ALLOWED
    assert court.claim(hostile, ETHER, B) == ("NothingToClaim", (hostile, ETHER))
    assert court.chain.balance(B) == before + 12
    assert court.chain.balance(court.adjudicator) == 20


# ----------------------------------------------------------------------------------------------------------------- 37


def credited(court: Court, payee: bytes = B) -> bytes:
    """A token that would not move to the payee when the channel was paid out, and does again."""
    token = court.tokens["BlacklistToken"]
    court.blacklist(payee)
    channel = court.channel()
    court.fund(channel, asset=token)
    assert court.conclude_with(channel, allocation(A, 8, token), allocation(payee, 12, token)) == ALLOWED
    assert court.credit(payee, token) == 12
    return token


def pardon(court: Court, account: bytes, token: bytes) -> None:
    court.chain.send(A, "BlacklistToken", "blacklist", token, abi.address(account), word(0))


def test_threat_37_anybody_can_have_a_credit_paid_to_its_owner_later(court: Court) -> None:
    """To nobody else, and once; while the token still refuses, the credit stays."""
    token = credited(court)
    before = court.chain.balance(B, token)
    assert court.pay_credit(M, B, token) == ("PaymentRefused", (token, B, 12))
    assert court.credit(B, token) == 12
    pardon(court, B, token)
    assert court.pay_credit(M, M, token) == ("NothingToClaim", (M, token))
    assert court.pay_credit(M, B, ETHER) == ("NothingToClaim", (B, ETHER))
    assert court.pay_credit(M, B, token) == ALLOWED
    assert court.logged(Claimed(B, token, B, 12))
    assert court.chain.balance(B, token) == before + 12
    assert court.pay_credit(M, B, token) == ("NothingToClaim", (B, token))
    assert court.credit(B, token) == 0


def test_threat_37_a_payee_that_cannot_call_is_paid(court: Court) -> None:
    """A contract without any way to claim: a token, say."""
    mute = court.tokens["TestToken"]
    token = credited(court, mute)
    pardon(court, mute, token)
    assert court.pay_credit(M, mute, token) == ALLOWED
    assert court.chain.balance(mute, token) == 12


def test_threat_37_what_a_stranger_has_paid_is_not_claimed_again(court: Court) -> None:
    token = credited(court)
    court.fund(court.channel(nonce=1), asset=token)
    pardon(court, B, token)
    assert court.pay_credit(M, B, token) == ALLOWED
    assert court.claim(B, token, B) == ("NothingToClaim", (B, token))
    assert court.chain.balance(court.adjudicator, token) == 20


# ------------------------------------------------------------------------------------------------------------- credits


def test_threat_15_credits_of_many_payments_add_up(court: Court) -> None:
    hostile = court.recipients["RevertingRecipient"]
    for nonce in range(3):
        channel = court.channel(nonce=nonce)
        court.fund(channel)
        assert court.conclude_with(channel, *[allocation(hostile, 5)] * 2, allocation(B, 10)) == ALLOWED
    assert court.credit(hostile) == 30 == court.chain.balance(court.adjudicator)


@pytest.mark.parametrize("name", REFUSING_TOKENS)
def test_threat_15_a_token_that_does_not_pay_leaves_credits_and_the_rest_is_paid(court: Court, name: str) -> None:
    """It says no, answers rubbish, returns a bomb, or claims to have more than there can be."""
    token, channel = court.tokens[name], court.channel()
    court.fund(channel)
    assert court.deposit(A, court.id_of(channel), token, 0, 10) == ALLOWED
    before = court.chain.balance(A), court.chain.balance(B)
    entries = allocation(A, 10), allocation(B, 10), allocation(B, 10, token)
    assert court.conclude_with(channel, *entries) == ALLOWED
    assert (court.chain.balance(A), court.chain.balance(B)) == (before[0] + 10, before[1] + 10)
    assert court.credit(B, token) == (20 if name == "GenerousToken" else 10)  # it brings twice what was asked


def test_threat_15_a_token_that_returns_nothing_has_paid(court: Court) -> None:
    token, channel = court.tokens["SilentToken"], court.channel()
    assert court.deposit(A, court.id_of(channel), token, 0, 10) == ALLOWED
    before = court.chain.balance(B, token)
    assert court.conclude_with(channel, allocation(B, 10, token)) == ALLOWED
    assert court.chain.balance(B, token) == before + 10
    assert court.credit(B, token) == 0


@pytest.mark.parametrize("answer", [word(0), word(2), b"\x01", word(1)[:31], b"\xff" * 32], ids=bytes.hex)
def test_threat_15_an_answer_that_is_not_true_is_no_payment(court: Court, answer: bytes) -> None:
    token, channel = court.tokens["RubbishToken"], court.channel()
    court.chain.send(M, "RubbishToken", "setAnswer", token, abi.text(answer))
    assert court.deposit(A, court.id_of(channel), token, 0, 10) == ALLOWED
    assert court.conclude_with(channel, allocation(B, 10, token)) == ALLOWED
    assert court.credit(B, token) == 10


def test_threat_15_an_asset_without_code_is_no_payment(court: Court) -> None:
    """A call to nobody succeeds, and returns nothing. It takes a contract that has vanished, hence the storage."""
    nowhere, channel = b"\xee" * 20, court.channel()
    court.chain.store(court.adjudicator, word_key(court.id_of(channel), nowhere), 10)
    assert court.held(court.id_of(channel), nowhere) == 10
    assert court.conclude_with(channel, allocation(B, 10, nowhere)) == ALLOWED
    assert court.credit(B, nowhere) == 10


def test_threat_15_a_token_with_a_fee_credits_what_arrived(court: Court) -> None:
    """And not a unit of another channel's."""
    token, channel, other = court.tokens["FeeToken"], court.channel(), court.channel(nonce=1)
    for each in (other, channel):
        assert court.deposit(A, court.id_of(each), token, 0, 1_000) == ALLOWED
        assert court.held(court.id_of(each), token) == 990
    assert court.conclude_with(channel, allocation(A, 600, token), allocation(B, 400, token)) == ALLOWED
    assert court.chain.balance(court.adjudicator, token) == 990 == court.held(court.id_of(other), token)


def test_threat_15_a_blacklisted_account_harms_nobody_and_claims_to_another(court: Court) -> None:
    token, channel = court.tokens["BlacklistToken"], court.channel()
    court.fund(channel, asset=token)
    court.blacklist(B)
    before = court.chain.balance(A, token)
    assert court.conclude_with(channel, allocation(B, 10, token), allocation(A, 10, token)) == ALLOWED
    assert court.chain.balance(A, token) == before + 10
    assert court.claim(B, token, B) == ("PaymentRefused", (token, B, 10))
    assert court.claim(B, token, M) == ALLOWED


def test_threat_15_a_token_that_cannot_be_pulled_in_is_not_held(court: Court) -> None:
    token, id_ = court.tokens["UnpullableToken"], court.id_of(court.channel())
    assert court.deposit(A, id_, token, 0, 10) == ("SafeERC20FailedOperation", (token,))
    assert court.held(id_, token) == 0


def test_threat_15_ether_sent_with_a_token_is_refused(court: Court) -> None:
    token, id_ = court.tokens["TestToken"], court.id_of(court.channel())
    assert court.deposit(A, id_, token, 0, 10, value=1) == ("ValueMismatch", (0, 1))
    assert court.deposit(A, id_, ETHER, 0, 10, value=9) == ("ValueMismatch", (10, 9))
