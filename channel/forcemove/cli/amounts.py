"""Amounts as people write them."""

from __future__ import annotations

import click

from forcemove.protocol.types import UINT256_MAX
from forcemove.text.amounts import parse_amount

__all__ = ["AMOUNT"]


class _Amount(click.ParamType[int]):
    """`0.2 ether`, `5 gwei`, `1000 wei` or `1000` (wei), as a number of wei, exactly."""

    name = "amount"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """See `click.ParamType.convert`."""
        if isinstance(value, int):
            return value
        amount = parse_amount(str(value))
        if amount is None:
            self.fail(f"{value!r:.80} is no amount: write such as '0.2 ether', '5 gwei' or '1000' (wei)", param, ctx)
        if amount > UINT256_MAX:
            self.fail(f"{value!r:.80} is more than any asset has: amounts are below 2**256", param, ctx)
        return amount


AMOUNT = _Amount()
"""The type of options that take an amount."""
