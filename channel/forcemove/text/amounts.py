"""Amounts as people read and write them. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation, localcontext

from forcemove.chain.addresses import short_address, show_address
from forcemove.history.tokens import TokenFacts, Tokens
from forcemove.protocol.types import ETHER, UINT256_MAX
from forcemove.text.names import full_name

_GWEI = 10**9
ETHER_UNITS: Mapping[str, int] = {"wei": 0, "gwei": 9, "ether": 18, "eth": 18}
"""The units that people write ether in, each with its places after the point of the smallest one."""
_MAX_DIGITS = 100
_SHOWN = 10**12
"""The smallest amount that is shown to people, in 10**-18."""
_DIGITS = 6
"""Digits after the point of a token's amount that are shown."""


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


def exact_amount(amount: int, symbol: str = "ether", decimals: int = 18) -> str:
    """An amount with all its digits: one that is agreed on, or typed. `decimals`: places after the point."""
    whole, rest = divmod(amount, 10**decimals)
    digits = f"{whole}.{rest:0{decimals}}".rstrip("0").rstrip(".") if decimals else str(whole)
    return f"{digits} {symbol}"


def parse_amount(text: str, units: Mapping[str, int] = ETHER_UNITS) -> int | None:
    """The number of wei, exactly, that a text means, such as `0.2 ether`, `5 gwei`, `1000 wei` or `1000` (wei); None
    for a text that is not an amount. In place of a number that is far above any asset's, one just above is returned.
    `units`: those of another asset, and how many places each has; a number without one is of the smallest unit."""
    number, _, unit = text.strip().lower().partition(" ")
    digits = number.rstrip("abcdefghijklmnopqrstuvwxyz")
    named = (unit or number[len(digits) :]).strip()
    return _scaled(digits, units.get(named) if named else 0)


def parse_tokens(text: str, decimals: int) -> int | None:
    """The number of a token's smallest unit that a text means: `2.5 tokens` are whole ones, `1000` is of the smallest
    unit. None for a text that is no such amount. `decimals`: of the token."""
    return parse_amount(text, {"token": decimals, "tokens": decimals})


def _scaled(digits: str, places: int | None) -> int | None:
    """The digits as a number, times 10 to the power of `places`; a number that is too large in place of one with more
    digits than can matter; None where the digits are not a number, or not all of them fit."""
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


def token_name(token: TokenFacts) -> str:
    """A token's name for itself, as it may be shown, with the short form of its address. None is shown as ether."""
    is_ether = token.symbol.strip().casefold() in ETHER_UNITS
    return full_name("" if is_ether else token.symbol, token.address)


def exact_tokens(token: TokenFacts, amount: int) -> str:
    """An amount of a token with all its digits, such as `2.5 USDC 0xa0b8…eb48`. `amount`: in the smallest unit."""
    return exact_amount(amount, token_name(token), token.decimals)


def amount_text(asset: bytes, amount: int, tokens: Tokens = ()) -> str:
    """An amount of an asset (20 bytes) for people, with at most six digits after the point: whole tokens where their
    decimals are known, else the token's smallest units.

    - `asset`: 20 bytes; zero is ether.
    - `amount`: in the smallest unit.
    - `tokens`: those of which something is known.
    """
    if asset == ETHER:
        return format_amount(amount)
    token = _known(asset, tokens)
    if token is None or not token.decimals:
        name = short_address(asset) if token is None else token_name(token)
        return f"{amount:,} smallest {'unit' if amount == 1 else 'units'} of {name}"
    step = 10 ** max(0, token.decimals - _DIGITS)
    return f"< {exact_tokens(token, step)}" if 0 < amount < step else exact_tokens(token, amount - amount % step)


def show_asset(asset: bytes, amount: int, tokens: Tokens = ()) -> str:
    """An amount of ether or of a token, exactly. The parameters are those of `amount_text`."""
    if asset == ETHER:
        return f"{exact_amount(amount)} ({amount:,} wei)"
    token, units = _known(asset, tokens), f"{amount:,} of the smallest unit of {show_address(asset)}"
    return units if token is None or not token.decimals else f"{exact_tokens(token, amount)} ({units})"


def _known(asset: bytes, tokens: Tokens) -> TokenFacts | None:
    return next((each for each in tokens if each.address == asset), None)
