"""Lets transactions come to their end: their outcomes, and what is forgotten or asked for again.

One endpoint's receipt is enough for an outcome. A transaction is over when the newest opinions of all endpoints, but
silent ones, show it as deep as we believe: an invented receipt keeps no transaction from being offered.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from forcemove.chain.errors import TransactionReverted
from forcemove.errors import RuleError
from forcemove.sender.errors import after_revert
from forcemove.sender.observations import TxObservation, TxStatus
from forcemove.sender.opinions import Opinion
from forcemove.sender.pending import PendingTxs
from forcemove.sender.requests import Report, Requests
from forcemove.sender.timing import RequestPace
from forcemove.sender.transactions import (
    Confirmed,
    GapFiller,
    NonceUsedElsewhere,
    PendingTx,
    Reorged,
    TxFailed,
    TxOutcome,
)

_OLD = 60
"""After this many times `bump_after` a transaction that is not needed any more is forgotten, whatever an endpoint
shows."""
_NOT_SEEN = TxObservation(TxStatus.UNCLEAR)


@dataclass(frozen=True, slots=True)
class SettlementVerdict:
    """What has become of one transaction. `mined`: the observations that show it as mined. `is_settled`: no endpoint
    waits for it; `is_believed`, `is_buried`: it is mined as deep as we believe, according to one endpoint and by all
    endpoints'; `is_needless`: the same request was fulfilled with another nonce; `is_taken`: its nonce is used by
    another program; `waits`: all endpoints wait for it; `is_known`: an endpoint has it."""

    mined: tuple[TxObservation, ...]
    is_settled: bool
    is_believed: bool
    is_buried: bool
    is_needless: bool
    is_taken: bool
    waits: bool
    is_known: bool


def judge(
    pending: PendingTx, opinions: Collection[Opinion | None], copies: Collection[int], confirmations: int, age: float
) -> SettlementVerdict:
    """What has become of one transaction.

    - `pending`: the transaction.
    - `opinions`: the newest of each endpoint that counts, None where it has none yet. One that was formed before the
      transaction was signed does not show what became of it.
    - `copies`: the nonces of the same request's other transactions that are on their way.
    - `confirmations`: how many blocks deep a transaction must be to be believed.
    - `age`: for how long the transaction is on its way, as a multiple of `bump_after`.
    """
    seen = [_NOT_SEEN if each is None else each.seen.get(pending.nonce, _NOT_SEEN) for each in opinions]
    mined = [each for each in seen if each.shown is TxStatus.MINED]
    happened = [each is not None and _has_happened(each, copies, confirmations) for each in opinions]
    is_needless = not pending.request.pays_in and any(happened) and (all(happened) or age > _OLD)
    is_over = [each.shown in (TxStatus.MINED, TxStatus.TAKEN) for each in seen]
    is_deep = [each.shown is TxStatus.TAKEN or each.depth >= confirmations for each in seen]
    is_believed = any(each.depth >= confirmations for each in mined)
    return SettlementVerdict(
        tuple(mined),
        is_settled=bool(mined) and all(is_over),
        is_believed=is_believed,
        is_buried=is_believed and ((all(is_over) and all(is_deep)) or age > _OLD),
        is_needless=is_needless,
        is_taken=bool(seen) and all(each.shown is TxStatus.TAKEN for each in seen),
        waits=bool(seen) and all(each.shown is TxStatus.WAITS for each in seen),
        is_known=any(each.is_known for each in seen),
    )


def _has_happened(opinion: Opinion, copies: Collection[int], confirmations: int) -> bool:
    """Whether the same request has succeeded with another nonce, as deep as we believe, by this endpoint's word."""
    seen = [opinion.seen[nonce] for nonce in copies if nonce in opinion.seen]
    return any(isinstance(each.outcome, Confirmed) and each.depth >= confirmations for each in seen)


# -------------------------------------------------------------------------------------------------------------- the end


