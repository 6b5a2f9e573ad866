"""Open offers as values for JSON. Pure."""

from __future__ import annotations

from typing import Any

from forcemove.chain.addresses import show_address
from forcemove.protocol.codec.json_text import hex_text
from forcemove.text.names import shown_name
from forcemove.transport.joins import Join, OfferStatus
from forcemove.transport.links import Link

__all__ = ["offer_json"]


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
