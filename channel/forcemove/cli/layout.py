"""How pages of text are laid out: titles, named fields, amounts and times."""

from __future__ import annotations

from datetime import UTC, datetime

import click

from forcemove.chain.addresses import show_address
from forcemove.protocol.types import ETHER
from forcemove.text.amounts import exact_amount

__all__ = ["WIDTH", "show_asset", "show_field", "show_time", "show_title"]

WIDTH = 16
"""Columns of a field's name."""


def show_title(text: str) -> str:
    """The title of a part of a page."""
    return "\n" + click.style(text, bold=True)


def show_field(name: str, value: object) -> str:
    """A field's name and value; further lines of the value are indented."""
    first, *rest = str(value).splitlines() or [""]
    return "\n".join([f"  {name:<{WIDTH}}{first}", *(" " * (WIDTH + 2) + line for line in rest)])


def show_asset(asset: bytes, amount: int) -> str:
    """An amount of ether or of a token, exactly."""
    if asset == ETHER:
        return f"{exact_amount(amount)} ({amount:,} wei)"
    return f"{amount:,} of the smallest unit of {show_address(asset)}"


def show_time(seconds: int) -> str:
    """A block time, which may be any uint48."""
    try:
        return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S} UTC"
    except (OverflowError, ValueError):
        return f"second {seconds:,}"
