"""The journal as senders and clients see it: an account's transactions, and a channel's evidence."""

from __future__ import annotations

from collections.abc import Sequence

from forcemove.channel.errors import ForcemoveError
from forcemove.channel.store.journal import Journal
from forcemove.channel.store.records import Account, Change, Evidence, Forget, Put, Replace, Transaction

__all__ = ["JournalledTransactions", "PendingEvidence"]

_LONGEST = 4_096


class JournalledTransactions:
    """The transactions of an account whose lease is ours."""

    def __init__(self, journal: Journal, account: Account) -> None:
        self._journal, self._account = journal, account
        self._nonces = {each.nonce for each in journal.transactions.in_flight(account)}

    def put(self, nonce: int, body: bytes) -> None:
        """Keep it, on disk when this returns. Raises `LeaseNotHeld` and `JournalError`."""
        transaction = Transaction(nonce, body)
        self._commit(Replace(transaction) if nonce in self._nonces else Put(transaction))
        self._nonces.add(nonce)

    def forget(self, nonce: int) -> None:
        """Keep nothing of it any more. Raises as `put`."""
        self._commit(Forget(nonce))
        self._nonces.discard(nonce)

    def all(self) -> Sequence[tuple[int, bytes]]:
        """Everything that is kept, in the order of nonces."""
        return [(each.nonce, each.body) for each in self._journal.transactions.in_flight(self._account)]

    def _commit(self, change: Change) -> None:
        self._journal.transactions.commit(self._account, [change])


class PendingEvidence:
    """A channel's evidence until it is committed."""

    def __init__(self) -> None:
        self.pending: list[Evidence] = []

    def keep_evidence(self, channel_id: bytes, error: ForcemoveError) -> None:  # noqa: ARG002  # it is of one channel
        """Keep a fault for the next commit: its kind, and its facts as text."""
        reason = getattr(error, "reason", None)
        kind = type(error).__name__ + (f" {type(reason).__name__}" if isinstance(reason, ForcemoveError) else "")
        self.pending.append(Evidence(kind, str(error).encode()[:_LONGEST]))
