"""The sender of one account on one chain: every transaction of the account goes through it.

A transaction is written down by its nonce before any endpoint is offered it, and forgotten only when it is mined and
confirmed, and the owner was given its outcome and has called `look` again: after a crash the next sender continues
it, and returns its outcome again. A sender never waits for a block: each `look` takes what endpoints have answered
since the last one, and begins what is due, so that no transaction holds up another account's, or anything else in this
process.

What an endpoint says is its opinion. Each endpoint is offered what fits its own opinion, and each transaction for as
long as that endpoint does not show it: a nonce, a price, a refusal or a receipt that one endpoint invents changes
nothing for the others. One that is slower than another is offered everything all the same, when it comes to it.

Of the transactions that wait only the one with the lowest nonce can be mined, so only it is replaced, on behalf of all
behind it: with the nearest of their deadlines and the largest of their caps.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future
from typing import Any

from forcemove.chain.chain import Chain, answers
from forcemove.chain.reverts import NO_ERRORS, ErrorTable
from forcemove.errors import ForcemoveError, InvalidValue, PassingError
from forcemove.protocol.signing import Key
from forcemove.sender.approvals import as_asked_for
from forcemove.sender.batches import shares
from forcemove.sender.bids import Bids
from forcemove.sender.lanes import EndpointLane, EndpointLanes
from forcemove.sender.observations import Question
from forcemove.sender.offering import Offering, Resubmitter
from forcemove.sender.offers import Offers
from forcemove.sender.opinions import Opinion, in_our_time, market_of
from forcemove.sender.pending import PendingTxs
from forcemove.sender.pricing import price_of
from forcemove.sender.requests import Report, Requests
from forcemove.sender.settling import Settler
from forcemove.sender.signing import Signer
from forcemove.sender.timing import RequestPace
from forcemove.sender.transactions import PendingTx, RequestId, TxOutcome, TxRequest, TxStore

_ROUNDS = 2
"""Opinions that an endpoint forms in a look, where it is asked at once: requests that are added after the first one are
asked about in the second."""


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
        """Send an account's transactions, and continue those that its journal has.

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
        self.error_table, now, clock = error_table, clock or time.monotonic, clock or time.time
        self._key, self._clock, self._own_time = key, clock, own_time
        self._confirmations, self._bump_after = confirmations, bump_after
        self._report, self._requests, self._offers = Report(), Requests(), Offers[EndpointLane]()
        self._lanes = EndpointLanes((chain, *others), now, self._report.errors)
        self._pending = PendingTxs(store)
        bids = Bids(lambda call, *facts: chain.sign_as(call, key, *facts), clock)
        pace, shared = RequestPace(bump_after, now), (self._pending, bids, self._offers)
        self._resubmitter = Resubmitter(key.address, *shared, bump_after, clock, self._report.errors.append)
        asked = self._requests, self._report
        self._offering = Offering(key.address, self._lanes, self._pending, self._offers, *asked, self._opinions)
        self._signer = Signer(chain, key.address, *shared, pace, *asked, self._offering.fresh)
        self._settler = Settler(self._pending, self._requests, pace, self._report, self._offering.forget)
        self._pace = pace

    @property
    def endpoints(self) -> int:
        """How many endpoints there are."""
        return len(self._lanes.all)

    @property
    def account(self) -> bytes:
        """The account, 20 bytes."""
        return self._key.address

    @property
    def request_ids(self) -> frozenset[RequestId]:
        """The requests without an outcome yet."""
        waiting = (each for nonce in self._pending.by_nonce for each in self._pending.unreported(nonce))
        return _ids((*waiting, *self._requests.all))

    @property
    def is_idle(self) -> bool:
        """Whether no transaction is to be sent or on its way."""
        return not self._pending.by_nonce and not len(self._requests)

    @property
    def unsettled(self) -> list[RequestId]:
        """The requests whose transactions are to be sent, or are not mined as deep as we believe yet, by the word of
        one endpoint at least: another one may never show them; and those with an outcome that a later `look`
        returns."""
        pending, believed = self._pending.by_nonce.items(), self._pending.believed
        doubted = (each.request for nonce, each in pending if nonce not in believed)
        unreported = (each for nonce in believed for each in self._pending.unreported(nonce))
        return [
            *_ids((*self._requests.all, *doubted, *unreported)),
            *(each.request_id for each in self._report.outcomes),
        ]

    def copies(self, request_id: RequestId) -> list[PendingTx]:
        """The transactions for a request that are on their way, also with an outcome, until a `look` forgets them; also
        the batches that it is a part of."""
        return self._pending.all_for(request_id)

    def take_errors(self) -> list[PassingError]:
        """How endpoints have failed since the last call, also where others have answered."""
        errors = [*self._report.errors]
        self._report.errors.clear()
        return errors

    def lowest_price(self) -> int:
        """What a unit of gas costs now by the word of the endpoint with the lowest price, in wei, with twice the base
        fee. Raises `PassingError` where no endpoint answers."""
        opinions = self._opinions()
        if opinions and all(each in opinions for each in self._lanes.live):
            return min(price_of(each.market) for each in opinions.values())
        return min(map(price_of, answers([each.chain for each in self._lanes.all], market_of)))

    def submit(self, request: TxRequest) -> bool:
        """Ask for a transaction; the next `look` sends it. Where the same is asked for already, or is on its way and
        has failed by no endpoint's word, it becomes as urgent as this one. Returns whether it is on its way."""
        is_offered = self._pending.is_offered(request.request_id)
        (self._pending.hurry if is_offered else self._requests.submit)(request)
        return is_offered

    def offered(self) -> dict[RequestId, int]:
        """What each request's transaction on its way may cost, in wei, as far as its own cap allows; where it is a part
        of a batch, its share of that."""
        found: dict[RequestId, int] = {}
        for each in self._pending.by_nonce.values():
            cost = min(each.gas * each.newest.max_fee, each.request.max_cost)
            for asked, share in zip(each.request.asked, shares(each.request, cost), strict=True):
                found[asked.request_id] = share
        return found

    def limit(self, caps: Mapping[RequestId, int]) -> None:
        """Let the gas of these requests cost so much from now on, in wei."""

        self._requests.change(lambda request: request.limited(caps))
        self._pending.change(lambda request: request.limited(caps))

    def withdraw(self, request_ids: Collection[RequestId]) -> None:
        """Send nothing for these requests, unless they are asked for again. A transaction that has a nonce goes on: it
        may be mined, no matter who wants it."""
        for each in self._requests.all:
            if any(part.request_id in request_ids for part in each.parts):
                self._requests.take_apart(each)
        self._requests.remove(request_ids)

    @property
    def awaited(self) -> list[Future[Any]]:
        """What an endpoint that is alone is asked and offered now: the look may go on when one of these is done. Empty
        where there are others, which a look waits for no more than for this one."""
        return self._lanes.all[0].running if len(self._lanes.all) == 1 else []

    def look(self, *, is_new: bool = True) -> list[TxOutcome]:
        """See what became of transactions on their way, replace those that wait too long, and send new ones. What an
        endpoint answers counts in the first look after it has come. `is_new`: False where the last look goes on, since
        one of `awaited` is done.

        Returns the outcomes since the last look. Raises the `ChainError` that was in the way, unless there are
        outcomes: then the next look raises it.
        """
        self._report.in_the_way = None
        if is_new:
            self._requests.look += 1
            self._requests.put_together(is_new=self._pace.is_unknown)
        try:
            self._work()
            if self._report.in_the_way is not None:
                raise self._report.in_the_way
            self._lanes.on_look(None, ())
        except ForcemoveError as error:
            self._lanes.on_look(error, [each.words for each in self._requests.all])
            if not self._report.outcomes:
                raise
        outcomes, self._report.outcomes = self._report.outcomes, []
        self._pending.acknowledge()
        return [each for each in map(as_asked_for, outcomes) if each is not None]

    def _work(self) -> None:
        self._lanes.begin_look(is_idle=self.is_idle)
        self._signer.sign(self._opinions(), self._lanes.awaited)
        self._report.in_the_way = None
        for _ in range(_ROUNDS):
            self._offering.make()
            known = set(self._requests)
            self._ask()
            fresh = [lane for lane in self._lanes.all if self._lanes.take(lane, lane.take_opinion)]
            if not fresh:
                break
            self._decide(fresh)
            self._offering.make()
            if not any(each not in known and self._pace.allows(each) for each in self._requests):
                break
        self._lanes.require_answers()

    def _opinions(self) -> dict[EndpointLane, Opinion]:
        """The opinion of each endpoint that counts, and has said now what gas costs."""
        said = {lane: lane.opinion for lane in self._lanes.live if lane.opinion is not None and lane.is_fresh}
        timed = in_our_time(said, None if self._own_time is None else self._own_time())
        return {lane: each for lane, each in timed.items() if each.is_priced}

    def _ask(self) -> None:
        """Begin to ask each endpoint that is free what is due, if anything is. What is to be offered goes before."""
        if self.is_idle:
            return
        urgent = [each.request for each in self._requests.by_deadline() if self._pace.allows(each.request.request_id)]
        ours = sorted(self._pending.by_nonce.items())
        for lane in self._lanes.awake:
            if lane.is_free and not self._offers.is_due(lane):
                pending = [(each, self._offers.last(lane, nonce)) for nonce, each in ours]
                asked = lane.observer.next_of(urgent, lane.question_limit)
                limits = self._confirmations, self.error_table, lane.question_limit
                lane.ask(Question(self.account, pending, asked, *limits), self._requests.look)

    def _decide(self, fresh: Sequence[EndpointLane]) -> None:
        """Do what follows from new opinions."""
        newest = [lane.opinion for lane in self._lanes.live]
        self._report.errors += [
            lane.opinion.failure for lane in fresh if lane.opinion is not None and lane.opinion.failure is not None
        ]
        self._settler.settle(newest, self._confirmations, self._age_of)
        opinions = self._opinions()
        for lane in fresh:
            if lane in opinions:
                self._signer.catch_up(lane, opinions)
                self._resubmitter.offer(lane, opinions)
        self._signer.sign(opinions, self._lanes.awaited)
        whole = tuple(each for each in newest if each is not None and (each.is_priced or each.failure is None))
        for request in self._resubmitter.not_shown(whole):
            self._requests.add(request, is_again=True)
        self._offering.take_stuck_apart(self._clock(), self._bump_after)

    def _age_of(self, pending: PendingTx) -> float:
        return (self._clock() - pending.versions[0].signed_at) / self._bump_after


def _ids(requests: Iterable[TxRequest]) -> frozenset[RequestId]:
    return frozenset(asked.request_id for each in requests for asked in each.asked)
