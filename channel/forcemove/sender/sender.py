"""The sender of one account on one chain: every transaction of the account goes through it.

A transaction is written down by its nonce before any endpoint is offered it, and forgotten only when it is mined and
confirmed, and the owner was given its outcome and has called `look` again: after a crash the next sender goes on with
it, and returns its outcome again. A sender never waits for a block: each `look` asks once and does what is due, so that
no transaction holds up another account's, or anything else in this process.

What an endpoint says is its opinion. Each endpoint is offered what fits its own opinion, and each transaction for as
long as that endpoint does not show it: a nonce, a price, a refusal or a receipt that one endpoint invents changes
nothing for the others.

Of the transactions that wait only the one with the lowest nonce can be mined, so only it is replaced, on behalf of all
behind it: with the nearest of their deadlines and the largest of their caps.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

from forcemove.chain.chain import Chain
from forcemove.chain.errors import InsufficientFunds, TransactionReverted
from forcemove.chain.reverts import NO_ERRORS, ErrorTable
from forcemove.errors import ForcemoveError, InvalidValue, PassingError, RuleError
from forcemove.protocol.signing import Key
from forcemove.sender.approvals import approval_of, as_asked_for, is_behind, without_effect
from forcemove.sender.bids import Bids, cannot_pay
from forcemove.sender.endpoints import Endpoint, Endpoints
from forcemove.sender.errors import CannotPayAnswer, GasTooDear, NotTaken, OpinionsDiffer, after_revert
from forcemove.sender.offers import Offers
from forcemove.sender.opinions import Observer, Opinion, Question, form_opinion, in_our_time, market_of
from forcemove.sender.pending import PendingTxs
from forcemove.sender.pricing import gas_limit, price_of
from forcemove.sender.resubmission import Resubmitter
from forcemove.sender.settlement import judge
from forcemove.sender.timing import Pace
from forcemove.sender.transactions import (
    Approval,
    Confirmed,
    GapFiller,
    NonceUsedElsewhere,
    PendingTx,
    Reorged,
    RequestId,
    TxFailed,
    TxOutcome,
    TxRequest,
    TxStore,
)

__all__ = ["Sender"]

_MAX_APPROVALS = 3
"""So many approvals may be confirmed for one deposit."""
_ROUNDS = 2
"""Rounds of questions in a look: requests that the first round adds are asked about in the second."""


class Sender:
    """Sends the transactions of one account. Nothing else should send with its key; where another program does, the
    sender goes on."""

    def __init__(
        self,
        chain: Chain,
        key: Key,
        store: TxStore,
        *,
        confirmations: int = 1,
        bump_after: float = 60.0,
        error_table: ErrorTable = NO_ERRORS,
        clock: Callable[[], float] | None = None,
        others: Sequence[Chain] = (),
        own_time: Callable[[], float] | None = None,
    ) -> None:
        """Send an account's transactions, and go on with those that its journal has.

        - `chain`: the chain, through its first endpoint.
        - `key`: of the account.
        - `store`: the account's journal.
        - `confirmations`: how many blocks deep a transaction must be to be forgotten, 1 is the newest block.
        - `bump_after`: seconds after which more is offered for a transaction that waits; an eighth of the time that is
          left to its deadline where that is less.
        - `error_table`: what the contracts revert with; nothing is known of it unless given.
        - `clock`: seconds since 1970, by which all is timed; unless given, what is stored by the system's clock, and
          what rests and pauses by one that nobody can set.
        - `others`: the same chain through other endpoints. All endpoints are asked and offered everything, none is
          believed for another one.
        - `own_time`: our own clock's seconds since 1970, None where the chain's clock is moved by hand; see
          `in_our_time`.

        Raises `InvalidValue`; `MalformedBytes` and `UnknownVersion` on a journal that cannot be read.
        """
        if bump_after <= 0:
            raise InvalidValue("bump_after", bump_after, "more than 0 seconds")
        self.error_table, steady = error_table, clock or time.monotonic
        self._chain, self._key = chain, key
        self._endpoints = Endpoints((chain, *others), steady)
        self._confirmations, self._bump_after, self._clock = confirmations, bump_after, clock or time.time
        self._own_time = own_time
        self._pending, self._offers = PendingTxs(store), Offers()
        self._bids = Bids(lambda call, *facts: chain.sign_as(call, key, *facts), self._clock)
        self._pace = Pace(bump_after, steady)
        self._resubmitter = Resubmitter(
            key.address, self._pending, self._bids, self._offers, bump_after, self._clock, self._endpoints.errors.append
        )
        self._fresh: set[int] = set()
        self._again: set[RequestId] = set()
        self._given_up: set[RequestId] = set()
        self._requests: list[TxRequest] = []
        self._observers = {endpoint: Observer() for endpoint in self._endpoints.all}
        self._outcomes: list[TxOutcome] = []
        self._error: PassingError | None = None

    @property
    def endpoints(self) -> int:
        """How many endpoints there are."""
        return len(self._endpoints)

    @property
    def account(self) -> bytes:
        """The account, 20 bytes."""
        return self._key.address

    @property
    def request_ids(self) -> frozenset[RequestId]:
        """The requests without an outcome yet."""
        pending, announced = self._pending.by_nonce, self._pending.announced
        waiting = (each.request for nonce, each in pending.items() if nonce not in announced)
        return frozenset(each.request_id for each in (*waiting, *self._requests))

    @property
    def is_idle(self) -> bool:
        """Whether no transaction is to be sent or on its way."""
        return not self._pending.by_nonce and not self._requests

    @property
    def unsettled(self) -> list[RequestId]:
        """The requests whose transactions are to be sent, or are not mined as deep as we believe yet, by the word of
        one endpoint at least: another one may never show them; and those with an outcome that the next `look`
        returns."""
        waiting = [each.request_id for each in (*self._requests, *self._outcomes)]
        pending = self._pending.by_nonce.items()
        return waiting + [each.request.request_id for nonce, each in pending if nonce not in self._pending.believed]

    def take_errors(self) -> list[PassingError]:
        """How endpoints have failed since the last call, also where others have answered."""
        errors = [*self._endpoints.errors]
        self._endpoints.errors.clear()
        return errors

    def lowest_price(self) -> int:
        """What a unit of gas costs now by the word of the endpoint with the lowest price, in wei, with twice the base
        fee. Raises `PassingError` where no endpoint answers."""
        return min(map(price_of, self._endpoints.ask(lambda endpoint: market_of(endpoint.chain)).values()))

    def submit(self, request: TxRequest) -> None:
        """Ask for a transaction; the next `look` sends it. Nothing happens where the same is asked for already, or is
        on its way and has failed by no endpoint's word."""
        if not self._pending.is_offered(request.request_id) and not self._is_requested(request.request_id):
            self._requests.append(request)

    def offered(self) -> dict[RequestId, int]:
        """What each request's transaction on its way may cost, in wei, as far as its own cap allows."""
        pending = self._pending.by_nonce.values()
        return {each.request.request_id: min(each.gas * each.newest.max_fee, each.request.max_cost) for each in pending}

    def limit(self, caps: Mapping[RequestId, int]) -> None:
        """Let the gas of these requests cost so much from now on, in wei."""

        def limited(request: TxRequest) -> TxRequest:
            return replace(request, max_cost=caps.get(request.request_id, request.max_cost))

        self._requests = [limited(each) for each in self._requests]
        for nonce, pending in self._pending.by_nonce.items():
            self._pending.by_nonce[nonce] = replace(pending, request=limited(pending.request))

    def withdraw(self, request_ids: Collection[RequestId]) -> None:
        """Send nothing for these requests, unless they are asked for again. A transaction that has a nonce goes on: it
        may be mined, whoever wants it."""
        self._requests = [each for each in self._requests if each.request_id not in request_ids]
        self._again.difference_update(request_ids)

    def _is_requested(self, request_id: RequestId) -> bool:
        return any(each.request_id == request_id for each in self._requests)

    def look(self, *, is_new: bool = True) -> list[TxOutcome]:
        """See what became of transactions on their way, replace those that wait too long, and send new ones. `is_new`:
        whether there may be another block than at the last look; without one, mined transactions are not looked at
        again.

        Returns the outcomes since the last look. Raises the `ChainError` that was in the way, unless there are
        outcomes: then the next look raises it.
        """
        self._error, pending = None, self._pending.by_nonce
        try:
            if self._requests or (pending if is_new else pending.keys() - self._pending.settled):
                for _ in range(_ROUNDS):
                    if not self._work():
                        break
            if self._error is not None:
                raise self._error
            self._endpoints.on_look(None, ())
        except ForcemoveError as error:
            self._endpoints.on_look(error, [each.words for each in self._requests])
            if not self._outcomes:
                raise
        outcomes, self._outcomes = self._outcomes, []
        self._pending.acknowledged = set(self._pending.announced)
        return [each for each in map(as_asked_for, outcomes) if each is not None]

    def _work(self) -> bool:
        """One round of questions. Returns whether a request is to be sent now about which no endpoint was asked yet."""
        known, asked = list(self._requests), self._pace.next_of(self._requests)
        questions = {endpoint: self._question(endpoint, asked) for endpoint in self._endpoints.all}
        answered = self._endpoints.ask(lambda endpoint: form_opinion(endpoint.chain, questions[endpoint]))
        opinions = in_our_time(answered, None if self._own_time is None else self._own_time())
        self._endpoints.errors += [each.failure for each in opinions.values() if each.failure is not None]
        self._settle(tuple(opinions.values()))
        priced = {endpoint: opinion for endpoint, opinion in opinions.items() if opinion.is_priced}
        for endpoint in priced:
            self._resubmitter.offer(endpoint, priced)
        for request in asked if priced else ():
            is_again = request.request_id in self._again
            before = [each for each in asked[: asked.index(request)] if each in self._requests]
            if request in self._requests and (is_again or not is_behind(request, before, self._pending)):
                self._send(request, priced, is_again=is_again)
        whole = tuple(each for each in opinions.values() if each.is_priced or each.failure is None)
        again = [each for each in self._resubmitter.not_shown(whole) if not self._is_requested(each.request_id)]
        self._again = {each.request_id for each in again}
        self._requests += again
        self._broadcast(opinions)
        return any(each not in known and self._pace.allows(each.request_id) for each in self._requests)

    def _question(self, endpoint: Endpoint, requests: Sequence[TxRequest]) -> Question:
        pending = [(each, self._offers.last(endpoint, nonce)) for nonce, each in sorted(self._pending.by_nonce.items())]
        limits = self._confirmations, self.error_table
        return Question(self.account, self._observers[endpoint], pending, requests, *limits)

    # ------------------------------------------------------------------------------------------ what became of them

    def _settle(self, opinions: Sequence[Opinion]) -> None:
        txs, reorged = self._pending, list[tuple[PendingTx, bool]]()
        for nonce, pending in sorted(txs.by_nonce.items()):
            age = (self._clock() - pending.versions[0].signed_at) / self._bump_after
            verdict = judge(pending, opinions, txs.by_nonce, self._confirmations, age)
            for outcome, cost in verdict.outcomes:
                self._come_out(pending, outcome, cost)
            if verdict.is_believed:
                txs.believed.add(nonce)
            if verdict.is_settled:
                txs.settled.add(nonce)
            if verdict.is_needless or (verdict.is_buried and nonce in self._pending.acknowledged):
                self._forget(nonce)
            elif verdict.is_taken:
                self._ask_again(pending)
            elif verdict.waits and nonce in txs.settled:
                reorged.append((pending, verdict.is_known))
        self._give_up(reorged)

    def _come_out(self, pending: PendingTx, outcome: Confirmed | TxFailed, cost: int) -> None:
        announced = self._pending.announced.setdefault(pending.nonce, set())
        if type(outcome) in announced:
            return
        announced.add(type(outcome))
        request_id = pending.request.request_id
        if isinstance(outcome, Confirmed):
            self._pace.on_confirmed(pending)
            self._requests = [each for each in self._requests if each.request_id != request_id]
        elif isinstance(outcome.error, TransactionReverted):
            times, reason = self._pace.on_reverted(pending), outcome.error.reason
            rule = reason if isinstance(reason, RuleError) else None
            outcome = TxFailed(request_id, after_revert(outcome.error, cost, rule, times), cost)
        self._outcomes.append(outcome)

    def _ask_again(self, pending: PendingTx) -> None:
        """Ask again for a transaction none of whose versions was mined, or will be: its nonce is used elsewhere."""
        request_id = pending.request.request_id
        self._forget(pending.nonce)
        is_asked = self._is_requested(request_id) or self._pending.copies(request_id)
        if not isinstance(request_id, GapFiller) and not is_asked:
            self._requests.insert(0, pending.request)
            self._outcomes.append(NonceUsedElsewhere(request_id, pending.nonce))

    def _forget(self, nonce: int) -> None:
        self._fresh.discard(nonce)
        self._pending.forget(nonce)
        self._offers.forget(nonce)

    def _give_up(self, reorged: Sequence[tuple[PendingTx, bool]]) -> None:
        """Forget transactions that a reorganisation has removed: their owner may not need them any more, and else asks
        again. One that others wait behind is sent again, and one that a node still has is waited for."""
        for pending, is_known in reversed(reorged):
            self._pending.doubt(pending.nonce)
            self._pace.forget(pending.request.request_id)
            if pending.nonce == max(self._pending.by_nonce) and not is_known:
                self._forget(pending.nonce)
                if pending.request.request_id not in self.request_ids:
                    self._outcomes.append(Reorged(pending.request.request_id))

    # -------------------------------------------------------------------------------------------------- what is new

    def _send(self, request: TxRequest, opinions: Mapping[Endpoint, Opinion], *, is_again: bool = False) -> None:
        """Sign and offer a request. It waits while it is not known whether the chain would take it, and until the
        allowance that it needs is mined. `is_again`: its transaction is on its way, and an endpoint does not show
        it."""
        said = tuple(opinions.values())
        if not self._is_allowed(request, said):
            return
        answers = [each.gas[request.request_id] for each in said]
        estimates = [each for each in answers if isinstance(each, int)]
        failures = [each for each in answers if isinstance(each, PassingError)]
        refusals = [each for each in answers if isinstance(each, ForcemoveError) and each not in failures]
        is_defence = request.deadline is not None and request.gas is not None
        if not estimates and refusals and not (failures and is_defence):
            error, price = refusals[0], min(price_of(each.market) for each in said)
            if isinstance(error, InsufficientFunds):
                error = cannot_pay(error, request, gas_limit(request.gas, (), 0) * price, said)
            self._refuse(request, error, is_again=is_again)
            return
        if not estimates and not is_defence:
            self._error = failures[0]
            return
        if refusals and not self._pace.allows_alone(request.request_id):
            return
        gas = gas_limit(request.gas, estimates, self._pace.reverts(request.request_id))
        if request.deadline is None and self._bids.is_too_dear(request, gas, said):  # an answer is offered its worth
            cost = gas * min(price_of(each.market) for each in said)
            self._refuse(request, GasTooDear(cost, request.max_cost), is_again=is_again)
            return
        self._sign_for_all(request, gas, opinions, is_again=is_again)

    def _is_allowed(self, request: TxRequest, said: Sequence[Opinion]) -> bool:
        """Whether the adjudicator may take the tokens that a request needs; else an approval is asked for, once. Where
        two were confirmed in vain that is told, and after the third no more are sent."""
        allowed = [request.request_id not in each.not_allowed for each in said]
        needed, approval_id = request.allowance, Approval(request.request_id)
        if needed is None or all(allowed):
            return True
        if any(allowed):
            self._error = OpinionsDiffer(self.account, "allowance", tuple(map(int, allowed)))
        elif approval_id not in self.request_ids:
            times = self._pace.confirmations(approval_id)
            error = without_effect(request, needed, times, said)
            if times < _MAX_APPROVALS:
                self._requests.append(approval_of(self._chain, request, needed, said))
                self._endpoints.errors += [error] if times > 1 else []
            elif approval_id not in self._given_up:
                self._given_up.add(approval_id)
                self._refuse(request, error, is_again=False)
        return False

    def _refuse(self, request: TxRequest, error: ForcemoveError, *, is_again: bool) -> None:
        self._requests.remove(request)
        if not is_again:
            self._outcomes.append(TxFailed(request.request_id, error))

    def _sign_for_all(
        self, request: TxRequest, gas: int, opinions: Mapping[Endpoint, Opinion], *, is_again: bool
    ) -> None:
        """Sign a request with one nonce where all endpoints agree on it. Where they differ one that pays in waits, and
        any other is signed with each endpoint's nonce."""
        said, pending = tuple(opinions.values()), self._pending.by_nonce
        lacking = [each for each in said if self._pending.lacks(each, request.request_id)]
        if is_again:
            lacking = [each for each in lacking if not isinstance(each.gas.get(request.request_id), ForcemoveError)]
        nonces = tuple(each.free(pending) for each in said)
        if request.pays_in and len(set(nonces)) > 1:
            self._error = OpinionsDiffer(self.account, "nonce", nonces)
            return
        begun_at = min(each.time for each in said)
        for nonce, opinion in sorted({each.free(pending): each for each in lacking}.items()):
            self._pending.save(self._bids.begin(request, nonce, gas, begun_at, opinion, said))
            self._fresh.add(nonce)
        for endpoint, opinion in opinions.items():
            for nonce in self._fresh & {each.nonce for each in self._pending.copies(request.request_id)}:
                if opinion.is_reachable(nonce, pending):
                    fitted, version = self._bids.fit(pending[nonce], opinion, said)
                    self._pending.save(fitted)
                    self._offers.add(endpoint, nonce, version)
        if is_again or lacking:
            self._requests.remove(request)

    def _broadcast(self, opinions: Mapping[Endpoint, Opinion]) -> None:
        """Make the offers that are due. A new transaction that all endpoints refuse because we cannot pay for it is
        given up, and its nonce is free again. Any other refusal is no outcome: the transaction is offered again."""
        mined = {endpoint: opinion.mined for endpoint, opinion in opinions.items()}
        refusals = self._offers.make(self._endpoints, self.account, self._pending.by_nonce, mined)
        fresh, self._fresh = self._fresh, self._fresh - refusals.keys()
        for nonce, answers in refusals.items():
            pending = self._pending.by_nonce.get(nonce)
            if pending is None or None in answers:
                continue
            poor = [each for each in answers if isinstance(each, InsufficientFunds)]
            if len(poor) == len(answers):
                error = cannot_pay(poor[0], pending.request, pending.gas * pending.newest.max_fee, opinions.values())
                if isinstance(error, CannotPayAnswer):
                    self._error = error
                elif nonce in fresh:
                    self._forget(nonce)
                    self._outcomes.append(TxFailed(pending.request.request_id, error))
            elif nonce in fresh:
                self._error = NotTaken(pending.newest.hash, next(each.reason for each in answers if each is not None))
