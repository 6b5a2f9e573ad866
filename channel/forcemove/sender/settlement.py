"""What has become of transactions, from what every endpoint shows of them. Pure.

One endpoint's receipt is enough for an outcome. A transaction is over when the newest opinions of all endpoints, but
silent ones, show it as deep as we believe: an invented receipt keeps no transaction from being offered.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from forcemove.sender.observations import TxObservation, TxStatus
from forcemove.sender.opinions import Opinion
from forcemove.sender.transactions import Confirmed, PendingTx

__all__ = ["SettlementVerdict", "judge"]

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
