"""What an endpoint says of an account and its transactions: its opinion, which is believed for that endpoint alone."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from forcemove.chain.asking import Steps, ask, together
from forcemove.chain.block_time import believed_alone
from forcemove.chain.chain import Chain
from forcemove.chain.errors import EndpointFailed, NotAnEthereumEndpoint
from forcemove.chain.prices import OSAKA, Prices
from forcemove.chain.rpc import as_hash, as_number, making_sense
from forcemove.chain.token import Token
from forcemove.errors import ForcemoveError, PassingError
from forcemove.sender.observations import Observer, Question, TxObservation, TxStatus
from forcemove.sender.pricing import FeeMarket, gas_limit
from forcemove.sender.transactions import RequestId, TxRequest

LaneT = TypeVar("LaneT")
_LARGEST = 2**48
"""The largest number that is believed of blocks, transactions of an account, and seconds."""


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
    seen: dict[int, TxObservation]
    gas: Mapping[RequestId, int | ForcemoveError] = field(default_factory=dict)
    not_allowed: Mapping[RequestId, int] = field(default_factory=dict)
    is_priced: bool = True
    """Whether all was asked for. Where nothing waits or is to be sent, or there was no time, `next`, `market`,
    `balance` and `gas` were not."""
    failure: PassingError | None = None
    """Why not all that was due was asked."""
    prices: Prices = OSAKA
    """What gas costs, by its word."""

    def shows(self, nonce: int) -> TxStatus:
        """How the endpoint shows our transaction; one that it was not asked about waits, or not, by its nonce."""
        seen = self.seen.get(nonce)
        if seen is not None:
            return seen.shown
        return TxStatus.WAITS if nonce >= self.mined else TxStatus.UNCLEAR

    def priced_as(self, before: Opinion) -> Opinion:
        """The same, with the prices of the opinion before it, where none were asked for now."""
        next_ = max(self.mined, before.next)
        return replace(self, next=next_, market=before.market, balance=before.balance, is_priced=before.is_priced)


def form_opinion(chain: Chain, question: Question, observer: Observer) -> Steps[Opinion]:
    """Ask one endpoint. `observer`: remembers what it has shown. Raises `PassingError`, and whatever an odd answer
    makes a library raise."""
    head, count = yield from _all(chain.block.steps("latest"), chain.nonce_of.steps(question.account))
    height, time, mined = (_bounded(chain, each) for each in (head["number"], head["timestamp"], count))
    seen, failure = yield from observer.observe(chain, question, height, as_hash(head["hash"]), mined)
    opinion = Opinion(height, time, mined, mined, FeeMarket(None), 0, seen, is_priced=False, failure=failure)
    if not question.requests and all(each.nonce < mined for each, _ in question.pending):
        return opinion
    try:
        with making_sense(chain.endpoint):
            count, market, balance = yield from _all(
                chain.nonce_of.steps(question.account, block="pending"),
                _market(chain, head),
                chain.balance.steps(question.account),
            )
            next_ = _bounded(chain, count)
    except PassingError as error:
        if not question.pending:
            raise
        return replace(opinion, failure=error)
    found = yield from together(_needed(chain, question, each) for each in question.requests)
    if any(isinstance(each, int) for each in found):
        with suppress(PassingError):
            yield from chain.ask_prices.steps()
    needed = dict(zip((each.request_id for each in question.requests), found, strict=True))
    gas = {id_: each for id_, each in needed.items() if not isinstance(each, _NotAllowed)}
    not_allowed = {id_: each.allowed for id_, each in needed.items() if isinstance(each, _NotAllowed)}
    opinion = Opinion(height, time, mined, next_, market, balance, seen, gas, not_allowed, failure=failure)
    return replace(opinion, prices=chain.prices)


def _all(*parts: Steps[Any]) -> Steps[list[Any]]:
    """The results of what is asked together. Raises the first error."""
    found = yield from together(parts)
    for each in found:
        if isinstance(each, ForcemoveError):
            raise each
    return found


@dataclass(frozen=True, slots=True)
class _NotAllowed:
    allowed: int


def _needed(chain: Chain, question: Question, request: TxRequest) -> Steps[int | _NotAllowed]:
    """The estimate of a transaction's gas; where none is to be had, what our own table says, if the call would not
    fail. Or what a token's owner allows now, where the request needs more."""
    with making_sense(chain.endpoint):
        if (needed := request.allowance) is not None:
            allowed = yield from Token(chain, needed.token).allowance.steps(question.account, needed.spender)
            if allowed < needed.amount:
                return _NotAllowed(allowed)
        max_gas = gas_limit(request.gas, (), 0)
        try:
            return (yield from chain.gas_for.steps(request.call, question.account, question.error_table, max_gas))
        except PassingError:
            if request.gas is None:
                raise
        yield from chain.simulate.steps(request.call, question.account, question.error_table)
        return request.gas


def _bounded(chain: Chain, answer: object) -> int:
    number = as_number(answer)
    if number > _LARGEST:
        raise NotAnEthereumEndpoint(chain.endpoint, f"it counts to {number:.3g}")
    return number


def in_our_time(opinions: Mapping[LaneT, Opinion], own_time: float | None) -> Mapping[LaneT, Opinion]:
    """The opinions; but where one endpoint alone has answered, and its time is far ahead of our own clock's
    (`own_time`, seconds since 1970, None where the chain's clock is moved by hand), with our own time: no other
    endpoint could contradict one that says that no time is left, and then all that an answer is worth is offered."""
    if own_time is None or len(opinions) != 1:
        return opinions
    return {endpoint: replace(each, time=believed_alone(each.time, own_time)) for endpoint, each in opinions.items()}


def market_of(chain: Chain) -> Steps[FeeMarket]:
    """What gas costs, by this endpoint's word. Raises as `form_opinion`."""
    return (yield from _market(chain, (yield from chain.block.steps("latest"))))


def _market(chain: Chain, head: Mapping[str, Any]) -> Steps[FeeMarket]:
    base = head.get("baseFeePerGas")
    if base is None:
        return FeeMarket(None, (yield from _price(chain, "eth_gasPrice")))
    return FeeMarket(as_number(base), (yield from _tip(chain)))


def _tip(chain: Chain) -> Steps[int | None]:
    try:
        return (yield from _price(chain, "eth_maxPriorityFeePerGas"))
    except (EndpointFailed, NotAnEthereumEndpoint):
        return None


def _price(chain: Chain, method: str) -> Steps[int]:
    return chain.rpc.as_number(method, (yield from ask(method)))
