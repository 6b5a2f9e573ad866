"""The transactions of an account that are on their way, and how far each has come; each is in the journal before it is
offered."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from forcemove.sender.observations import TxObservation, TxStatus
from forcemove.sender.opinions import Opinion
from forcemove.sender.transactions import Confirmed, PendingTx, RequestId, TxFailed, TxRequest, TxStore


class PendingTxs:
    """The transactions on their way, and by their nonces: `announced`: which kinds of outcome an endpoint has shown;
    `acknowledged`: those of which the owner was given all outcomes, and has called again since; `settled`: no endpoint
    waits for them; `believed`: mined as deep as we believe, according to at least one endpoint. What has changed is in
    the journal after `commit`."""

    def __init__(self, store: TxStore) -> None:
        """`store`: the account's journal. Raises as `TxStore.all`."""
        self._store = store
        self.by_nonce: dict[int, PendingTx] = {}
        self.by_request: dict[RequestId, dict[int, None]] = {}
        self.announced: dict[int, set[type[Confirmed | TxFailed]]] = {}
        self._in_batches: dict[RequestId, set[int]] = {}
        self._notified: dict[int, dict[RequestId, set[type[Confirmed | TxFailed]]]] = {}
        self.acknowledged: set[int] = set()
        self.settled: set[int] = set()
        self.believed: set[int] = set()
        self._free: dict[int, int] = {}
        for each in store.all():
            self._keep(each)
        self._changed: dict[int, PendingTx] = {}
        self._over: set[int] = set()

    def _keep(self, pending: PendingTx) -> None:
        self.by_nonce[pending.nonce] = pending
        self.by_request.setdefault(pending.request.request_id, {})[pending.nonce] = None
        for part in pending.request.parts:
            self._in_batches.setdefault(part.request_id, set()).add(pending.nonce)

    def save(self, pending: PendingTx) -> None:
        """Keep a transaction; no version of it is offered before the next `commit`."""
        if self.by_nonce.get(pending.nonce) != pending:
            self._changed[pending.nonce] = pending
            self._keep(pending)

    def commit(self) -> None:
        """Write down at once all that has changed. Raises as `TxStore.update`: then nothing is written yet."""
        if self._changed or self._over:
            self._store.update(tuple(self._changed.values()), self._over)
            self._changed, self._over = {}, set()

    def change(self, changed: Callable[[TxRequest], TxRequest]) -> None:
        """Let each request be what this makes of it, with the same id, for this process."""
        self.by_nonce = {n: replace(each, request=changed(each.request)) for n, each in self.by_nonce.items()}

    def hurry(self, request: TxRequest) -> None:
        """This request is asked for again: see `TxRequest.hurried`."""
        for each in self.all_for(request.request_id):
            self.save(replace(each, request=each.request.hurried(request)))

    def forget(self, nonce: int) -> None:
        """This transaction is over."""
        self._changed.pop(nonce, None)
        self._over.add(nonce)
        request = self.by_nonce.pop(nonce).request
        del self.by_request[request.request_id][nonce]
        if not self.by_request[request.request_id]:
            del self.by_request[request.request_id]
        for part in request.parts:
            self._in_batches[part.request_id].discard(nonce)
            if not self._in_batches[part.request_id]:
                del self._in_batches[part.request_id]
        self._free.clear()
        self.doubt(nonce)

    def doubt(self, nonce: int) -> None:
        """What was known of this transaction does not hold any more."""
        for each in (self.settled, self.acknowledged, self.believed):
            each.discard(nonce)
        self.announced.pop(nonce, None)
        self._notified.pop(nonce, None)

    def announce(self, nonce: int, shown: TxObservation) -> list[Confirmed | TxFailed]:
        """Note what an endpoint shows of a mined transaction. Returns the outcomes for its owner: each kind of outcome
        of each request once."""
        if shown.outcome is not None:
            self.announced.setdefault(nonce, set()).add(type(shown.outcome))
        found, notified = list[Confirmed | TxFailed](), self._notified.setdefault(nonce, {})
        for each in shown.outcomes:
            kinds = notified.setdefault(each.request_id, set())
            if type(each) not in kinds:
                kinds.add(type(each))
                found.append(each)
        return found

    def acknowledge(self) -> None:
        """The owner is given all that was announced, and has taken it when it calls again."""
        self.acknowledged = {nonce for nonce in self.announced if not self.unreported(nonce)}

    def unreported(self, nonce: int) -> list[TxRequest]:
        """What was asked for by this transaction, as far as the owner was given no outcome of it."""
        notified = self._notified.get(nonce, {})
        return [each for each in self.by_nonce[nonce].request.asked if each.request_id not in notified]

    def free(self, opinion: Opinion) -> int:
        """The first nonce that neither an endpoint nor we have used."""
        first = max(opinion.mined, opinion.next)
        nonce = self._free.get(first, first)
        while nonce in self.by_nonce:
            nonce += 1
        self._free[first] = nonce
        return nonce

    def is_reachable(self, opinion: Opinion, nonce: int) -> bool:
        """Whether all nonces before this one are used at an endpoint, or ours, so that a transaction with it can be
        mined."""
        return opinion.mined <= nonce < self.free(opinion)

    def copies(self, request_id: RequestId) -> list[PendingTx]:
        """All transactions on their way for the same request."""
        return [self.by_nonce[nonce] for nonce in self.by_request.get(request_id, ())]

    def all_for(self, request_id: RequestId) -> list[PendingTx]:
        """The same, and the batches on their way of which the request is a part."""
        batches = [self.by_nonce[nonce] for nonce in sorted(self._in_batches.get(request_id, ()))]
        return self.copies(request_id) + batches

    def is_waiting(self, request_id: RequestId) -> bool:
        """Whether a transaction for the request is on its way, without an outcome."""
        return any(nonce not in self.announced for nonce in self.by_request.get(request_id, ()))

    def is_open(self, nonce: int) -> bool:
        """Whether an endpoint may still show this transaction as waiting."""
        return nonce not in self.settled and nonce not in self.believed

    def is_confirmed(self, request_id: RequestId) -> bool:
        """Whether any endpoint shows the request's transaction as mined, with success, with any nonce."""
        return any(Confirmed in self.announced.get(each.nonce, ()) for each in self.copies(request_id))

    def is_offered(self, request_id: RequestId) -> bool:
        """Whether a transaction for the request is on its way and has failed by no endpoint's word."""
        return any(
            self.is_open(each.nonce) and TxFailed not in self._notified.get(each.nonce, {}).get(request_id, ())
            for each in self.all_for(request_id)
        )

    def waits(self, opinion: Opinion, request_id: RequestId) -> bool:
        """Whether a transaction for the request waits at an endpoint, and can be mined there."""
        return any(
            opinion.shows(each.nonce) is TxStatus.WAITS and self.is_reachable(opinion, each.nonce)
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
