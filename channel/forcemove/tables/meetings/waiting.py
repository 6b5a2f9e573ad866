"""What is shown to a player who waits for others: who has a seat, and who comes and goes. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from forcemove.text.names import full_name
from forcemove.transport.joins import OfferStatus
from forcemove.transport.offers import MIN_SEATS, Offer

__all__ = ["Waiting", "seats_text", "who_waits"]


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
