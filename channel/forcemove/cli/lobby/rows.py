"""Open offers as a table for people, and as JSON for programs. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from forcemove.chain.addresses import show_address
from forcemove.cli.layout import short_address
from forcemove.protocol.codec.json_text import hex_text
from forcemove.protocol.types import ETHER
from forcemove.text.amounts import format_amount
from forcemove.text.harmless import harmless
from forcemove.transport.links import Link
from forcemove.transport.offers import Offer

__all__ = ["offer_json", "rows"]

_HEADS = ("No.", "Game", "Stake", "Seats", "Chain", "Answer in", "Open for", "Host")
_GAP = "  "
_SEATS = 2
"""Players of an offer's game: its host, and one guest."""


def rows(numbered: Iterable[tuple[int, Offer]], now: float) -> list[str]:
    """A line for each offer, under a line of headings; columns are as wide as their values. `now`: Unix seconds."""
    cells = [_HEADS, *(_cells(number, offer, now) for number, offer in numbered)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return [_GAP.join(map(str.ljust, row, widths)).rstrip() for row in cells]


def offer_json(number: int, offer: Offer, relay: str) -> dict[str, Any]:
    """An offer as values for JSON: amounts in the smallest unit, as text; `duration` in seconds, `expires` in Unix
    seconds."""
    return {
        "number": number,
        "offer": hex_text(offer.hash),
        "link": str(Link(relay, offer.hash)),
        "game": offer.game,
        "stake": str(offer.stake),
        "deposit": str(offer.deposit),
        "asset": show_address(offer.asset),
        "seats": _SEATS,
        "free": _SEATS - 1,
        "chainId": offer.chain_id,
        "adjudicator": show_address(offer.adjudicator),
        "duration": offer.duration,
        "expires": offer.expires,
        "host": show_address(offer.host),
    }


def _cells(number: int, offer: Offer, now: float) -> Sequence[str]:
    return (
        str(number),
        harmless(offer.game),
        _stake(offer),
        f"1 of {_SEATS}",
        "none" if offer.is_friendly else str(offer.chain_id),
        "-" if offer.is_friendly else _time(offer.duration),
        _time(max(0, int(offer.expires - now))),
        short_address(offer.host),
    )


def _stake(offer: Offer) -> str:
    if offer.is_friendly:
        return "nothing"
    if offer.asset == ETHER:
        return format_amount(offer.stake)
    return f"{offer.stake} of token {show_address(offer.asset)}"


def _time(seconds: int) -> str:
    """A time in its two largest units."""
    for unit, name, below, of_it in ((86_400, "d", 3_600, "h"), (3_600, "h", 60, "min"), (60, "min", 1, "s")):
        if seconds >= unit:
            count, rest = divmod(seconds, unit)
            return f"{count} {name} {rest // below} {of_it}" if rest // below else f"{count} {name}"
    return f"{seconds} s"
