"""Amounts as people write them."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation, localcontext

import click

from forcemove.protocol.types import UINT256_MAX

__all__ = ["AMOUNT"]

_UNITS = {"wei": 0, "gwei": 9, "ether": 18, "eth": 18}
_MAX_DIGITS = 100


class _Amount(click.ParamType[int]):
    """`0.2 ether`, `5 gwei`, `1000 wei` or `1000` (wei), as a number of wei, exactly."""

    name = "amount"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """See `click.ParamType.convert`."""
        if isinstance(value, int):
            return value
        number, _, unit = str(value).strip().lower().partition(" ")
        digits = number.rstrip("abcdefghijklmnopqrstuvwxyz")
        places = _UNITS.get((unit or number[len(digits) :] or "wei").strip())
        amount = _scaled(digits, places)
        if amount is None:
            self.fail(f"{value!r:.80} is no amount: write such as '0.2 ether', '5 gwei' or '1000' (wei)", param, ctx)
        if amount > UINT256_MAX:
            self.fail(f"{value!r:.80} is more than any asset has: amounts are below 2**256", param, ctx)
        return amount


def _scaled(digits: str, places: int | None) -> int | None:
    """The digits as a number, times 10 to the power of `places`; a number that is too large in place of one with more
    digits than can matter; None where the digits are no number, or not all of them fit."""
    try:
        number = Decimal(digits) if places is not None else Decimal("NaN")
    except InvalidOperation:
        return None
    if places is None or not number.is_finite() or number.is_signed():
        return None
    if number.adjusted() > _MAX_DIGITS:
        return UINT256_MAX + 1
    if number and number.adjusted() < -_MAX_DIGITS:
        return None
    with localcontext(prec=max(1, len(digits)) + _MAX_DIGITS):
        amount = number.scaleb(places)
        return int(amount) if amount == amount.to_integral_value() else None


AMOUNT = _Amount()
"""The type of options that take an amount."""
