"""What one endpoint shows of the transactions that are on their way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto, unique
from itertools import islice

from forcemove.chain.answers import RawLog, Receipt
from forcemove.chain.asking import Steps, together
from forcemove.chain.chain import Chain
from forcemove.chain.errors import EndpointFailed, TransactionReverted, Unreachable
from forcemove.chain.reverts import ErrorTable
from forcemove.chain.rpc import making_sense
from forcemove.errors import ForcemoveError, PassingError
from forcemove.sender.batches import failed_items, outcomes_of
from forcemove.sender.transactions import Confirmed, PendingTx, RequestId, TxFailed, TxRequest, Version

_LOWEST = 16
"""How many transactions that wait an endpoint is asked about for one opinion."""


@unique
class TxStatus(Enum):
    """How an endpoint shows our transaction."""

    WAITS = auto()
    """Its nonce is free."""
    MINED = auto()
    """It is in a block, with a receipt."""
    TAKEN = auto()
    """Its nonce belongs to a transaction of somebody else, as deep as we believe, and none of our versions is known."""
    UNCLEAR = auto()
    """Its nonce is used, and there is no receipt, or it was not asked for yet: the endpoint lags, lies, or is slow."""


@dataclass(frozen=True, slots=True)
class TxObservation:
    """What an endpoint shows of one transaction. `outcome`: what became of it, None unless it is mined; a failure has
    never cost more than we have offered. `parts`: of a batch, what became of each part; `unexplained`: the places of
    those that have failed, while the endpoint was not asked why yet. `depth`: in blocks. `is_known`: whether the
    endpoint has the version that it was offered last; where it was not asked, whether it was offered any."""

    shown: TxStatus
    outcome: Confirmed | TxFailed | None = None
    depth: int = 0
    is_known: bool = False
    parts: tuple[Confirmed | TxFailed, ...] = ()
    unexplained: tuple[int, ...] = ()

    @property
    def outcomes(self) -> list[Confirmed | TxFailed]:
        """What became of each request that was asked for, but for those that are `unexplained`; empty unless the
        transaction is mined."""
        parts = self.parts or (() if self.outcome is None else (self.outcome,))
        return [each for place, each in enumerate(parts) if place not in self.unexplained]

    def explained(self, reasons: Mapping[int, ForcemoveError | None]) -> TxObservation:
        """The same, with the reasons for which the parts at these places have failed. Where the endpoint has not
        answered the reason stays unknown, and keeps nothing back."""
        parts = list(self.parts)
        for place, reason in reasons.items():
            part = parts[place]
            if isinstance(part, TxFailed) and isinstance(part.error, TransactionReverted):
                known = None if isinstance(reason, PassingError) else reason
                parts[place] = replace(part, error=replace(part.error, reason=known))
        left = tuple(each for each in self.unexplained if each not in reasons)
        return replace(self, parts=tuple(parts), unexplained=left)


@dataclass(frozen=True, slots=True)
class Question:
    """What an endpoint is asked of an account (20 bytes). `pending`: the transactions on their way by nonce, each with
    the hash of the version that this endpoint was offered last, None where it was offered none. `requests`: what is to
    be sent. `confirmations`, `error_table`: as of `Sender`. `limit`: how many questions of one kind are asked."""

    account: bytes
    pending: Sequence[tuple[PendingTx, bytes | None]]
    requests: Sequence[TxRequest]
    confirmations: int
    error_table: ErrorTable
    limit: int


class Observer:
    """Asks one endpoint what became of transactions: of those that wait, about the lowest ones; of those that may be
    mined, about those that were asked about least often; and why parts of batches have failed. What is mined is
    remembered, until a reorganisation."""

    def __init__(self) -> None:
        self._mined: dict[bytes, tuple[TxObservation, int, bytes]] = {}
        self._asked: Counter[bytes] = Counter()
        self._requests: Counter[RequestId] = Counter()
        self._head = b""

    def observe(
        self, chain: Chain, question: Question, height: int, head: bytes, mined: int
    ) -> Steps[tuple[dict[int, TxObservation], PassingError | None]]:
        """What the endpoint shows, by nonce, and why not all that was due was answered, None where it was.

        - `chain`: the chain through this endpoint.
        - `question`: what is asked.
        - `height`: the newest block's number.
        - `head`: its hash, 32 bytes.
        - `mined`: as of `Opinion`.
        """
        names = {_name(each): each.nonce for each, _ in question.pending}
        self._mined = {name: found for name, found in self._mined.items() if names.get(name, mined) < mined}
        self._asked = Counter({name: count for name, count in self._asked.items() if name in names})
        seen = {each.nonce: _unasked(each, hash_, mined) for each, hash_ in question.pending}
        failures = yield from self._forget_reorganised(chain, head)
        due = () if failures else self._due(question, mined)
        found = yield from together(_observed(chain, question, *each, height, mined) for each in due)
        answered = 0
        for (each, _), shown in zip(due, found, strict=True):
            if isinstance(shown, ForcemoveError):
                failures.append(shown)
                continue
            answered += 1
            self._asked[_name(each)] += 1
            seen[each.nonce] = shown
            if shown.shown is TxStatus.MINED:
                self._mined[_name(each)] = shown, height, head
        if not failures:
            yield from self._explain(chain, question, {_name(each): each.request.parts for each, _ in question.pending})
        for name, (shown, then, _) in self._mined.items():
            seen[names[name]] = replace(shown, depth=shown.depth + height - then)
        failed = [each for each in failures if isinstance(each, PassingError)]
        if answered:  # who has answered before is slow at worst
            failed = [each for each in failed if not isinstance(each, Unreachable)]
        return seen, next(iter(failed), None)

    def _explain(self, chain: Chain, question: Question, parts: Mapping[bytes, Sequence[TxRequest]]) -> Steps[None]:
        """Ask why parts of batches have failed, those with the nearest deadlines first: about as many as may be now,
        about the others for later opinions. `parts`: of each transaction."""
        unexplained = ((name, each) for name, (shown, _, _) in self._mined.items() for each in shown.unexplained)
        asked = list(islice(unexplained, question.limit))
        calls = ((parts[name][place], self._block_of(name)) for name, place in asked)
        found = yield from together(_reason(chain, question, *each) for each in calls)
        reasons = dict(zip(asked, found, strict=True))
        for name in dict(asked):
            shown, then, head = self._mined[name]
            ours = {place: reason for (of, place), reason in reasons.items() if of == name}
            self._mined[name] = shown.explained(ours), then, head

    def _block_of(self, name: bytes) -> int:
        shown, height, _ = self._mined[name]
        return height - shown.depth + 1

    def _due(self, question: Question, mined: int) -> Sequence[tuple[PendingTx, bytes | None]]:
        pending, limit = question.pending, question.limit
        waiting = [each for each in pending if each[0].nonce >= mined and each[1] is not None][: min(_LOWEST, limit)]
        unsure = [each for each in pending if each[0].nonce < mined and _name(each[0]) not in self._mined]
        unsure.sort(key=lambda each: self._asked[_name(each[0])])
        return [*waiting[:1], *unsure[:limit], *waiting[1:]]  # only the lowest one can be mined next

    def next_of(self, requests: Sequence[TxRequest], limit: int) -> list[TxRequest]:
        """The requests to ask about now, which are not too many (`limit`): those that were asked about least often.
        `requests`: all of them, the most urgent first; what was asked about others is forgotten."""
        asked = sorted(requests, key=lambda each: self._requests[each.request_id])[:limit]
        waiting = {each.request_id for each in requests}
        self._requests = Counter({id_: count for id_, count in self._requests.items() if id_ in waiting})
        self._requests.update(each.request_id for each in asked)
        return asked

    def _forget_reorganised(self, chain: Chain, head: bytes) -> Steps[list[ForcemoveError]]:
        """Forget what was shown at heads that are not on the chain any more. Returns why that is not known, if so."""
        heads = {(then, at) for _, then, at in self._mined.values()} if head != self._head else ()
        for then, at in sorted(heads, reverse=True):
            try:
                with making_sense(chain.endpoint):
                    there = yield from chain.block_hash.steps(then)
            except EndpointFailed:
                there = b""
            except PassingError as error:
                return [error]
            if there == at:
                break
            self._mined = {name: found for name, found in self._mined.items() if found[1] < then}
        self._head = head
        return []


def _name(pending: PendingTx) -> bytes:
    return pending.versions[0].hash  # its nonce may be given to another one


def _unasked(pending: PendingTx, hash_: bytes | None, mined: int) -> TxObservation:
    shown = TxStatus.UNCLEAR if pending.nonce < mined else TxStatus.WAITS
    return TxObservation(shown, is_known=hash_ is not None)


def _observed(
    chain: Chain, question: Question, pending: PendingTx, hash_: bytes | None, height: int, mined: int
) -> Steps[TxObservation]:
    with making_sense(chain.endpoint):
        if hash_ is not None and pending.nonce >= mined:
            return TxObservation(TxStatus.WAITS, is_known=(yield from chain.knows.steps(hash_)))
        for version in reversed(pending.versions):
            if (found := (yield from chain.receipt.steps(version.hash))) is not None:
                return (yield from _mined(chain, question, pending, version, *found, height))
        is_taken = yield from _is_taken(chain, question, pending, height)
        return TxObservation(TxStatus.TAKEN if is_taken else TxStatus.UNCLEAR)


def _mined(
    chain: Chain,
    question: Question,
    pending: PendingTx,
    version: Version,
    receipt: Receipt[RawLog],
    has_failed: bool,
    height: int,
) -> Steps[TxObservation]:
    request, block, depth = pending.request, receipt.block_number, height - receipt.block_number + 1
    price = min(receipt.gas_price or version.max_fee, version.max_fee)
    outcome: Confirmed | TxFailed = Confirmed(request.request_id, receipt)
    if has_failed:
        reason = yield from _reason(chain, question, request, block)
        error = TransactionReverted(receipt.transaction_hash, block, receipt.gas_used, reason)
        outcome = TxFailed(request.request_id, error, min(receipt.gas_used, pending.gas) * price)
    if not request.parts:
        return TxObservation(TxStatus.MINED, outcome, depth)
    failed = tuple(range(len(request.parts))) if has_failed else failed_items(receipt.logs, request)
    parts = outcomes_of(request, receipt, price, failed)
    return TxObservation(TxStatus.MINED, outcome, depth, parts=parts, unexplained=failed)


def _reason(chain: Chain, question: Question, request: TxRequest, block: int) -> Steps[ForcemoveError | None]:
    """Why a call fails after the block of this number, None where it does not."""
    try:
        yield from chain.call.steps(request.call, question.account, question.error_table, block=block)
    except Unreachable:
        raise
    except ForcemoveError as error:
        return error
    return None


def _is_taken(chain: Chain, question: Question, pending: PendingTx, height: int) -> Steps[bool]:
    """Whether another transaction has our nonce, as deep as we believe, so that none of our versions will be mined. An
    endpoint that knows one of them, and has no receipt, lags or lies: sent again, the call might be done twice."""
    depth = max(height - question.confirmations + 1, 0)
    if (yield from chain.nonce_of.steps(question.account, block=depth)) <= pending.nonce:
        return False
    for version in pending.versions:
        if (yield from chain.knows.steps(version.hash)):
            return False
    return True
