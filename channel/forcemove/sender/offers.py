"""The versions that endpoints are offered: those that are due, and the last of each transaction."""

from __future__ import annotations

from collections.abc import Mapping

from forcemove.chain.errors import InsufficientFunds, TransactionRefused
from forcemove.errors import PassingError
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
        self._refused: set[tuple[Endpoint, int]] = set()

    def version_of(self, endpoint: Endpoint, pending: PendingTx) -> Version:
        """The version that this endpoint was offered last; the newest where this process has offered none yet."""
        last = self.last(endpoint, pending.nonce)
        return next((each for each in pending.versions if each.hash == last), pending.newest)

    def last(self, endpoint: Endpoint, nonce: int) -> bytes | None:
        """The hash of the version that this endpoint was offered last, or is to be; None where there is none."""
        return self._last.get((endpoint, nonce))

    def add(self, endpoint: Endpoint, nonce: int, version: Version) -> None:
        """Have this version offered to an endpoint, instead of any other with this nonce."""
        self._due.setdefault(endpoint, {})[nonce] = version
        self._last[endpoint, nonce] = version.hash

    def is_refused(self, endpoint: Endpoint, nonce: int) -> bool:
        """Whether this endpoint has refused the last offer with this nonce, for another reason than that we cannot pay
        for it."""
        return (endpoint, nonce) in self._refused

    def forget(self, nonce: int) -> None:
        """Forget the offers of a transaction that is over."""
        self._last = {place: hash_ for place, hash_ in self._last.items() if place[1] != nonce}
        self._refused = {place for place in self._refused if place[1] != nonce}
        for due in self._due.values():
            due.pop(nonce, None)

    def make(
        self, endpoints: Endpoints, account: bytes, pending: Mapping[int, PendingTx], mined: Mapping[Endpoint, int]
    ) -> Refusals:
        """Make the offers that are due, to all endpoints at once; those for which there is no time stay due. A version
        that is refused is offered again when its endpoint is found not to have it. Raises `PassingError` where none
        answers.

        - `endpoints`: all of them.
        - `account`: 20 bytes.
        - `pending`: its transactions, by nonce.
        - `mined`: the first nonce after the mined transactions, of each endpoint that answers.
        """
        refusals: Refusals = {}
        for endpoint, first in mined.items():
            due = self._due.get(endpoint, {})
            self._due[endpoint] = {nonce: each for nonce, each in due.items() if nonce >= first}
        asked = tuple(endpoint for endpoint in mined if self._due[endpoint])
        if not asked:
            return refusals
        signed = dict(pending)
        for endpoint, answers in endpoints.ask(lambda each: self._offer_to(each, account, signed), asked).items():
            for nonce, refusal in answers:
                refusals.setdefault(nonce, []).append(refusal)
                note = self._refused.add if isinstance(refusal, TransactionRefused) else self._refused.discard
                note((endpoint, nonce))
        return refusals

    def _offer_to(
        self, endpoint: Endpoint, account: bytes, pending: Mapping[int, PendingTx]
    ) -> list[tuple[int, InsufficientFunds | TransactionRefused | None]]:
        """Offer one endpoint what is due, lowest nonces first, until it does not answer. Raises `PassingError` where
        that is at the first one, which then is offered again when it is found missing: it holds up no other."""
        due, answers = self._due[endpoint], list[tuple[int, InsufficientFunds | TransactionRefused | None]]()
        with endpoint.chain.rpc.deadline(_LONGEST):
            for nonce, version in sorted(due.items()):
                try:
                    answers.append((nonce, _offer(endpoint, pending[nonce], account, version)))
                except PassingError:
                    if answers:
                        break
                    due.pop(nonce, None)
                    raise
                due.pop(nonce, None)
        return answers


def _offer(
    endpoint: Endpoint, pending: PendingTx, account: bytes, version: Version
) -> InsufficientFunds | TransactionRefused | None:
    try:
        endpoint.chain.broadcast(pending.signed(account, version))
    except (InsufficientFunds, TransactionRefused) as error:
        return error
    return None
