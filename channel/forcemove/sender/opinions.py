"""What an endpoint says of an account and its transactions: its opinion, which is believed for that endpoint alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, auto, unique
from typing import Any, TypeVar

from forcemove.chain.block_time import believed_alone
from forcemove.chain.chain import Chain
from forcemove.chain.errors import EndpointFailed, NotAnEthereumEndpoint, NotMined, TransactionReverted, Unreachable
from forcemove.chain.reverts import ErrorTable
from forcemove.chain.rpc import as_hash, as_number, making_sense
from forcemove.chain.token import Token
from forcemove.errors import ForcemoveError, PassingError
from forcemove.sender.pricing import FeeMarket, gas_limit
from forcemove.sender.transactions import Confirmed, PendingTx, RequestId, TxFailed, TxRequest, Version

__all__ = ["Observer", "Opinion", "Question", "TxObservation", "TxStatus", "form_opinion", "in_our_time", "market_of"]

LaneT = TypeVar("LaneT")
_LONGEST = 15.0
"""Seconds that all requests share that are made to form one opinion."""
_OBSERVING = 5.0
"""Seconds of them that all questions about transactions on their way share."""
_LOWEST, _MOST_RECEIPTS = 16, 40
"""How many transactions that wait, and how many that may be mined, a look asks an endpoint about."""
_LARGEST = 2**48
"""The largest number that is believed of blocks, transactions of an account, and seconds."""


@unique
class TxStatus(Enum):
    """How an endpoint shows a transaction of ours."""

    WAITS = auto()
    """Its nonce is free."""
    MINED = auto()
    """It is in a block, with a receipt."""
    TAKEN = auto()
    """Its nonce belongs to a transaction of somebody else, as deep as we believe, and none of ours is known."""
    UNCLEAR = auto()
    """Its nonce is used, and there is no receipt, or it was not asked for yet: the endpoint lags, lies, or is slow."""


@dataclass(frozen=True, slots=True)
class TxObservation:
    """What an endpoint shows of one transaction. `outcome`: what became of it, None unless it is mined. `depth`: in
    blocks. `cost`: of one that has failed, wei, never more than we have offered. `is_known`: whether the endpoint has
    the version that it was offered last; where it was not asked, whether it was offered any."""

    shown: TxStatus
    outcome: Confirmed | TxFailed | None = None
    depth: int = 0
    cost: int = 0
    is_known: bool = False


@dataclass(frozen=True, slots=True)
class Question:
    """What an endpoint is asked of an account (20 bytes). `observer`: remembers what this endpoint has shown.
    `pending`: the transactions on their way by nonce, each with the hash of the version that this endpoint was offered
    last, None where it was offered none. `requests`: what is to be sent."""

    account: bytes
    observer: Observer
    pending: Sequence[tuple[PendingTx, bytes | None]]
    requests: Sequence[TxRequest]
    confirmations: int
    error_table: ErrorTable


@dataclass(frozen=True, slots=True)
class Opinion:
    """What one endpoint says. `height`, `time` (seconds): of the newest block. `mined`, `next`: the first nonce after
    the mined transactions, and after those that wait, too. `balance`: wei. `seen`: by nonce. `gas`: by request id, what
    a transaction would need, or why it would fail, or why that is not known (`PassingError`). `not_allowed`: of the
    requests for which tokens must be allowed first, what is allowed now, which is less."""

    height: int
    time: int
    mined: int
    next: int
    market: FeeMarket
    balance: int
    seen: Mapping[int, TxObservation]
    gas: Mapping[RequestId, int | ForcemoveError] = field(default_factory=dict)
    not_allowed: Mapping[RequestId, int] = field(default_factory=dict)
    is_priced: bool = True
    """Whether all was asked for. Where nothing waits or is to be sent, or there was no time, `next`, `market`,
    `balance` and `gas` were not."""
    failure: PassingError | None = None
    """Why not all that was due was asked."""

    def shows(self, nonce: int) -> TxStatus:
        """How the endpoint shows a transaction of ours; one that it was not asked about waits, or not, by its nonce."""
        seen = self.seen.get(nonce)
        if seen is not None:
            return seen.shown
        return TxStatus.WAITS if nonce >= self.mined else TxStatus.UNCLEAR

    def is_reachable(self, nonce: int, ours: Mapping[int, PendingTx]) -> bool:
        """Whether all nonces before this one are used at this endpoint, or ours, so that a transaction with it can be
        mined."""
        return self.mined <= nonce < self.free(ours)

    def free(self, ours: Mapping[int, PendingTx]) -> int:
        """The first nonce that neither this endpoint nor we have used."""
        nonce = max(self.mined, self.next)
        while nonce in ours:
            nonce += 1
        return nonce


def form_opinion(chain: Chain, question: Question) -> Opinion:
    """Ask one endpoint. Raises `PassingError`, and whatever an odd answer makes a library raise."""
    with making_sense(chain.endpoint), chain.rpc.deadline(_LONGEST):
        return _ask(chain, question)


def _ask(chain: Chain, question: Question) -> Opinion:
    head = chain.block("latest")
    height, time = _bounded(chain, head["number"]), _bounded(chain, head["timestamp"])
    mined = _bounded(chain, chain.nonce_of(question.account))
    seen, failure = question.observer.observe(chain, question, height, as_hash(head["hash"]), mined)
    opinion = Opinion(height, time, mined, mined, FeeMarket(None), 0, seen, is_priced=False, failure=failure)
    if not question.requests and all(each.nonce < mined for each, _ in question.pending):
        return opinion
    try:
        with making_sense(chain.endpoint):
            next_ = _bounded(chain, chain.nonce_of(question.account, block="pending"))
            market, balance = _market(chain, head), chain.balance(question.account)
            gas, not_allowed = _try(chain, question)
    except PassingError as error:
        if not question.pending:
            raise
        return replace(opinion, failure=error)
    return Opinion(height, time, mined, next_, market, balance, seen, gas, not_allowed, failure=failure)


class Observer:
    """Asks one endpoint what became of transactions: of those that wait, about the lowest ones; of those that may be
    mined, about those that were asked about least often. What is mined is remembered, until a reorganisation."""

    def __init__(self) -> None:
        self._mined: dict[bytes, tuple[TxObservation, int, bytes]] = {}
        self._asked: Counter[bytes] = Counter()
        self._head = b""

    def observe(
        self, chain: Chain, question: Question, height: int, head: bytes, mined: int
    ) -> tuple[Mapping[int, TxObservation], PassingError | None]:
        """What the endpoint shows, by nonce, and why not all that was due was asked, None where it was.

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
        failure, answered = None, 0
        try:
            with making_sense(chain.endpoint), chain.rpc.deadline(_OBSERVING):
                self._forget_reorganised(chain, head)
                for each, hash_ in self._due(question.pending, mined):
                    self._asked[_name(each)] += 1
                    seen[each.nonce] = found = _observe(chain, question, each, hash_, height, mined)
                    if found.shown is TxStatus.MINED:
                        self._mined[_name(each)] = found, height, head
                    answered += 1
        except PassingError as error:  # who has answered before is slow at worst
            failure = None if answered and isinstance(error, Unreachable) else error
        for name, (found, then, _) in self._mined.items():
            seen[names[name]] = replace(found, depth=found.depth + height - then)
        return seen, failure

    def _due(
        self, pending: Sequence[tuple[PendingTx, bytes | None]], mined: int
    ) -> Sequence[tuple[PendingTx, bytes | None]]:
        waiting = [each for each in pending if each[0].nonce >= mined and each[1] is not None][:_LOWEST]
        unsure = [each for each in pending if each[0].nonce < mined and _name(each[0]) not in self._mined]
        unsure.sort(key=lambda each: self._asked[_name(each[0])])
        return [*waiting[:1], *unsure[:_MOST_RECEIPTS], *waiting[1:]]  # only the lowest one can be mined next

    def _forget_reorganised(self, chain: Chain, head: bytes) -> None:
        """Forget what was shown at heads that are not on the chain any more."""
        heads = {(then, at) for _, then, at in self._mined.values()} if head != self._head else ()
        for then, at in sorted(heads, reverse=True):
            if _hash_at(chain, then) == at:
                break
            self._mined = {name: found for name, found in self._mined.items() if found[1] < then}
        self._head = head


