"""The journal as senders and clients see it: an account's transactions, what other processes want sent from it, and a
channel's evidence."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from forcemove.errors import ForcemoveError, MalformedBytes, UnknownVersion
from forcemove.sender.transactions import (
    ChannelTx,
    PendingTx,
    RequestId,
    TxRequest,
    decode_request,
    decode_tx,
    encode_request,
    encode_tx,
)
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


class JournalledTxStore:
    """The transactions of an account whose lease is ours. `outbox_numbers`: the numbers of the requests in the outbox
    that they may come from: such a request becomes the transaction in one commit."""

    def __init__(self, journal: Journal, account: Account) -> None:
        self._journal, self._account = journal, account
        self._nonces = {each.nonce for each in journal.transactions.in_flight(account)}
        self.outbox_numbers: dict[RequestId, int] = {}

    def put(self, pending: PendingTx) -> None:
        """Keep it, on disk when this returns. Raises `LeaseNotHeld` and `JournalError`."""
        transaction = InFlightTransaction(pending.nonce, encode_tx(pending))
        if pending.nonce in self._nonces:
            self._commit(Replace(transaction))
        else:
            number = self.outbox_numbers.pop(pending.request.request_id, None)
            self._commit(Put(transaction) if number is None else Assign(number, transaction))
        self._nonces.add(pending.nonce)

    def forget(self, nonce: int) -> None:
        """Keep nothing of it any more. Raises as `put`."""
        self._commit(Forget(nonce))
        self._nonces.discard(nonce)

    def all(self) -> Sequence[PendingTx]:
        """Everything that is kept, in the order of nonces. Raises `MalformedBytes`, `UnknownVersion`."""
        return [decode_tx(each.body) for each in self._journal.transactions.in_flight(self._account)]

    def _commit(self, change: Change) -> None:
        self._journal.transactions.commit(self._account, [change])


class Outbox:
    """What is to be sent from an account, by whichever process sends for it."""

    def __init__(self, journal: Journal, account: Account) -> None:
        self._journal, self._account = journal, account

    def waiting(self) -> dict[RequestId, tuple[int, TxRequest]]:
        """By request id, with their numbers. What another program has written, and we cannot read, is left to it."""
        found: dict[RequestId, tuple[int, TxRequest]] = {}
        for each in self._journal.transactions.outbox(self._account):
            with suppress(MalformedBytes, UnknownVersion):
                request = decode_request(each.request.body)
                found.setdefault(request.request_id, (each.number, request))
        return found

    def unsettled(self) -> frozenset[RequestId]:
        """The request ids of all that waits or is on its way, as far as we can read it."""
        found = set(self.waiting())
        for each in self._journal.transactions.in_flight(self._account):
            with suppress(MalformedBytes, UnknownVersion):
                found.add(decode_tx(each.body).request.request_id)
        return frozenset(found)

    def add(self, request: TxRequest) -> None:
        """Ask for this. It goes along with its channel if that is moved to another journal."""
        channel_id = request.request_id.channel_id if isinstance(request.request_id, ChannelTx) else None
        row = records.OutboxRequest(self._account, encode_request(request), channel_id)
        self._journal.transactions.add_to_outbox([row])

    def dismiss(self, number: int) -> None:
        """It is not to be sent. Raises `LeaseNotHeld`, `NotInOutbox`."""
        self._journal.transactions.commit(self._account, [Dismiss(number)])


def evidence_of(error: ForcemoveError) -> Evidence:
    """A counterparty's fault for a journal: its kind, and its facts as text."""
    reason = getattr(error, "reason", None)
    kind = type(error).__name__ + (f" {type(reason).__name__}" if isinstance(reason, ForcemoveError) else "")
    return Evidence(kind, str(error).encode()[:_LONGEST])
