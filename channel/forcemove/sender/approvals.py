"""Approvals of tokens: what a contract may take is what one deposit needs, and no other deposit uses it up."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from forcemove.chain.chain import Chain
from forcemove.chain.prices import dearest
from forcemove.chain.token import Token
from forcemove.sender.errors import AllowanceStays
from forcemove.sender.opinions import Opinion
from forcemove.sender.transactions import Allowance, Approval, GapFiller, TxFailed, TxOutcome, TxRequest


def approval_of(chain: Chain, request: TxRequest, needed: Allowance, opinions: Sequence[Opinion]) -> TxRequest:
    """The approval that a deposit needs. What an earlier one has left is taken back before: some tokens, such as USDT,
    refuse to change it to anything but 0."""
    has_left = all(each.not_allowed[request.request_id] for each in opinions)
    gas = dearest(each.prices for each in opinions).approval
    call = Token(chain, needed.token).approve(needed.spender, 0 if has_left else needed.amount)
    return TxRequest(Approval(request.request_id), needed.token, call.data, 0, request.max_cost, gas=gas)


def without_effect(request: TxRequest, needed: Allowance, times: int, opinions: Sequence[Opinion]) -> AllowanceStays:
    """The error of approvals that were confirmed, after which the contract may still not take what a deposit needs.
    `times`: how many there were."""
    allowed = max(each.not_allowed[request.request_id] for each in opinions)
    return AllowanceStays(needed.token, needed.spender, needed.amount, allowed, times)


def is_behind(request: TxRequest, before: Collection[TxRequest]) -> bool:
    """Whether another deposit is to use up first what the token lets the same contract take: one of those `before` this
    one, to be sent or on their way."""
    needed = request.allowance
    return needed is not None and any(
        each.allowance is not None
        and (each.allowance.token, each.allowance.spender) == (needed.token, needed.spender)
        and each.request_id != request.request_id
        for each in before
    )


def as_asked_for(outcome: TxOutcome) -> TxOutcome | None:
    """The outcome as its asker knows the request. A failed approval is a failure of the request that needs it; other
    outcomes of approvals, and those of gap fillers, are left out."""
    match outcome.request_id:
        case GapFiller():
            return None
        case Approval(needed_by):
            return replace(outcome, request_id=needed_by) if isinstance(outcome, TxFailed) else None
        case _:
            return outcome
