"""The transactions of an account that are on their way, and how far each has come; each is in the journal before it is
offered."""

from __future__ import annotations

from forcemove.sender.opinions import Opinion, TxStatus
from forcemove.sender.transactions import Confirmed, PendingTx, RequestId, TxFailed, TxStore

__all__ = ["PendingTxs"]


class PendingTxs:
    """The transactions on their way, and by their nonces: `announced`: which kinds of outcome the owner was given;
    `acknowledged`: those of them whose owner has called again since; `settled`: no endpoint waits for them;
    `believed`: mined as deep as we believe, by the word of one endpoint at least."""

    def __init__(self, store: TxStore) -> None:
        """`store`: the account's journal. Raises as `TxStore.all`."""
        self._store = store
        self.by_nonce = {each.nonce: each for each in store.all()}
        self.announced: dict[int, set[type[Confirmed | TxFailed]]] = {}
        self.acknowledged: set[int] = set()
        self.settled: set[int] = set()
        self.believed: set[int] = set()

    def save(self, pending: PendingTx) -> None:
        """Write a transaction down, before any version of it is offered."""
        if self.by_nonce.get(pending.nonce) != pending:
            self._store.put(pending)
            self.by_nonce[pending.nonce] = pending

    def forget(self, nonce: int) -> None:
        """This transaction is over."""
        self._store.forget(nonce)
        del self.by_nonce[nonce]
        self.doubt(nonce)

    def doubt(self, nonce: int) -> None:
        """What was known of this transaction does not hold any more."""
        for each in (self.settled, self.acknowledged, self.believed):
            each.discard(nonce)
        self.announced.pop(nonce, None)

    def copies(self, request_id: RequestId) -> list[PendingTx]:
        """All transactions on their way for the same request."""
        return [each for each in self.by_nonce.values() if each.request.request_id == request_id]

    def is_open(self, nonce: int) -> bool:
        """Whether an endpoint may still show this transaction as waiting."""
        return nonce not in self.settled and nonce not in self.believed

    def is_confirmed(self, request_id: RequestId) -> bool:
        """Whether any endpoint shows the request's transaction as mined, with success, with any nonce."""
        return any(Confirmed in self.announced.get(each.nonce, ()) for each in self.copies(request_id))

    def is_offered(self, request_id: RequestId) -> bool:
        """Whether a transaction for the request is on its way and has failed by no endpoint's word."""
        return any(
            self.is_open(each.nonce) and TxFailed not in self.announced.get(each.nonce, ())
            for each in self.copies(request_id)
        )

    def waits(self, opinion: Opinion, request_id: RequestId) -> bool:
        """Whether a transaction for the request waits at an endpoint, and can be mined there."""
        return any(
            opinion.shows(each.nonce) is TxStatus.WAITS and opinion.is_reachable(each.nonce, self.by_nonce)
            for each in self.copies(request_id)
        )

    def shows(self, opinion: Opinion, request_id: RequestId) -> bool:
        """Whether an endpoint shows a transaction for the request as mined, or as one that can be."""
        shown = {opinion.shows(each.nonce) for each in self.copies(request_id)}
        return bool(shown & {TxStatus.MINED, TxStatus.UNCLEAR}) or self.waits(opinion, request_id)

    def lacks(self, opinion: Opinion, request_id: RequestId) -> bool:
        """Whether an endpoint lacks a transaction for the request: none waits there, and none that is still on its way
        elsewhere has succeeded there."""
        is_done = any(
            self.is_open(each.nonce)
            and each.nonce in opinion.seen
            and isinstance(opinion.seen[each.nonce].outcome, Confirmed)
            for each in self.copies(request_id)
        )
        return not is_done and not self.waits(opinion, request_id)
