"""The open offers of a lobby: kept up to date, as values for JSON, and for a player who waits for others."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator
from typing import TYPE_CHECKING

from forcemove.chain.addresses import short_address, show_address
from forcemove.inspect.documents import Address, Amount, Decimal, Document, Hash, Seconds
from forcemove.protocol.codec.json_text import hex_text
from forcemove.text.names import full_name, shown_name
from forcemove.transport.joins import OfferStatus
from forcemove.transport.links import Link
from forcemove.transport.offers import MIN_SEATS, Offer

if TYPE_CHECKING:
    from forcemove.transport.connect import LobbyPort

_LEAST_PAUSE, _SHARE = 0.5, 4
"""Seconds between two looks, however much happens; and the pause as a multiple of the last look's duration."""


async def open_offers(
    lobby: LobbyPort, wanted: Callable[[Offer], bool], most: int
) -> AsyncGenerator[list[OfferStatus]]:
    """The open offers for which `wanted` holds, at most this many, again and again: as soon as there are others, if the
    server tells of that, else some seconds after the last look. Those that end last come first, which are mostly the
    newest. Raises what the lobby raises."""
    clock = asyncio.get_running_loop().time
    while True:
        began = clock()
        found = await lobby.list(wanted, most)
        took = clock() - began
        yield sorted(found, key=lambda each: (-each.offer.expires, each.offer.hash))
        await asyncio.sleep(max(_LEAST_PAUSE, _SHARE * took))
        await lobby.changed([each.offer.hash for each in found])


class GuestJson(Document):
    """Somebody who has taken a seat. `name`: as it may be shown, null where there is none."""

    address: Address
    name: str | None


class OfferJson(Document):
    """An open offer. `duration` of a challenge; `moveTime`: that each has for a move, 0 for any; `name`: the host's, as
    it may be shown, null where there is none; `invited`: the only one who may join, null for anybody."""

    number: int
    offer: Hash
    link: str
    game: str
    stake: Amount
    deposit: Amount
    asset: Address
    seats: int
    free: int
    chain_id: Decimal
    adjudicator: Address
    duration: Seconds
    expires: Seconds
    host: Address
    name: str | None
    guests: list[GuestJson]
    move_time: Seconds
    invited: Address | None


class LobbyDocument(Document):
    """The open offers at a relay. `isAll`: whether there are no others."""

    relay: str
    offers: list[OfferJson]
    is_all: bool


def offer_json(number: int, shown: OfferStatus, relay: str) -> OfferJson:
    """An offer, under this number of a list."""
    offer = shown.offer
    return OfferJson(
        number,
        hex_text(offer.hash),
        str(Link(relay, offer.hash)),
        offer.game,
        str(offer.stake),
        str(offer.deposit),
        show_address(offer.asset),
        offer.seats,
        offer.seats - shown.taken,
        str(offer.chain_id),
        show_address(offer.adjudicator),
        offer.duration,
        offer.expires,
        show_address(offer.host),
        shown_name(offer.name) or None,
        [GuestJson(show_address(each.join.guest), shown_name(each.join.name) or None) for each in shown.joins],
        offer.move_time,
        show_address(offer.guest) if offer.guest else None,
    )


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
                f"Waiting for {short_address(self._offer.guest) if self._offer.guest else 'somebody'} to join"
                if self._offer.host == self._ours
                else "Waiting for the host to come to the table"
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
