"""Follows the open offers of a relay's lobby, whatever becomes of the relay. Believes an offer by its signature
alone."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from forcemove.errors import ForcemoveError
from forcemove.sessions.meetings.lobby import open_offers
from forcemove.sessions.running.playable import PlayableGame, playable_for
from forcemove.sessions.standby import relay_pauses
from forcemove.text.explanations import headline
from forcemove.transport.connect import connect_relay
from forcemove.transport.faults import FAULT_SECONDS
from forcemove.transport.joins import OfferStatus
from forcemove.transport.links import public_url
from forcemove.transport.offers import Offer

_MOST = 50
"""Offers that are shown."""


class LobbyFollower:
    """The open offers of a lobby that we may and can join, and our own. `offers`: those, the newest mostly first;
    `has_more`: whether there are more than are listed; `problem`: why they are not known, empty where they are;
    `relay`: its address as we know it ourselves; `url`: without a password."""

    def __init__(self, relay: str, playable: Sequence[PlayableGame], ours: bytes) -> None:
        """`relay`: its address; `playable`: the games that can be played here; `ours`: our address, 20 bytes."""
        self.relay, self._playable, self._ours = relay, tuple(playable), ours
        self.url = public_url(relay)
        self.offers: tuple[OfferStatus, ...] = ()
        self.has_more = False
        self.problem = f"Asking {self.url}."
        self.on_change: Callable[[], None] = lambda: None
        """Is called when the offers, or the problem, have changed."""

    def find(self, offer: bytes) -> OfferStatus | None:
        """The open offer of this hash."""
        return next((each for each in self.offers if each.offer.hash == offer), None)

    async def run(self) -> None:
        """Follow until this is cancelled."""
        pauses = relay_pauses()
        while True:
            try:
                async with connect_relay(self.relay, fault_seconds=FAULT_SECONDS) as connection:
                    async for found in open_offers(connection.lobby, self._is_shown, _MOST + 1):
                        pauses.reset()
                        self._take(tuple(found[:_MOST]), has_more=len(found) > _MOST)
            except ForcemoveError as error:
                self._fail(headline(error))
            except Exception as error:  # whatever a relay makes of it: the tables go on
                self._fail(f"The list of open games has failed: {type(error).__name__}.")
            await asyncio.sleep(pauses.next_pause())

    def _is_shown(self, offer: Offer) -> bool:
        return offer.is_for(self._ours) and playable_for(self._playable, offer) is not None

    def _take(self, offers: tuple[OfferStatus, ...], *, has_more: bool) -> None:
        if (offers, has_more, "") != (self.offers, self.has_more, self.problem):
            self.offers, self.has_more, self.problem = offers, has_more, ""
            self.on_change()

    def _fail(self, problem: str) -> None:
        if problem != self.problem:
            self.offers, self.has_more, self.problem = (), False, problem
            self.on_change()
