"""Open offers as a table for people, and as JSON for programs. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from forcemove.chain.addresses import show_address
from forcemove.protocol.codec.json_text import hex_text
from forcemove.protocol.types import ETHER
from forcemove.tables.meetings.waiting import seats_text
from forcemove.text.amounts import format_amount
from forcemove.text.durations import duration_text
from forcemove.text.harmless import harmless
from forcemove.text.names import full_name, shown_name
from forcemove.transport.joins import Join, OfferStatus
from forcemove.transport.links import Link
from forcemove.transport.offers import Offer

__all__ = ["offer_json", "rows"]

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


def offer_json(number: int, shown: OfferStatus, relay: str) -> dict[str, Any]:
    """An offer as values for JSON: amounts in the smallest unit, as text; `duration` in seconds, `expires` in Unix
    seconds. Names are as they may be shown, null where there is none."""
    offer = shown.offer
    return {
        "number": number,
        "offer": hex_text(offer.hash),
        "link": str(Link(relay, offer.hash)),
        "game": offer.game,
        "stake": str(offer.stake),
        "deposit": str(offer.deposit),
        "asset": show_address(offer.asset),
        "seats": offer.seats,
        "free": offer.seats - shown.taken,
        "chainId": offer.chain_id,
        "adjudicator": show_address(offer.adjudicator),
        "duration": offer.duration,
        "expires": offer.expires,
        "host": show_address(offer.host),
        "name": shown_name(offer.name) or None,
        "guests": [_guest_json(each.join) for each in shown.joins],
    }


def _guest_json(join: Join) -> dict[str, Any]:
    return {"address": show_address(join.guest), "name": shown_name(join.name) or None}


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
