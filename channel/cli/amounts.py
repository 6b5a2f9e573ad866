"""Amounts as people write and read them."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

import click

__all__ = ["AMOUNT", "format_amount"]

_UNITS = {"wei": 0, "gwei": 9, "ether": 18, "eth": 18}
_MAX = 2**128


class _Amount(click.ParamType[int]):
    """`0.2 ether`, `5 gwei`, `1000 wei` or `1000` (wei), as a number of wei."""

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
            self.fail(f"{value!r} is no amount: write such as '0.2 ether', '5 gwei' or '1000' (wei)", param, ctx)
        return amount


def _scaled(digits: str, places: int | None) -> int | None:
    try:
        amount = Decimal(digits).scaleb(places) if places is not None else Decimal("NaN")
    except InvalidOperation:
        return None
    if not amount.is_finite() or amount != amount.to_integral_value() or not 0 <= amount < _MAX:
        return None
    return int(amount)


AMOUNT = _Amount()
"""The type of options that take an amount."""


def format_amount(amount: int, symbol: str = "ether") -> str:
    """An amount of something with 18 decimals, such as `1.25 ether`."""
    whole, rest = divmod(amount, 10**18)
    return f"{whole}.{rest:018}".rstrip("0").rstrip(".") + f" {symbol}"