def _name(pending: PendingTx) -> bytes:
    return pending.versions[0].hash  # its nonce may be given to another one


def _unasked(pending: PendingTx, hash_: bytes | None, mined: int) -> TxObservation:
    shown = TxStatus.UNCLEAR if pending.nonce < mined else TxStatus.WAITS
    return TxObservation(shown, is_known=hash_ is not None)


def _hash_at(chain: Chain, number: int) -> bytes | None:
    try:
        return chain.block_hash(number)
    except EndpointFailed:
        return None


def _try(chain: Chain, question: Question) -> tuple[dict[RequestId, int | ForcemoveError], dict[RequestId, int]]:
    """Ask what the requests would need. An error loses no other answer, and an endpoint that has failed once is asked
    no more."""
    gas: dict[RequestId, int | ForcemoveError] = {}
    not_allowed: dict[RequestId, int] = {}
    failure: PassingError | None = None
    for request in question.requests:
        try:
            if failure is not None:
                gas[request.request_id] = failure
            elif (allowed := _too_small_allowance(chain, question.account, request)) is not None:
                not_allowed[request.request_id] = allowed
            else:
                gas[request.request_id] = _gas_of(chain, question, request)
        except ForcemoveError as error:
            gas[request.request_id] = error
            if isinstance(error, PassingError) and not isinstance(error, EndpointFailed):
                failure = error
    return gas, not_allowed


