"""How much gas a transaction is given, and what a unit of it is offered, at first and when it has waited. Pure.

Only the chain's base fee is paid, however much more is offered: an endpoint's word is taken for it, within what the
transaction is worth. The tip is paid in full: it follows a curve of our own, and so does a price that has no base fee.
Nodes replace a waiting transaction only for an eighth more (geth's rule is a tenth, others take an eighth).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from forcemove.chain.chain import Fees
from forcemove.chain.prices import MAX_TX_GAS

_GWEI = 10**9
_TIP = 2 * _GWEI
_DEAREST, _DEAREST_ON_ONE_WORD = 1_000, 250
"""Percent of the first offer that are offered when the time has gone by: where every endpoint says so, and where one
does."""
_LAST = 15 / 16
"""The part of the time after which all that an answer is worth is offered."""
_FAR = 100
"""A base fee that is this many times higher than this endpoint's own is not believed for it."""
_ALIKE = 4
"""An offer that is more than this many times what is right is not made again to another endpoint."""


@dataclass(frozen=True, slots=True)
class FeeMarket:
    """What a unit of gas costs in wei, according to an endpoint. `base`: the base fee, None where there is none; `tip`:
    what the endpoint suggests, None where it does not; the whole price where there is no base fee."""

    base: int | None
    tip: int | None = None


@dataclass(frozen=True, slots=True)
class Urgency:
    """How urgent a transaction is. `max_cost`: what its gas may cost at most, in wei. `passed`: the part of its time
    that has gone by, 0 to 1, according to one endpoint; `surely`: by every endpoint's. `is_answer`: whether it has a
    deadline, after which it is of no use."""

    max_cost: int
    passed: float = 0.0
    surely: float = 0.0
    is_answer: bool = False


def gas_limit(row: int | None, estimates: Sequence[int], tries: int) -> int:
    """The limit of gas: half as much again as our own table says (`row`), or an endpoint's estimate, where that is more
    and less than three times the row. `tries`: how often the transaction has failed in its block: after that it is
    given three times the row.

    Where our table has no row the highest estimate that a transaction may have is taken, and three times that after a
    failure.
    """
    if row is None:
        plausible = [each for each in estimates if each <= MAX_TX_GAS] or [MAX_TX_GAS]
        return min(max(plausible) * (3 if tries else 1), MAX_TX_GAS)
    believed = [each for each in estimates if each < 3 * row]
    return min(3 * row if tries else max([row + row // 2, *believed]), MAX_TX_GAS)


def fitting_fees(market: FeeMarket, others: Sequence[FeeMarket], gas: int, urgency: Urgency) -> Fees:
    """The right fees now for an endpoint with this market, where `others` are the other endpoints': raised as the
    urgency demands, within the cap."""
    cap, percent = urgency.max_cost // gas, _percent(urgency)
    first = _first(market, others)
    price = min(first.max_fee_per_gas * percent // 100, cap)
    tip = min(first.max_priority_fee_per_gas * percent // 100, price)
    if urgency.is_answer and urgency.surely >= _LAST:
        price = tip = cap
    return Fees(price, price if first.is_legacy else tip, first.is_legacy)


def next_fees(last: Fees, market: FeeMarket, others: Sequence[FeeMarket], gas: int, urgency: Urgency) -> Fees | None:
    """Fees that may replace the last ones, or None where those are good enough, or the cap allows no more.

    - `last`: the fees that this endpoint was offered last.
    - `market`: this endpoint's word.
    - `others`: the other endpoints' words.
    - `gas`: the transaction's limit of gas.
    - `urgency`: the cap, and how much of the time has gone by.
    """
    fees, least = fitting_fees(market, others, gas, urgency), _bumped(last)
    if fees.max_fee_per_gas < least.max_fee_per_gas:
        return None
    tip = min(max(fees.max_priority_fee_per_gas, least.max_priority_fee_per_gas), fees.max_fee_per_gas)
    return Fees(fees.max_fee_per_gas, tip, fees.is_legacy)


def is_too_low(offer: Fees, market: FeeMarket) -> bool:
    """Whether no block will take the offer now, by this endpoint's word."""
    return 2 * offer.max_fee_per_gas < price_of(market)


def is_enough(offer: Fees, fees: Fees) -> bool:
    """Whether an offer that was made already will do instead of these fees, and is not much dearer."""
    is_dear = offer.max_fee_per_gas > _ALIKE * fees.max_fee_per_gas
    is_dear |= offer.max_priority_fee_per_gas > _ALIKE * fees.max_priority_fee_per_gas
    is_low = offer.max_fee_per_gas < fees.max_fee_per_gas
    is_low |= offer.max_priority_fee_per_gas < fees.max_priority_fee_per_gas
    return offer.is_legacy == fees.is_legacy and not is_dear and not is_low


def _first(market: FeeMarket, others: Sequence[FeeMarket]) -> Fees:
    bases = [each.base for each in (market, *others) if each.base is not None]
    if market.base is None:
        # A price is paid in full: the lowest that is shown.
        price = min(each.tip or 0 for each in (market, *others) if each.base is None)
        price = min([price, *(2 * base + _TIP for base in bases)])
        return Fees(price, price, is_legacy=True)
    tip = _tip(market, others)
    base = max(base for base in bases if base <= _FAR * max(market.base, _GWEI) or base == market.base)
    return Fees(2 * base + tip, tip)


def _tip(market: FeeMarket, others: Sequence[FeeMarket] = ()) -> int:
    """The tip: no more than another endpoint suggests, or half of our own bound if that is more. Where base fees are
    low the tip is most of what is paid, and an endpoint that suggests too much would double it."""
    shown = [each.tip for each in others if each.base is not None and each.tip is not None]
    bound = min(_TIP, max([_TIP // 2, *shown])) if shown else _TIP
    return bound if market.tip is None else min(bound, market.tip)


def price_of(market: FeeMarket) -> int:
    """The right price of a unit of gas in wei, according to one endpoint alone."""
    return market.tip or 0 if market.base is None else 2 * market.base + _tip(market)


def _percent(urgency: Urgency) -> int:
    """Percent of the first offer: slowly more at first, ten times as much at the end."""
    return max(_raised(urgency.surely, _DEAREST), min(_raised(urgency.passed, _DEAREST), _DEAREST_ON_ONE_WORD))


def _raised(passed: float, max_cost: int) -> int:
    return 100 + int((max_cost - 100) * min(max(passed, 0.0), 1.0) ** 2)


def _bumped(fees: Fees) -> Fees:
    return Fees(
        fees.max_fee_per_gas + fees.max_fee_per_gas // 8 + 1,
        fees.max_priority_fee_per_gas + fees.max_priority_fee_per_gas // 8 + 1,
        fees.is_legacy,
    )
