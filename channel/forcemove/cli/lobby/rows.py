"""Open offers as a table for people. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from forcemove.chain.addresses import show_address
from forcemove.protocol.types import ETHER
from forcemove.tables.meetings.waiting import seats_text
from forcemove.text.amounts import format_amount
from forcemove.text.durations import duration_text
from forcemove.text.harmless import harmless
from forcemove.text.names import full_name
from forcemove.transport.joins import OfferStatus
from forcemove.transport.offers import Offer

__all__ = ["rows"]

_HEADS = ("No.", "Game", "Stake", "Seats", "Chain", "Answer in", "Open for", "Host")
_WAITING = "Waiting"
_GAP = "  "


def rows(numbered: Iterable[tuple[int, OfferStatus]], now: float) -> list[str]:
    """A line for each offer, under a line of headings; columns are as wide as their values. Where guests wait, there is
    a column with them. `now`: Unix seconds."""
    listed = list(numbered)
    has_guests = any(shown.joins for _, shown in listed)
    heads = (*_HEADS, _WAITING) if has_guests else _HEADS
    cells = [heads, *(_cells(number, shown, now)[: len(heads)] for number, shown in listed)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return [_GAP.join(map(str.ljust, row, widths)).rstrip() for row in cells]


def _cells(number: int, shown: OfferStatus, now: float) -> Sequence[str]:
    offer = shown.offer
    return (
        str(number),
        harmless(offer.game),
        _stake(offer),
        seats_text(shown),
        "none" if offer.is_friendly else str(offer.chain_id),
        "-" if offer.is_friendly else duration_text(offer.duration),
        duration_text(max(0, int(offer.expires - now))),
        full_name(offer.name, offer.host),
        ", ".join(full_name(each.join.name, each.join.guest) for each in shown.joins),
    )


def _stake(offer: Offer) -> str:
    if offer.is_friendly:
        return "nothing"
    if offer.asset == ETHER:
        return format_amount(offer.stake)
    return f"{offer.stake} of token {show_address(offer.asset)}"
