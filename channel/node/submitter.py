"""Sends one participant's transactions for one channel, one at a time, and sees them mined.

What was signed is remembered until it is known what became of it, so that an answer of the node that is lost, or a
block that is full, makes no second transaction: the same nonce is used again, at a higher fee.
"""

from __future__ import annotations

from typing import assert_never

from forcemove.channel.chain.adjudicator import Adjudicator, Operation, PlacedLog
from forcemove.channel.chain.chain import Receipt, SignedTransaction
from forcemove.channel.chain.errors import NotMined
from forcemove.channel.chain.token import Token
from forcemove.channel.errors import ForcemoveError, PassingError
from forcemove.channel.protocol.agreement import Agreement
from forcemove.channel.protocol.effects import (
    Submission,
    SubmitChallenge,
    SubmitCheckpoint,
    SubmitConclude,
    SubmitDeposit,
    SubmitPayCredit,
    SubmitRespond,
    SubmitTransfer,
)
from forcemove.channel.protocol.signing import Key
from forcemove.channel.protocol.types import ETHER

__all__ = ["Submitter"]


class Submitter:
    """Of one participant in one channel. `patience`: real seconds to wait for a transaction."""

    def __init__(self, agreement: Agreement, key: Key, adjudicator: Adjudicator, patience: float) -> None:
        self._agreement, self._key, self._adjudicator, self._patience = agreement, key, adjudicator, patience
        self._waiting: dict[Submission, SignedTransaction] = {}

    def submit(self, submission: Submission) -> Receipt[PlacedLog]:
        """Send it and wait a while; where it was sent before, see whether it was mined, and else replace it by one with
        a higher fee.

        Raises `NotMined` and `PassingError` where that may still happen: ask again. Else what the adjudicator reverts
        with, and other `ChainError`s.
        """
        try:
            receipt = self._mined(submission)
        except (NotMined, PassingError):
            raise
        except ForcemoveError:
            self._waiting.pop(submission, None)
            raise
        del self._waiting[submission]
        return receipt

    def _mined(self, submission: Submission) -> Receipt[PlacedLog]:
        adjudicator, waiting = self._adjudicator, self._waiting.get(submission)
        if waiting is None:
            self._allow(submission)
            waiting = self._waiting[submission] = adjudicator.sign(self._operation(submission), self._key)
            adjudicator.chain.broadcast(waiting)
        elif not self._is_mined(waiting):
            waiting = self._waiting[submission] = adjudicator.resend(waiting, self._key)
        return adjudicator.wait(waiting, timeout=self._patience)

    def _is_mined(self, waiting: SignedTransaction) -> bool:
        try:
            self._adjudicator.wait(waiting, timeout=0)
        except NotMined:
            return False
        return True

    def _allow(self, submission: Submission) -> None:
        """Let the adjudicator take the tokens that it is about to pull in."""
        if not isinstance(submission, SubmitDeposit) or submission.asset == ETHER:
            return
        token = Token(self._adjudicator.chain, submission.asset)
        if token.allowance(self._key.address, self._adjudicator.address) < submission.amount:
            self._adjudicator.chain.send(token.approve(self._adjudicator.address, submission.amount), self._key)

    def _operation(self, submission: Submission) -> Operation:
        adjudicator, agreement = self._adjudicator, self._agreement
        id_, fixed_part = agreement.channel_id, agreement.fixed_part
        match submission:
            case SubmitDeposit(asset, expected_held, amount):
                return adjudicator.deposit(id_, asset, expected_held, amount)
            case SubmitChallenge(proof):
                return adjudicator.challenge(fixed_part, proof)
            case SubmitRespond(challenged, response, signature):
                return adjudicator.respond(fixed_part, challenged, response, signature)
            case SubmitCheckpoint(proof):
                return adjudicator.checkpoint(fixed_part, proof)
            case SubmitConclude(outcome, turn_num, signatures):
                return adjudicator.conclude(fixed_part, outcome, turn_num, signatures)
            case SubmitTransfer(state_hash, outcome):
                return adjudicator.transfer(id_, state_hash, outcome, ())
            case SubmitPayCredit(account, asset):
                return adjudicator.pay_credit(account, asset)
            case _:
                assert_never(submission)