class Settler:
    """Settles the transactions of one account."""

    def __init__(
        self, pending: PendingTxs, requests: Requests, pace: RequestPace, report: Report, forget: Callable[[int], None]
    ) -> None:
        """Work for a `Sender`.

        - `pending`: the account's transactions that are on their way.
        - `requests`: what is to be sent.
        - `pace`: when each request may be sent again.
        - `report`: is given the outcomes.
        - `forget`: called with the nonce of each transaction that is over.
        """
        self._pending, self._requests, self._pace, self._report = pending, requests, pace, report
        self._forget = forget

    def settle(
        self, opinions: Collection[Opinion | None], confirmations: int, age_of: Callable[[PendingTx], float]
    ) -> None:
        """See what has become of all transactions on their way. `opinions`, `confirmations`: as of `judge`; `age_of`:
        for how long a transaction is on its way, as a multiple of `bump_after`."""
        txs, reorged = self._pending, list[tuple[PendingTx, bool]]()
        verdicts: dict[int, SettlementVerdict] = {}
        for nonce, pending in sorted(txs.by_nonce.items()):
            copies = txs.by_request[pending.request.request_id].keys() - {nonce}
            verdicts[nonce] = judge(pending, opinions, copies, confirmations, age_of(pending))
        buried = {nonce for nonce, each in verdicts.items() if each.is_buried and nonce in txs.acknowledged}
        over = buried | {nonce for nonce, each in verdicts.items() if each.is_needless}
        for nonce, verdict in verdicts.items():
            pending = txs.by_nonce[nonce]
            for shown in verdict.mined:
                self._come_out(pending, shown)
            if verdict.is_believed:
                txs.believed.add(nonce)
            if verdict.is_settled:
                txs.settled.add(nonce)
            if verdict.is_needless or (nonce in buried and self._has_no_copy_but(over, nonce)):
                self._forget(nonce)
            elif verdict.is_taken:
                self._ask_again(pending)
            elif verdict.waits and nonce in txs.settled:
                reorged.append((pending, verdict.is_known))
        self._give_up(reorged)

    def _has_no_copy_but(self, over: Collection[int], nonce: int) -> bool:
        """Whether the request's copies are over, too. One that has succeeded is kept until then: it says that the
        request is fulfilled, also where a copy can never be mined."""
        has_succeeded = Confirmed in self._pending.announced.get(nonce, ())
        copies = self._pending.by_request[self._pending.by_nonce[nonce].request.request_id]
        return not has_succeeded or all(each in over for each in copies)

    def _come_out(self, pending: PendingTx, shown: TxObservation) -> None:
        asked = {each.request_id: each for each in pending.request.asked}
        for outcome in self._pending.announce(pending.nonce, shown):
            one = replace(pending, request=asked[outcome.request_id])
            self._report.outcomes.append(self._noted(one, outcome))

    def _noted(self, pending: PendingTx, outcome: Confirmed | TxFailed) -> TxOutcome:
        """An outcome as the owner is given it, noted for when the request may be sent again."""
        request_id = pending.request.request_id
        if isinstance(outcome, Confirmed):
            self._pace.on_confirmed(pending)
            self._requests.remove([request_id])
        elif isinstance(outcome.error, TransactionReverted):
            times, reason = self._pace.on_reverted(pending), outcome.error.reason
            rule = reason if isinstance(reason, RuleError) else None
            return TxFailed(request_id, after_revert(outcome.error, outcome.cost, rule, times), outcome.cost)
        return outcome

    def _ask_again(self, pending: PendingTx) -> None:
        """Ask again for a transaction none of whose versions was mined, or will be: its nonce is used elsewhere."""
        self._forget(pending.nonce)
        if pending.request.request_id in self._pending.by_request:
            return
        for request in pending.request.asked:
            if not isinstance(request.request_id, GapFiller) and request.request_id not in self._requests:
                self._requests.add(request)
                self._report.outcomes.append(NonceUsedElsewhere(request.request_id, pending.nonce))

    def _give_up(self, reorged: Sequence[tuple[PendingTx, bool]]) -> None:
        """Forget transactions that a reorganisation has removed: their owner may not need them any more, and else asks
        again. One that others wait behind is sent again, and one that a node still has is waited for."""
        for pending, is_known in reversed(reorged):
            request_id = pending.request.request_id
            asked = [each.request_id for each in pending.request.asked]
            self._pending.doubt(pending.nonce)
            for each in asked:
                self._pace.forget(each)
            if pending.nonce == max(self._pending.by_nonce) and not is_known:
                self._forget(pending.nonce)
                if request_id not in self._requests and not self._pending.is_waiting(request_id):
                    self._report.outcomes += map(Reorged, asked)
