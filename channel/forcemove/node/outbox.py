"""The journal as senders and clients use it: an account's transactions, its outbox of requests, and a channel's
evidence."""

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
    """The transactions of an account whose lease is ours. `outbox_numbers`: by request id, the numbers of requests in
    the outbox: the commit that adds a request's transaction takes the request out of the outbox."""

    def __init__(self, journal: Journal, account: Account) -> None:
        self._journal, self._account = journal, account
        self._nonces = {each.nonce for each in journal.transactions.in_flight(account)}
        self.outbox_numbers: dict[RequestId, int] = {}

    def put(self, pending: PendingTx) -> None:
        """Keep this transaction; it is on disk when this returns. Raises `LeaseNotHeld` and `JournalError`."""
        transaction = InFlightTransaction(pending.nonce, encode_tx(pending))
        if pending.nonce in self._nonces:
            self._commit(Replace(transaction))
        else:
            number = self.outbox_numbers.pop(pending.request.request_id, None)
            self._commit(Put(transaction) if number is None else Assign(number, transaction))
        self._nonces.add(pending.nonce)

    def forget(self, nonce: int) -> None:
        """Keep no transaction of this nonce any more. Raises as `put`."""
        self._commit(Forget(nonce))
        self._nonces.discard(nonce)

    def all(self) -> Sequence[PendingTx]:
        """All transactions that are kept, in the order of nonces. Raises `MalformedBytes`, `UnknownVersion`."""
        return [decode_tx(each.body) for each in self._journal.transactions.in_flight(self._account)]

    def _commit(self, change: Change) -> None:
        self._journal.transactions.commit(self._account, [change])


class Outbox:
    """The requests for an account, which the process that has its lease sends."""

    def __init__(self, journal: Journal, account: Account) -> None:
        self._journal, self._account = journal, account

    def waiting(self) -> dict[RequestId, tuple[int, TxRequest]]:
        """The requests by their ids, with their numbers. Those that another program has written, and we cannot read,
        are left to it."""
        found: dict[RequestId, tuple[int, TxRequest]] = {}
        for each in self._journal.transactions.outbox(self._account):
            with suppress(MalformedBytes, UnknownVersion):
                request = decode_request(each.request.body)
                found.setdefault(request.request_id, (each.number, request))
        return found

    def unsettled(self) -> frozenset[RequestId]:
        """The ids of the requests that are in the outbox or on their way, as far as we can read them."""
        found = set(self.waiting())
        for each in self._journal.transactions.in_flight(self._account):
            with suppress(MalformedBytes, UnknownVersion):
                found.add(decode_tx(each.body).request.request_id)
        return frozenset(found)

    def add(self, request: TxRequest) -> None:
        """Write a request. It goes along with its channel if that is moved to another journal."""
        channel_id = request.request_id.channel_id if isinstance(request.request_id, ChannelTx) else None
        row = records.OutboxRequest(self._account, encode_request(request), channel_id)
        self._journal.transactions.add_to_outbox([row])

    def dismiss(self, number: int) -> None:
        """Take out a request that is not to be sent. Raises `LeaseNotHeld`, `NotInOutbox`."""
        self._journal.transactions.commit(self._account, [Dismiss(number)])


def evidence_of(error: ForcemoveError) -> Evidence:
    """A counterparty's fault for a journal: its kind, and its facts as text."""
    reason = getattr(error, "reason", None)
    kind = type(error).__name__ + (f" {type(reason).__name__}" if isinstance(reason, ForcemoveError) else "")
    return Evidence(kind, str(error).encode()[:_LONGEST])
