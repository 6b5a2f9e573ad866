"""What a journal remembers of meetings: our offers that wait, and games that were agreed on but may not have
begun."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec.structs import replace

from forcemove.errors import JournalUnavailable, MalformedBytes, UnknownVersion
from forcemove.protocol.agreement import Agreement
from forcemove.sessions.meetings.meeting import MEETINGS, Meeting, PendingOffer
from forcemove.sessions.meetings.venues import GamePlace
from forcemove.transport.offers import Offer

if TYPE_CHECKING:
    from forcemove.store.journal import Journal
    from forcemove.store.meetings import Meetings


class StoredMeetings:
    """The meetings and offers of one game, chain and key in a journal."""

    def __init__(self, journal: Journal, venue: GamePlace, address: bytes, relay: str = "") -> None:
        """Read and write the meetings of a journal.

        - `journal`: where they are stored.
        - `venue`: the game, and the chain that it is played on.
        - `address`: 20 bytes, ours.
        - `relay`: the address that what is stored keeps; empty for none.
        """
        self._stored, self._venue, self._address, self._relay = journal.meetings, venue, address, relay

    def meetings(self, is_free: Callable[[bytes], bool]) -> Iterator[Meeting]:
        """The meetings that no other table has. `is_free`: called with the hash of a meeting's offer."""
        for each in list(self._all()):
            offer = each.offer
            is_same = (offer.game, offer.chain_id) == (self._venue.name, self._venue.chain_id)
            if is_same and isinstance(each, Meeting) and self._address in each.players and is_free(offer.hash):
                yield each

    def offers(self, is_wanted: Callable[[Offer], bool]) -> Iterator[PendingOffer]:
        """Our wanted offers that may still be taken. Those that have expired are forgotten."""
        for each in list(self._all()):
            if not isinstance(each, PendingOffer):
                continue
            if each.offer.expires <= time.time():
                with suppress(JournalUnavailable):  # it is forgotten once there is room
                    self._stored.forget(each.offer.hash)
            elif is_wanted(each.offer):
                yield each

    def has_offer(self, offer: Offer) -> bool:
        """Whether this offer waits here: its host has this journal."""
        return any(isinstance(each, PendingOffer) and each.offer == offer for each in self._all())

    def keep(self, meeting: Meeting) -> None:
        """Store a meeting."""
        self._stored.keep(meeting.table.id, MEETINGS.encode(replace(meeting, relay=self._relay)))

    def keep_offer(self, offer: Offer) -> None:
        """Store our offer that waits."""
        self._stored.keep(offer.hash, MEETINGS.encode(PendingOffer(offer, self._relay)))

    def forget(self, meeting: Meeting) -> None:
        """Forget a meeting whose game is over, with its offer."""
        self._stored.forget(meeting.table.id)
        self.forget_offer(meeting.offer)

    def forget_meeting(self, meeting: Meeting) -> None:
        """Forget a meeting that has not come about; its offer may still wait."""
        self._stored.forget(meeting.table.id)

    def forget_offer(self, offer: Offer) -> None:
        """Forget an offer."""
        self._stored.forget(offer.hash)

    def _all(self) -> Iterator[Meeting | PendingOffer]:
        return (each for _, each in _readable(self._stored))


def forget_offer(journal: Journal, offer: bytes) -> None:
    """Forget an offer (its hash), and all meetings that might have come of it: its game is not wanted any more."""
    for id_, each in _readable(journal.meetings):
        if each.offer.hash == offer:
            journal.meetings.forget(id_)


def signed_names(journal: Journal, agreement: Agreement) -> tuple[str, ...]:
    """The names of a channel's players as they have signed them, by seat; empty names where the journal has no meeting
    that led to the channel."""
    met = _meeting_of(journal, agreement)
    return ("",) * agreement.count if met is None else met.names


def agreed_move_time(journal: Journal, agreement: Agreement) -> int:
    """Seconds that each player of a channel has for a move; 0 for any, and where the journal has no meeting that led to
    the channel."""
    met = _meeting_of(journal, agreement)
    return 0 if met is None else met.offer.move_time


def meeting_relay(journal: Journal, agreement: Agreement) -> str:
    """The address of the relay where the players of a channel met; empty where the journal does not know it."""
    met = _meeting_of(journal, agreement)
    return "" if met is None else met.relay


def _meeting_of(journal: Journal, agreement: Agreement) -> Meeting | None:
    fixed_part = agreement.fixed_part
    agreed = fixed_part.participants, fixed_part.channel_nonce
    stored = (each for _, each in _readable(journal.meetings) if isinstance(each, Meeting))
    return next((each for each in stored if (each.players, each.offer.nonce) == agreed), None)


def _readable(stored: Meetings) -> Iterator[tuple[bytes, Meeting | PendingOffer]]:
    """Those that this program can read, by their ids. One that it cannot is of another program, which continues it:
    nobody has paid into a game that is not a channel yet."""
    for id_, body in stored.all():
        try:
            found = MEETINGS.decode(body)
        except (MalformedBytes, UnknownVersion):
            continue
        yield id_, found
