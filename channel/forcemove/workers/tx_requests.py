"""Makes a sender's request of a channel's submission: the call, what it may cost, and by when it must be mined."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from forcemove.chain.adjudicator import Adjudicator, Operation
from forcemove.chain.prices import Prices
from forcemove.protocol.agreement import Agreement
from forcemove.protocol.encoding import challenge_hash, digest, hash_state
from forcemove.protocol.machine import effects
from forcemove.protocol.machine.channel import Channel
from forcemove.protocol.signing import Key
from forcemove.protocol.types import ETHER, Signature, SupportProof, VariablePart
from forcemove.sender.transactions import Allowance, ChannelTx, TxRequest

TOKEN_CHANNEL_MAX_COST = 10**17
"""What the gas of an answer may cost, in wei, where nothing at stake is ether and nobody has said more."""
_PART = 4
"""A transaction that is not an answer may cost the fourth part of what an answer may cost."""


def tx_request_for(
    channel: Channel,
    submission: effects.Submission,
    adjudicator: Adjudicator,
    prices: Prices,
    max_cost: int | None = None,
    challenger: Key | None = None,
) -> TxRequest:
    """The transaction that does what a channel asks of the chain.

    - `channel`: the channel.
    - `submission`: what it asks.
    - `adjudicator`: that of the channel.
    - `prices`: what gas costs on its chain.
    - `max_cost`: what the gas may cost, in wei. Unless given, an answer to a challenge may cost the ether that we have
      at stake, and everything else a fourth of that.
    - `challenger`: as of `operation_of`.
    """
    call = adjudicator.call_of(operation_of(channel.agreement, submission, adjudicator, prices, challenger))
    is_answer = _is_answer(channel, submission)
    if max_cost is None:
        max_cost = _at_stake(channel) if is_answer else _at_stake(channel) // _PART
    deadline = channel.status.finalizes_at if is_answer else None
    allowance = _allowance(submission, adjudicator)
    gas = gas_of(submission, call.data, prices)
    request_id = ChannelTx(channel.agreement.channel_id, submission)
    return TxRequest(request_id, adjudicator.address, call.data, call.value, max_cost, deadline, allowance, gas)


def gas_of(submission: effects.Submission, data: bytes, prices: Prices) -> int:
    """The most gas that a submission needs in honest use, by our own table: never less than a real chain takes,
    whatever the sizes, and enough for payees and tokens that use up all gas that the adjudicator gives them. `data`:
    the calldata; `prices`: of the chain."""
    given, p = len(data) * prices.byte, prices
    match submission:
        case effects.SubmitDeposit(asset):
            return given + (p.deposit if asset == ETHER else p.deposit + p.token)
        case effects.SubmitChallenge(proof) | effects.SubmitCheckpoint(proof):
            return given + p.record + _checks(proof.states, len(proof.signatures) + 1, p)
        case effects.SubmitRespond(challenged, response):
            return given + p.record + _checks((challenged, response), 1, p)
        case effects.SubmitConclude(outcome, _, signatures):
            return given + p.record + len(signatures) * p.signature + len(outcome) * p.payment
        case effects.SubmitTransfer(_, outcome):
            return given + p.record + len(outcome) * p.payment
        case effects.SubmitPayCredit():
            return given + p.record + p.payment
        case _:
            assert_never(submission)


def _checks(states: Sequence[VariablePart], signatures: int, prices: Prices) -> int:
    """Gas for the checks of a proof. The app is asked about each step."""
    app = sum(prices.step + prices.app_byte * (len(state.app_data) + len(state.evidence)) for state in states)
    return app + sum(len(state.outcome) for state in states) * prices.allocation + signatures * prices.signature


def operation_of(
    agreement: Agreement,
    submission: effects.Submission,
    adjudicator: Adjudicator,
    prices: Prices,
    challenger: Key | None = None,
) -> Operation:
    """The adjudicator's operation for a submission.

    - `agreement`: of the channel.
    - `submission`: what is asked of the chain.
    - `adjudicator`: that of the channel.
    - `prices`: say how much gas a payee may use.
    - `challenger`: a participant's key, which signs challenges where another account than a participant's sends them.
    """
    id_, fixed_part = agreement.channel_id, agreement.fixed_part
    match submission:
        case effects.SubmitDeposit(asset, expected_held, amount):
            return adjudicator.deposit(id_, asset, expected_held, amount)
        case effects.SubmitChallenge(proof):
            if challenger is None:
                return adjudicator.challenge(fixed_part, proof)
            return adjudicator.challenge(fixed_part, proof, _challenger_signature(agreement, proof, challenger))
        case effects.SubmitRespond(challenged, response, signature):
            return adjudicator.respond(fixed_part, challenged, response, signature)
        case effects.SubmitCheckpoint(proof):
            return adjudicator.checkpoint(fixed_part, proof)
        case effects.SubmitConclude(outcome, turn_num, signatures):
            return adjudicator.conclude(fixed_part, outcome, turn_num, signatures, push=prices.push)
        case effects.SubmitTransfer(state_hash, outcome):
            return adjudicator.transfer(id_, fixed_part.asset, state_hash, outcome, push=prices.push)
        case effects.SubmitPayCredit(account, asset):
            return adjudicator.pay_credit(account, asset)
        case _:
            assert_never(submission)


def _challenger_signature(agreement: Agreement, proof: SupportProof, challenger: Key) -> Signature:
    """The signature by which a participant lets anybody send this challenge."""
    id_, state = agreement.channel_id, proof.states[-1]
    struct = challenge_hash(id_, state.turn_num, hash_state(id_, state).state)
    return challenger.sign(digest(agreement.domain, struct))


def _allowance(submission: effects.Submission, adjudicator: Adjudicator) -> Allowance | None:
    """What the adjudicator must be allowed to take where a token is deposited."""
    if not isinstance(submission, effects.SubmitDeposit) or submission.asset == ETHER:
        return None
    return Allowance(submission.asset, adjudicator.address, submission.amount)


def _is_answer(channel: Channel, submission: effects.Submission) -> bool:
    """Whether a challenge's clock runs that this submission stops."""
    stops = isinstance(submission, effects.SubmitRespond | effects.SubmitCheckpoint | effects.SubmitConclude)
    return stops and channel.status.finalizes_at != 0


def _at_stake(channel: Channel) -> int:
    """The ether that is ours in this channel, in wei: by its newest state, or our deposit if that is more. A fixed
    amount where that is none."""
    ours = {asset: amounts[channel.index] for asset, amounts in channel.agreement.deposits}.get(ETHER, 0)
    if channel.newest is not None:
        destination = channel.agreement.destinations[channel.index]
        outcome = channel.newest.state.outcome
        ours = max(ours, sum(e.amount for e in outcome if e.asset == ETHER and e.destination == destination))
    return ours or TOKEN_CHANNEL_MAX_COST
