"""What a unit of gas is offered, at first and when it has waited. Pure.

The offer follows the node's prices, rises as the time runs out, and never goes beyond what the transaction is worth.
Nodes replace a waiting transaction only for an eighth more (geth's rule is a tenth, others take an eighth).
"""

from __future__ import annotations

from dataclasses import dataclass

from forcemove.channel.chain.chain import Fees

__all__ = ["Urgency", "fitting_fees", "is_too_low", "next_fees"]

_DEAREST = 10
"""How many times the node's price is offered at the end."""


@dataclass(frozen=True, slots=True)
class Urgency:
    """`most`: what the gas may cost at most, in wei. `passed`: the part of the time that it has which has gone by, 0 to
    1."""

    most: int
    passed: float = 0.0


def fitting_fees(market: Fees, gas: int, urgency: Urgency) -> Fees:
    """What is right now: the node's price, raised as the time demands, within the cap."""
    raised = _raised(market, urgency.passed)
    price = min(raised.max_fee_per_gas, urgency.most // gas)
    return Fees(price, price if raised.is_legacy else min(raised.max_priority_fee_per_gas, price), raised.is_legacy)


def next_fees(last: Fees, market: Fees, gas: int, urgency: Urgency) -> Fees | None:
    """An offer that may replace the last one, or None where that is good enough, or the cap allows none."""
    fees, least = fitting_fees(market, gas, urgency), _bumped(last)
    if fees.max_fee_per_gas < least.max_fee_per_gas:
        return None
    return Fees(
        fees.max_fee_per_gas,
        min(max(fees.max_priority_fee_per_gas, least.max_priority_fee_per_gas), fees.max_fee_per_gas),
        fees.is_legacy,
    )


def is_too_low(offer: Fees, market: Fees) -> bool:
    """Whether no block will take it now: it is below half of what the node finds right, which is twice the base
    fee."""
    return 2 * offer.max_fee_per_gas < market.max_fee_per_gas


def _raised(market: Fees, passed: float) -> Fees:
    """Slowly at first: an eighth more after a ninth of the time, ten times as much at the end."""
    percent = 100 + int(100 * (_DEAREST - 1) * min(max(passed, 0.0), 1.0) ** 2)
    return Fees(
        market.max_fee_per_gas * percent // 100, market.max_priority_fee_per_gas * percent // 100, market.is_legacy
    )


def _bumped(fees: Fees) -> Fees:
    return Fees(
        fees.max_fee_per_gas + fees.max_fee_per_gas // 8 + 1,
        fees.max_priority_fee_per_gas + fees.max_priority_fee_per_gas // 8 + 1,
        fees.is_legacy,
    )
