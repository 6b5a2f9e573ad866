"""The versions that endpoints are offered: those that are due, and the last of each transaction."""

from __future__ import annotations

from collections.abc import Mapping

from forcemove.chain.errors import InsufficientFunds, TransactionRefused
from forcemove.sender.endpoints import Endpoint, Endpoints
from forcemove.sender.transactions import PendingTx, Version

__all__ = ["Offers", "Refusals"]

Refusals = dict[int, list[InsufficientFunds | TransactionRefused | None]]
"""By nonce: each answering endpoint's refusal of a transaction, None where it takes the transaction."""


_LONGEST = 15.0
"""Seconds that all offers to one endpoint share."""


class Offers:
    """The offers of one sender. Those that are due wait here until all are made at once."""

    def __init__(self) -> None:
        self._last: dict[tuple[Endpoint, int], bytes] = {}
        self._due: dict[Endpoint, dict[int, Version]] = {}

    def version_of(self, endpoint: Endpoint, pending: PendingTx) -> Version:
        """The version that this endpoint was offered last; the newest where this process has offered none yet."""
        last = self._last.get((endpoint, pending.nonce))
        return next((each for each in pending.versions if each.hash == last), pending.newest)

    def add(self, endpoint: Endpoint, nonce: int, version: Version) -> None:
        """Have this version offered to an endpoint, instead of any other with this nonce."""
        self._due.setdefault(endpoint, {})[nonce] = version
        self._last[endpoint, nonce] = version.hash

    def forget(self, nonce: int) -> None:
        """Forget the offers of a transaction that is over."""
        self._last = {place: hash_ for place, hash_ in self._last.items() if place[1] != nonce}

    def make(self, endpoints: Endpoints, account: bytes, pending: Mapping[int, PendingTx]) -> Refusals:
        """Make the offers that are due, to all endpoints at once. `account`: 20 bytes; `pending`: its transactions, by
        nonce. A version that is refused is offered again when its endpoint is found not to have it. Raises
        `PassingError` where none answers."""
        due, self._due = self._due, {}
        refusals: Refusals = {}
        if not due:
            return refusals

        def offer(endpoint: Endpoint) -> list[tuple[int, InsufficientFunds | TransactionRefused | None]]:
            given = sorted(due.get(endpoint, {}).items())
            with endpoint.chain.rpc.deadline(_LONGEST):
                return [(nonce, _offer(endpoint, pending[nonce], account, version)) for nonce, version in given]

        for answers in endpoints.ask(offer, tuple(due)).values():
            for nonce, refusal in answers:
                refusals.setdefault(nonce, []).append(refusal)
        return refusals


def _offer(
    endpoint: Endpoint, pending: PendingTx, account: bytes, version: Version
) -> InsufficientFunds | TransactionRefused | None:
    try:
        endpoint.chain.broadcast(pending.signed(account, version))
    except (InsufficientFunds, TransactionRefused) as error:
        return error
    return None
