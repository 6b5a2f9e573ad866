"""The journal as senders and clients see it: an account's transactions, what other processes want sent from it, and a
channel's evidence."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from forcemove.errors import ForcemoveError, MalformedBytes, UnknownVersion
from forcemove.sender.transactions import PENDING_TXS, TX_REQUESTS, TxRequest
from forcemove.store import records
from forcemove.store.journal import Journal
from forcemove.store.records import (
    Account,
    Assign,
    Change,
    Dismiss,
    Evidence,
    Forget,
    InFlightTransaction,
    Put,
    Replace,
)

__all__ = ["JournalledTxStore", "Outbox", "evidence_of"]

_LONGEST = 4_096
_ID_BYTES = 32


class JournalledTxStore:
    """The transactions of an account whose lease is ours. `outbox_numbers`: the numbers of the wishes that they may
    come from, by purpose: such a wish becomes the transaction in one commit."""

    def __init__(self, journal: Journal, account: Account) -> None:
        self._journal, self._account = journal, account
        self._nonces = {each.nonce for each in journal.transactions.in_flight(account)}
        self.outbox_numbers: dict[bytes, int] = {}

    def put(self, nonce: int, body: bytes) -> None:
        """Keep it, on disk when this returns. Raises `LeaseNotHeld` and `JournalError`."""
        transaction = InFlightTransaction(nonce, body)
        self._commit(Replace(transaction) if nonce in self._nonces else self._new(transaction))
        self._nonces.add(nonce)

    def _new(self, transaction: InFlightTransaction) -> Change:
        number = (
            self.outbox_numbers.pop(PENDING_TXS.decode(transaction.body).request.request_id, None)
            if self.outbox_numbers
            else None
        )
        return Put(transaction) if number is None else Assign(number, transaction)

    def forget(self, nonce: int) -> None:
        """Keep nothing of it any more. Raises as `put`."""
        self._commit(Forget(nonce))
        self._nonces.discard(nonce)

    def all(self) -> Sequence[tuple[int, bytes]]:
        """Everything that is kept, in the order of nonces."""
        return [(each.nonce, each.body) for each in self._journal.transactions.in_flight(self._account)]

    def _commit(self, change: Change) -> None:
        self._journal.transactions.commit(self._account, [change])


class Outbox:
    """What is to be sent from an account, by whichever process sends for it."""

    def __init__(self, journal: Journal, account: Account) -> None:
        self._journal, self._account = journal, account

    def waiting(self) -> dict[bytes, tuple[int, TxRequest]]:
        """By purpose, with their numbers. What another program has written, and we cannot read, is left to it."""
        found: dict[bytes, tuple[int, TxRequest]] = {}
        for each in self._journal.transactions.outbox(self._account):
            with suppress(MalformedBytes, UnknownVersion):
                request = TX_REQUESTS.decode(each.request.body)
                found.setdefault(request.request_id, (each.number, request))
        return found

    def unsettled(self) -> frozenset[bytes]:
        """The purposes of all that waits or is on its way, as far as we can read it."""
        found = set(self.waiting())
        for each in self._journal.transactions.in_flight(self._account):
            with suppress(MalformedBytes, UnknownVersion):
                found.add(PENDING_TXS.decode(each.body).request.request_id)
        return frozenset(found)

    def add(self, request: TxRequest) -> None:
        """Ask for this. It goes along with its channel if that is moved to another journal."""
        body, channel_id = TX_REQUESTS.encode(request), request.request_id[:_ID_BYTES]
        self._journal.transactions.add_to_outbox([records.OutboxRequest(self._account, body, channel_id)])

    def dismiss(self, number: int) -> None:
        """It is not to be sent. Raises `LeaseNotHeld`, `NotInOutbox`."""
        self._journal.transactions.commit(self._account, [Dismiss(number)])


def evidence_of(error: ForcemoveError) -> Evidence:
    """A counterparty's fault for a journal: its kind, and its facts as text."""
    reason = getattr(error, "reason", None)
    kind = type(error).__name__ + (f" {type(reason).__name__}" if isinstance(reason, ForcemoveError) else "")
    return Evidence(kind, str(error).encode()[:_LONGEST])