def _gas_of(chain: Chain, question: Question, request: TxRequest) -> int:
    """The estimate of a transaction's gas; where none is to be had, what our own table says, if the call would not
    fail."""
    max_gas = gas_limit(request.gas, (), 0)
    try:
        return chain.gas_for(request.call, question.account, question.error_table, max_gas)
    except PassingError:
        if request.gas is None:
            raise
    chain.simulate(request.call, question.account, question.error_table)
    return request.gas


def _bounded(chain: Chain, answer: object) -> int:
    number = as_number(answer)
    if number > _LARGEST:
        raise NotAnEthereumEndpoint(chain.endpoint, f"it counts to {number:.3g}")
    return number


def _observe(
    chain: Chain, question: Question, pending: PendingTx, hash_: bytes | None, height: int, mined: int
) -> TxObservation:
    if hash_ is not None and pending.nonce >= mined:
        return TxObservation(TxStatus.WAITS, is_known=chain.knows(hash_))
    for version in reversed(pending.versions):
        try:
            receipt = chain.wait(pending.signed(question.account, version), question.error_table, timeout=0)
        except NotMined:
            continue
        except TransactionReverted as error:
            if isinstance(error.reason, Unreachable):
                raise error.reason from None
            outcome, depth = TxFailed(pending.request.request_id, error), height - error.block_number + 1
            return TxObservation(TxStatus.MINED, outcome, depth, _cost(chain, pending, version, error))
        return TxObservation(
            TxStatus.MINED, Confirmed(pending.request.request_id, receipt), height - receipt.block_number + 1
        )
    return TxObservation(TxStatus.TAKEN if _is_taken(chain, question, pending, height) else TxStatus.UNCLEAR)


def _is_taken(chain: Chain, question: Question, pending: PendingTx, height: int) -> bool:
    """Whether another transaction has our nonce, as deep as we believe, so that no version of ours will be mined. An
    endpoint that knows one of them, and has no receipt, lags or lies: sent again, the call might be done twice."""
    depth = max(height - question.confirmations + 1, 0)
    if chain.nonce_of(question.account, block=depth) <= pending.nonce:
        return False
    return not any(chain.knows(version.hash) for version in pending.versions)


def _cost(chain: Chain, pending: PendingTx, version: Version, error: TransactionReverted) -> int:
    answer = chain.rpc.ask("eth_getTransactionReceipt", "0x" + version.hash.hex())
    price = min(as_number(answer.get("effectiveGasPrice", version.max_fee)), version.max_fee)
    return min(error.gas_used, pending.gas) * price


def in_our_time(opinions: Mapping[LaneT, Opinion], own_time: float | None) -> Mapping[LaneT, Opinion]:
    """The opinions; but where one endpoint alone has answered, and its time is far ahead of our own clock's
    (`own_time`, seconds since 1970, None where the chain's clock is moved by hand), with our own time: no other
    endpoint could contradict one that says that no time is left, and then all that an answer is worth is offered."""
    if own_time is None or len(opinions) != 1:
        return opinions
    return {endpoint: replace(each, time=believed_alone(each.time, own_time)) for endpoint, each in opinions.items()}


def market_of(chain: Chain) -> FeeMarket:
    """What gas costs, by this endpoint's word. Raises as `form_opinion`."""
    with making_sense(chain.endpoint), chain.rpc.deadline(_LONGEST):
        return _market(chain, chain.block("latest"))


def _market(chain: Chain, head: Mapping[str, Any]) -> FeeMarket:
    base = head.get("baseFeePerGas")
    if base is None:
        return FeeMarket(None, chain.rpc.number("eth_gasPrice"))
    return FeeMarket(as_number(base), _tip(chain))


def _tip(chain: Chain) -> int | None:
    try:
        return chain.rpc.number("eth_maxPriorityFeePerGas")
    except (EndpointFailed, NotAnEthereumEndpoint):
        return None


def _too_small_allowance(chain: Chain, account: bytes, request: TxRequest) -> int | None:
    """What a token's owner allows now, where a request needs more; else None."""
    needed = request.allowance
    if needed is None:
        return None
    allowed = Token(chain, needed.token).allowance(account, needed.spender)
    return allowed if allowed < needed.amount else None
