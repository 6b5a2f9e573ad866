"""The open offers of a lobby: kept up to date, as values for JSON, and for a player who waits for others."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

from forcemove.chain.addresses import show_address
from forcemove.protocol.codec.json_text import hex_text
from forcemove.text.names import full_name, shown_name
from forcemove.transport.connect import LobbyPort
from forcemove.transport.joins import Join, OfferStatus
from forcemove.transport.links import Link
from forcemove.transport.offers import MIN_SEATS, Offer

__all__ = ["Waiting", "offer_json", "open_offers", "seats_text", "who_waits"]

_LEAST_PAUSE, _SHARE = 0.5, 4
"""Seconds between two looks, however much happens; and the pause as a multiple of the last look's duration."""


async def open_offers(lobby: LobbyPort, wanted: Callable[[Offer], bool], most: int) -> AsyncIterator[list[OfferStatus]]:
    """The open offers for which `wanted` holds, at most this many, again and again: as soon as one of them changes,
    else some seconds after the last look. Those that end last come first, which are mostly the newest. Raises what the
    lobby raises."""
    clock = asyncio.get_running_loop().time
    while True:
        began = clock()
        found = await lobby.list(wanted, most)
        took = clock() - began
        yield sorted(found, key=lambda each: (-each.offer.expires, each.offer.hash))
        await asyncio.sleep(max(_LEAST_PAUSE, _SHARE * took))
        await lobby.changed([each.offer.hash for each in found])


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


class Waiting:
    """One player who waits for the others of an offer."""

    def __init__(self, offer: Offer, ours: bytes) -> None:
        """`ours`: our address, 20 bytes."""
        self._offer, self._ours = offer, ours
        self._here: dict[bytes, str] = {}

    def status(self, shown: OfferStatus) -> str:
        """What is waited for."""
        if self._offer.seats == MIN_SEATS:
            return (
                "Waiting for somebody to join"
                if self._offer.host == self._ours
                else "Waiting for the host at the table"
            )
        if shown.is_full:
            return "All seats are taken: waiting for all at the table"
        return f"{seats_text(shown)} are here: {who_waits(shown)}"

    def changes(self, shown: OfferStatus) -> Iterator[str]:
        """A line for each other guest that has come or gone, at a table for more than two."""
        if self._offer.seats == MIN_SEATS:
            return
        here = {each.join.guest: full_name(each.join.name, each.join.guest) for each in shown.joins}
        before, self._here = self._here, here
        for address, name in before.items():
            if address not in here and address != self._ours:
                yield f"lobby       {name} has gone: {seats_text(shown)} are here."
        for address, name in here.items():
            if address not in before and address != self._ours:
                yield f"lobby       {name} is here: {seats_text(shown)}."


def seats_text(shown: OfferStatus) -> str:
    """How many seats are taken, as `2 of 3`."""
    return f"{shown.taken} of {shown.offer.seats}"


def who_waits(shown: OfferStatus) -> str:
    """Those that have a seat, the host first."""
    guests = (full_name(each.join.name, each.join.guest) for each in shown.joins)
    return ", ".join([full_name(shown.offer.name, shown.offer.host), *guests])
