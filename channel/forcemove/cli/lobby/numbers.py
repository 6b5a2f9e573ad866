"""Numbers for offers that come and go: an offer keeps its number, and no other offer ever gets it, so that a typed
number means the offer that was shown with it. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter

from forcemove.transport.joins import OfferStatus
from forcemove.transport.offers import Offer

__all__ = ["Numbers"]

_MOST = 10_000
"""Offers that are remembered after they are gone."""


class Numbers:
    """The numbers of offers. `open`: the offers that are open now, by number."""

    def __init__(self) -> None:
        self._numbers: dict[bytes, int] = {}
        self._given = 0
        self.open: Sequence[tuple[int, OfferStatus]] = ()

    def take(self, shown: Sequence[OfferStatus]) -> None:
        """Number the offers that are open now; all others are gone."""
        for hash_ in (each.offer.hash for each in shown):
            if hash_ not in self._numbers:
                self._given += 1
                self._numbers[hash_] = self._given
        self.open = sorted(((self._numbers[each.offer.hash], each) for each in shown), key=itemgetter(0))
        self._forget()

    def find(self, typed: str) -> tuple[Offer | None, str]:
        """The open offer with the number that was typed; or None, and what is wrong."""
        if not (typed.isascii() and typed.isdecimal() and len(typed) < 10):
            return None, "Type the number of a game."
        number = int(typed)
        found = next((shown.offer for each, shown in self.open if each == number), None)
        if found is None and 0 < number <= self._given:
            return None, f"Game {number} is not open any more."
        return found, "" if found else f"There is no game {number}."

    def _forget(self) -> None:
        """Forget the oldest of the offers that are gone. An offer that comes back after that gets a new number."""
        gone = set(self._numbers) - {shown.offer.hash for _, shown in self.open}
        for hash_ in [each for each in self._numbers if each in gone][: max(0, len(gone) - _MOST)]:
            del self._numbers[hash_]
