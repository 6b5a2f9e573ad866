"""The open offers of a lobby, kept up to date. Knows no network and no screen."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

from forcemove.transport.connect import LobbyPort
from forcemove.transport.joins import OfferStatus
from forcemove.transport.offers import Offer

__all__ = ["open_offers"]

_LEAST_PAUSE, _SHARE = 0.5, 4
"""Seconds between two looks, however much happens; and the pause as a multiple of the last look's duration."""


async def open_offers(lobby: LobbyPort, wanted: Callable[[Offer], bool], most: int) -> AsyncIterator[list[OfferStatus]]:
    """The open offers for which `wanted` holds, at most so many, again and again: as soon as one of them changes, else
    some seconds after the last look. Those that end last come first, which are mostly the newest. Raises what the lobby
    raises."""
    clock = asyncio.get_running_loop().time
    while True:
        began = clock()
        found = await lobby.list(wanted, most)
        took = clock() - began
        yield sorted(found, key=lambda each: (-each.offer.expires, each.offer.hash))
        await asyncio.sleep(max(_LEAST_PAUSE, _SHARE * took))
        await lobby.changed([each.offer.hash for each in found])
