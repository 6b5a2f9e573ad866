"""The versions of a transaction: which one each endpoint is offered. A new one is signed where none fits."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from forcemove.chain.chain import Call, Fees, SignedTransaction
from forcemove.chain.errors import InsufficientFunds
from forcemove.sender import pricing
from forcemove.sender.errors import CannotPay, CannotPayAnswer
from forcemove.sender.opinions import Opinion
from forcemove.sender.transactions import PendingTx, TxRequest, Version


class Bids:
    """Chooses and signs versions. `sign`: makes a transaction of a call, a nonce, a limit of gas and fees. `clock`:
    seconds since 1970."""

    def __init__(self, sign: Callable[[Call, int, int, Fees], SignedTransaction], clock: Callable[[], float]) -> None:
        self._sign, self._clock = sign, clock

    def is_too_dear(self, request: TxRequest, gas: int, opinions: Sequence[Opinion]) -> bool:
        """Whether the fees that a request's cap allows are too low for a block, by every endpoint's word."""
        fees = [(_fitting(each, opinions, gas, pricing.Urgency(request.max_cost)), each.market) for each in opinions]
        return all(pricing.is_too_low(offer, market) for offer, market in fees)

    def begin(
        self, request: TxRequest, nonce: int, gas: int, begun_at: int, opinion: Opinion, opinions: Sequence[Opinion]
    ) -> PendingTx:
        """The first version of a transaction, for one endpoint.

        - `request`: what is asked for.
        - `nonce`: the transaction's nonce.
        - `gas`: its limit of gas.
        - `begun_at`: the block time now, seconds.
        - `opinion`: what this endpoint says.
        - `opinions`: what all endpoints say.
        """
        urgency = _affordable(pricing.Urgency(request.max_cost), request, gas, opinion)
        fees = _fitting(opinion, opinions, gas, urgency)
        return PendingTx(request, nonce, gas, begun_at, (self._version(request, nonce, gas, fees),))

    def fit(self, pending: PendingTx, opinion: Opinion, opinions: Sequence[Opinion]) -> tuple[PendingTx, Version]:
        """The version that this endpoint is offered at first, and the transaction with it."""
        urgency = _affordable(pricing.Urgency(pending.request.max_cost), pending.request, pending.gas, opinion)
        return self._with(pending, _fitting(opinion, opinions, pending.gas, urgency))

    def raised(
        self,
        pending: PendingTx,
        last: Version,
        opinion: Opinion,
        opinions: Sequence[Opinion],
        urgency: pricing.Urgency,
    ) -> tuple[PendingTx, Version] | None:
        """The version that may replace `last` at one endpoint, and the transaction with it. None where `last` is good
        enough, or the cap allows no more.

        - `pending`: the transaction.
        - `last`: the version that this endpoint was offered last.
        - `opinion`: what this endpoint says.
        - `opinions`: what all endpoints say.
        - `urgency`: the cap of all transactions that wait behind this one, and how much of their time has gone by.
        """
        urgency = _affordable(urgency, pending.request, pending.gas, opinion)
        fees = pricing.next_fees(last.fees, opinion.market, _others(opinion, opinions), pending.gas, urgency)
        return None if fees is None else self._with(pending, fees)

    def outbid(
        self, pending: PendingTx, last: Version, opinion: Opinion, urgency: pricing.Urgency
    ) -> tuple[PendingTx, Version] | None:
        """Twice what was offered last, as `raised`: where another program's transaction waits, at a price that nobody
        tells. At most the part of the cap that is the part of the time which has gone by."""
        max_cost = _affordable(urgency, pending.request, pending.gas, opinion).max_cost
        price = int(max_cost * urgency.surely) // pending.gas
        fees = Fees(min(2 * last.max_fee, price), min(2 * last.tip, price), last.is_legacy)
        return self._with(pending, fees) if fees.max_priority_fee_per_gas > last.tip else None

    def _with(self, pending: PendingTx, fees: Fees) -> tuple[PendingTx, Version]:
        for version in reversed(pending.versions):
            if pricing.is_enough(version.fees, fees):
                return pending, version
        version = self._version(pending.request, pending.nonce, pending.gas, fees)
        return replace(pending, versions=(*pending.versions, version)), version

    def _version(self, request: TxRequest, nonce: int, gas: int, fees: Fees) -> Version:
        signed = self._sign(request.call, nonce, gas, fees)
        max_fee, tip = fees.max_fee_per_gas, fees.max_priority_fee_per_gas
        return Version(signed.hash, signed.raw, max_fee, tip, fees.is_legacy, int(self._clock()))


def cannot_pay(error: InsufficientFunds, request: TxRequest, max_cost: int, opinions: Collection[Opinion]) -> CannotPay:
    """An endpoint's refusal with what the account has, what a request needs, and by when. `max_cost`: what its gas may
    cost, in wei."""
    facts = (error.account, error.reason, max(each.balance for each in opinions), request.value + max_cost)
    return CannotPay(*facts) if request.deadline is None else CannotPayAnswer(*facts, request.deadline)


def _fitting(opinion: Opinion, opinions: Sequence[Opinion], gas: int, urgency: pricing.Urgency) -> Fees:
    return pricing.fitting_fees(opinion.market, _others(opinion, opinions), gas, urgency)


def _others(opinion: Opinion, opinions: Sequence[Opinion]) -> list[pricing.FeeMarket]:
    return [each.market for each in opinions if each is not opinion]


def _affordable(urgency: pricing.Urgency, request: TxRequest, gas: int, opinion: Opinion) -> pricing.Urgency:
    """The urgency with a cap that the balance can pay, since nodes take no other transaction. The cap stays where the
    balance cannot pay for a block now: then the nodes' refusal is reported."""
    left = opinion.balance - request.value
    return (
        urgency
        if left >= urgency.max_cost or left // gas < pricing.price_of(opinion.market)
        else replace(urgency, max_cost=left)
    )
