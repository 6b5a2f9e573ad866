"""Words that the parts of a page share: names, amounts and times of day. Pure but for the reader's own time zone."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from forcemove.browser.view import ChannelView
from forcemove.chain.addresses import short_address
from forcemove.game import Names
from forcemove.history.tokens import Tokens
from forcemove.protocol.machine.results import Share
from forcemove.text.amounts import amount_text
from forcemove.text.durations import local_time
from forcemove.text.entries import name_at
from forcemove.text.harmless import harmless

__all__ = [
    "amount_text",
    "capitalised",
    "change_text",
    "clock_time",
    "count_text",
    "gas_text",
    "local_time",
    "named",
    "paid_text",
    "short_address",
    "short_hash",
    "shown_names",
    "with_short_hashes",
]

_LONGEST = 40
_HASH = re.compile(r"(0x[0-9a-f]{8})[0-9a-f]{48}([0-9a-f]{8})")
_MINUS = "\N{MINUS SIGN}"


@lru_cache(maxsize=64)
def shown_names(names: Names) -> Names:
    """The names as they may be shown: strangers choose their own."""
    return tuple(harmless(name[:_LONGEST]) for name in names)


def named(view: ChannelView, seat: int | None) -> str:
    """A participant in a sentence: `you`, or a name."""
    return name_at(seat, shown_names(view.names), view.channel.index)


def change_text(asset: bytes, change: int, tokens: Tokens = ()) -> str:
    """A change with its sign; empty where nothing has changed."""
    if not change:
        return ""
    return f"{_MINUS if change < 0 else '+'}{amount_text(asset, abs(change), tokens)}"


def paid_text(view: ChannelView, shares: Iterable[Share]) -> str:
    """Who is paid what, such as `you are paid 0.6 ether and Bob 0.4 ether`: we come first."""
    ordered = sorted(shares, key=lambda each: (each.participant != view.channel.index, each.participant))
    parts = list[str]()
    for each in ordered:
        who = named(view, each.participant)
        verb = "" if parts else " are paid" if each.participant == view.channel.index else " is paid"
        parts.append(f"{who}{verb} {amount_text(each.asset, each.payable, view.tokens)}")
    if len(parts) < 2:
        return "".join(parts) or "nobody is paid anything"
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


def gas_text(gas: int | None) -> str:
    """What something costs in gas."""
    if gas is None:
        return "gas: not known yet"
    return f"about {round(gas, -3):,} gas" if gas else "no gas"


def count_text(count: int, what: str) -> str:
    """Such as `1 transaction`, or `3 transactions`."""
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


def capitalised(text: str) -> str:
    """A sentence that begins with a capital letter."""
    return text[:1].upper() + text[1:]


# --------------------------------------------------------------------------------------------------------------- times


def clock_time(view: ChannelView, block_time: int) -> str:
    """The time of day, on the reader's clock, at which the chain's clock shows this time; with the date where that is
    another day."""
    date, clock = local_time(view.wall + block_time - view.now)
    today, _ = local_time(view.wall)
    return clock if date == today else f"{clock} on {date}"


# -------------------------------------------------------------------------------------------------------------- digits


def short_hash(data: bytes, digits: int = 8) -> str:
    """The first digits of some bytes."""
    text = data.hex()
    return f"0x{text}" if len(text) <= 2 * digits else f"0x{text[:digits]}\N{HORIZONTAL ELLIPSIS}{text[-digits:]}"


def with_short_hashes(text: str) -> str:
    """A text in which hashes of 32 bytes are short."""
    return _HASH.sub("\\1\N{HORIZONTAL ELLIPSIS}\\2", text)
