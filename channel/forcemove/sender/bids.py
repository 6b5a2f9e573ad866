"""The versions of a transaction: which one each endpoint is offered, signed when none of those that there are fits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace as changed

from msgspec.structs import replace

from forcemove.chain.chain import Call, Fees, SignedTransaction
from forcemove.sender.opinions import Opinion
from forcemove.sender.pricing import (
    Market,
    Urgency,
    fitting_fees,
    is_enough,
    is_too_low,
    next_fees,
    price_of,
)
from forcemove.sender.transactions import Flying, Version, Wanted

__all__ = ["Bids"]


class Bids:
    """`sign`: makes a transaction of a call, a nonce, a limit of gas and fees. `clock`: seconds since 1970."""

    def __init__(self, sign: Callable[[Call, int, int, Fees], SignedTransaction], clock: Callable[[], float]) -> None:
        self._sign, self._clock = sign, clock

    def is_too_dear(self, wanted: Wanted, gas: int, opinions: Sequence[Opinion]) -> bool:
        """Whether its worth is too little for a block, whoever is asked."""
        fees = [(_fitting(each, opinions, gas, Urgency(wanted.most)), each.market) for each in opinions]
        return all(is_too_low(offer, market) for offer, market in fees)

    def begin(
        self, wanted: Wanted, nonce: int, gas: int, begun_at: int, opinion: Opinion, opinions: Sequence[Opinion]
    ) -> Flying:
        """The first version of a transaction, for this endpoint. `begun_at`: block time, seconds."""
        urgency = _affordable(Urgency(wanted.most), wanted, gas, opinion)
        fees = _fitting(opinion, opinions, gas, urgency)
        return Flying(wanted, nonce, gas, begun_at, (self._version(wanted, nonce, gas, fees),))

    def fit(self, flying: Flying, opinion: Opinion, opinions: Sequence[Opinion]) -> tuple[Flying, Version]:
        """What this endpoint is offered at first, and the transaction with it."""
        urgency = _affordable(Urgency(flying.wanted.most), flying.wanted, flying.gas, opinion)
        return self._with(flying, _fitting(opinion, opinions, flying.gas, urgency))

    def raised(
        self,
        flying: Flying,
        last: Version,
        opinion: Opinion,
        opinions: Sequence[Opinion],
        urgency: Urgency,
    ) -> tuple[Flying, Version] | None:
        """What may replace `last` at this endpoint. None where that is good enough, or the cap allows no more."""
        urgency = _affordable(urgency, flying.wanted, flying.gas, opinion)
        fees = next_fees(last.fees, opinion.market, _others(opinion, opinions), flying.gas, urgency)
        return None if fees is None else self._with(flying, fees)

    def _with(self, flying: Flying, fees: Fees) -> tuple[Flying, Version]:
        for version in reversed(flying.versions):
            if is_enough(version.fees, fees):
                return flying, version
        version = self._version(flying.wanted, flying.nonce, flying.gas, fees)
        return replace(flying, versions=(*flying.versions, version)), version

    def _version(self, wanted: Wanted, nonce: int, gas: int, fees: Fees) -> Version:
        signed = self._sign(wanted.call, nonce, gas, fees)
        max_fee, tip = fees.max_fee_per_gas, fees.max_priority_fee_per_gas
        return Version(signed.hash, signed.raw, max_fee, tip, fees.is_legacy, int(self._clock()))


def _fitting(opinion: Opinion, opinions: Sequence[Opinion], gas: int, urgency: Urgency) -> Fees:
    return fitting_fees(opinion.market, _others(opinion, opinions), gas, urgency)


def _others(opinion: Opinion, opinions: Sequence[Opinion]) -> list[Market]:
    return [each.market for each in opinions if each is not opinion]


def _affordable(urgency: Urgency, wanted: Wanted, gas: int, opinion: Opinion) -> Urgency:
    """Nodes take nothing that the balance could not pay for; where it cannot pay for a block now, that is told."""
    left = opinion.balance - wanted.value
    return urgency if left >= urgency.most or left // gas < price_of(opinion.market) else changed(urgency, most=left)
