"""The journal as senders and clients use it: an account's transactions, its outbox of requests, and a channel's
evidence."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from forcemove.errors import ForcemoveError, MalformedBytes, UnknownVersion
from forcemove.history.derivation import request_of
from forcemove.history.entries import TxSent, kinds_of
from forcemove.history.packing import pack
from forcemove.protocol.machine.effects import operation_name
from forcemove.sender.transactions import (
    Approval,
    ChannelTx,
    PendingTx,
    RequestId,
    TxRequest,
)
from forcemove.sender.tx_codec import decode_request, decode_tx, encode_request, encode_tx
from forcemove.store import records
from forcemove.store.records import (
    Account,
    Assign,
    Change,
    Dismiss,
    Evidence,
    Forget,
    HistoryRow,
    InFlightTransaction,
    Put,
    Replace,
)

if TYPE_CHECKING:
    from forcemove.store.journal import Journal

_LONGEST = 4_096
_APPROVAL = "approval"


class JournalledTxStore:
    """The transactions of an account whose lease is ours. `outbox_numbers`: by request id, the numbers of requests in
    the outbox: the commit that adds a request's transaction takes the request out of the outbox."""

    def __init__(self, journal: Journal, account: Account) -> None:
        self._journal, self._account = journal, account
        self._sent = {each.nonce: _hashes_of(each) for each in journal.transactions.in_flight(account)}
        self.outbox_numbers: dict[RequestId, int] = {}

    def update(self, changed: Collection[PendingTx], forgotten: Collection[int]) -> None:
        """Keep no transactions with the forgotten nonces, then keep these, and enter their new versions in the history
        of their channels; all is on disk when this returns. Raises `LeaseNotHeld` and `JournalError`: then nothing
        is."""
        sent = {nonce: hashes for nonce, hashes in self._sent.items() if nonce not in forgotten}
        changes: list[Change] = [Forget(nonce) for nonce in forgotten]
        numbers, history = dict(self.outbox_numbers), list[tuple[bytes, HistoryRow]]()
        for each in changed:
            with suppress(Exception):  # a mistake in the history keeps no transaction from being sent
                for asked in each.request.asked:
                    history += _history_of(replace(each, request=asked), sent.get(each.nonce, frozenset()))
            transaction = InFlightTransaction(each.nonce, encode_tx(each))
            if each.nonce in sent:
                changes.append(Replace(transaction))
            else:
                ids = (asked.request_id for asked in each.request.asked)
                taken = [numbers.pop(id_) for id_ in ids if id_ in numbers]
                changes.append(Assign(taken[0], transaction) if taken else Put(transaction))
                changes += map(Dismiss, taken[1:])
            sent[each.nonce] = frozenset(version.hash for version in each.versions)
        self._journal.transactions.commit(self._account, changes, history)
        self._sent, self.outbox_numbers = sent, numbers

    def all(self) -> Sequence[PendingTx]:
        """All transactions that are kept, in the order of nonces. Raises `MalformedBytes`, `UnknownVersion`."""
        return [decode_tx(each.body) for each in self._journal.transactions.in_flight(self._account)]


def _hashes_of(transaction: InFlightTransaction) -> frozenset[bytes]:
    """The hashes of a stored transaction's versions; none where another program has written it."""
    with suppress(MalformedBytes, UnknownVersion):
        return frozenset(each.hash for each in decode_tx(transaction.body).versions)
    return frozenset()


def _history_of(pending: PendingTx, sent: frozenset[bytes]) -> list[tuple[bytes, HistoryRow]]:
    """What the versions that were not `sent` before add to the history of the transaction's channel; nothing where the
    transaction is of none of our channels."""
    request_id, operation = pending.request.request_id, None
    if isinstance(request_id, Approval):
        request_id, operation = request_id.needed_by, _APPROVAL
    if not isinstance(request_id, ChannelTx):
        return []
    request, name = request_of(request_id.submission), operation or operation_name(request_id.submission)
    before = (None, *(each.hash for each in pending.versions))
    entries = tuple(
        TxSent(each.signed_at, request, name, pending.nonce, each.hash, each.max_fee, each.tip, replaced)
        for each, replaced in zip(pending.versions, before, strict=False)
        if each.hash not in sent
    )
    row = HistoryRow(kinds_of(entries), pack(entries))
    return [(request_id.channel_id, row)] if entries else []


class Outbox:
    """The requests for an account, which the process that has its lease sends."""

    def __init__(self, journal: Journal, account: Account) -> None:
        self._journal, self._account = journal, account

    def waiting(self) -> dict[RequestId, tuple[int, TxRequest]]:
        """The requests by their ids, with their numbers; of several for the same, the first one's, as urgent as any.
        Those that another program has written, and we cannot read, are left to it."""
        found: dict[RequestId, tuple[int, TxRequest]] = {}
        for each in self._journal.transactions.outbox(self._account):
            with suppress(MalformedBytes, UnknownVersion):
                request = decode_request(each.request.body)
                number, known = found.get(request.request_id, (each.number, request))
                found[request.request_id] = number, known.hurried(request)
        return found

    def unsettled(self) -> dict[RequestId, TxRequest]:
        """The requests that are in the outbox or on their way, by their ids, as far as we can read them."""
        found = {request_id: request for request_id, (_, request) in self.waiting().items()}
        for each in self._journal.transactions.in_flight(self._account):
            with suppress(MalformedBytes, UnknownVersion):
                found |= {asked.request_id: asked for asked in decode_tx(each.body).request.asked}
        return found

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
