"""Amounts as people read them. Pure."""

from __future__ import annotations

__all__ = ["exact_amount", "format_amount"]

_GWEI = 10**9
_SHOWN = 10**12
"""The smallest amount that is shown to people, in 10**-18."""


def format_amount(amount: int, symbol: str = "ether", *, is_needed: bool = False) -> str:
    """An amount of something with 18 decimals for people, such as `1.25 ether`: with at most six digits after the
    point, the rest left out. A smaller amount that is not zero is in gwei or wei; of anything but ether it is `<
    0.000001`.

    `is_needed`: somebody must have so much, so that it is rounded up.
    """
    if is_needed and amount > _SHOWN:
        amount += -amount % _SHOWN
    if amount == 0 or amount >= _SHOWN:
        return exact_amount(amount - amount % _SHOWN, symbol)
    if symbol != "ether":
        return f"< {exact_amount(_SHOWN, symbol)}"
    return f"{amount} wei" if amount < _GWEI else exact_amount(amount * _GWEI - amount * _GWEI % _SHOWN, "gwei")


def exact_amount(amount: int, symbol: str = "ether") -> str:
    """An amount with all its digits: one that is agreed on, or typed."""
    whole, rest = divmod(amount, 10**18)
    return f"{whole}.{rest:018}".rstrip("0").rstrip(".") + f" {symbol}"
