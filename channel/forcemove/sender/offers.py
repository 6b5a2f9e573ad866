"""What each endpoint is offered, and which version of a transaction it has been offered last."""

from __future__ import annotations

from collections.abc import Mapping

from forcemove.chain.errors import InsufficientFunds, TransactionRefused
from forcemove.sender.lanes import Lane, Lanes
from forcemove.sender.transactions import Flying, Version

__all__ = ["Offers", "Refusals"]

Refusals = dict[int, list[InsufficientFunds | TransactionRefused | None]]
"""By nonce: what the endpoints that have answered make of a transaction, None where one takes it."""


_LONGEST = 15.0
"""Seconds that all offers to one endpoint share."""


class Offers:
    """Due ones wait here until all are made at once."""

    def __init__(self) -> None:
        self._last: dict[tuple[Lane, int], bytes] = {}
        self._due: dict[Lane, dict[int, Version]] = {}

    def version_of(self, lane: Lane, flying: Flying) -> Version:
        """The one that this endpoint was offered last; the newest where that was before our time."""
        last = self._last.get((lane, flying.nonce))
        return next((each for each in flying.versions if each.hash == last), flying.newest)

    def add(self, lane: Lane, nonce: int, version: Version) -> None:
        """Offer this, instead of what was to be offered with this nonce."""
        self._due.setdefault(lane, {})[nonce] = version
        self._last[lane, nonce] = version.hash

    def forget(self, nonce: int) -> None:
        """It is over."""
        self._last = {place: hash_ for place, hash_ in self._last.items() if place[1] != nonce}

    def make(self, lanes: Lanes, account: bytes, flying: Mapping[int, Flying]) -> Refusals:
        """Offer what is due, by nonce, to all at once. `account`: 20 bytes. What is refused is offered again when the
        endpoint is found not to have it. Raises `PassingError` where none answers."""
        due, self._due = self._due, {}
        refusals: Refusals = {}
        if not due:
            return refusals

        def offer(lane: Lane) -> list[tuple[int, InsufficientFunds | TransactionRefused | None]]:
            given = sorted(due.get(lane, {}).items())
            with lane.chain.rpc.deadline(_LONGEST):
                return [(nonce, _offer(lane, flying[nonce], account, version)) for nonce, version in given]

        for answers in lanes.ask(offer, tuple(due)).values():
            for nonce, refusal in answers:
                refusals.setdefault(nonce, []).append(refusal)
        return refusals


def _offer(
    lane: Lane, flying: Flying, account: bytes, version: Version
) -> InsufficientFunds | TransactionRefused | None:
    try:
        lane.chain.broadcast(flying.signed(account, version))
    except (InsufficientFunds, TransactionRefused) as error:
        return error
    return None
