"""Makes the offers of an account's transactions that are due, and takes in what endpoints answer to them: what all
refuse is given up, or taken apart. Transactions that wait are offered again, and more is offered for them: to each
endpoint by its own word.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from forcemove.backoff import doubled
from forcemove.chain.errors import InsufficientFunds
from forcemove.errors import PassingError
from forcemove.sender.bids import Bids, cannot_pay
from forcemove.sender.errors import CannotPayAnswer, NonceBlocked, NotTaken
from forcemove.sender.lanes import EndpointLane, EndpointLanes
from forcemove.sender.observations import TxStatus
from forcemove.sender.offers import Offers
from forcemove.sender.opinions import Opinion
from forcemove.sender.pending import PendingTxs
from forcemove.sender.pricing import Urgency, gas_limit, is_too_low
from forcemove.sender.requests import Report, Requests
from forcemove.sender.timing import bump_interval, part_of, urgency_of
from forcemove.sender.transactions import GapFiller, PendingTx, RequestId, TxFailed, TxRequest, Version


class Offering:
    """Offers for one account. `fresh`: the nonces that no endpoint has answered an offer of yet."""

    def __init__(
        self,
        account: bytes,
        lanes: EndpointLanes,
        pending: PendingTxs,
        offers: Offers[EndpointLane],
        requests: Requests,
        report: Report,
        opinions: Callable[[], Mapping[EndpointLane, Opinion]],
    ) -> None:
        """Work for a `Sender`.

        - `account`: its address, 20 bytes.
        - `lanes`: all endpoints.
        - `pending`: the account's transactions that are on their way.
        - `offers`: what is due.
        - `requests`: is given back what has to be sent in another way.
        - `report`: is given what is given up, and what is in the way.
        - `opinions`: the newest with prices, of each endpoint that counts.
        """
        self._account, self._lanes, self._pending, self._offers = account, lanes, pending, offers
        self._requests, self._report, self._opinions = requests, report, opinions
        self.fresh: set[int] = set()

    def make(self) -> None:
        """Write down what was signed, begin the offers that are due, and take in the answers to those made before."""
        self._pending.commit()
        for lane in self._lanes.all:
            mined = 0 if lane.opinion is None else lane.opinion.mined
            due = self._offers.due(lane, self._account, self._pending.by_nonce, mined, lane.offer_limit)
            if due and lane.can_offer and lane in self._lanes.awake:
                lane.offer(due)
            said = self._lanes.take(lane, lane.take_answers) or []
            self._offers.note(lane, said, self._requests.look)
            for signed, answer in said:
                if isinstance(answer, PassingError):
                    self._lanes.on_failure(lane, answer)
                else:
                    self._on_answer(signed.nonce)
        self._pending.commit()

    def _on_answer(self, nonce: int) -> None:
        """Take in that an endpoint has answered an offer. A new transaction that all endpoints refuse because we cannot
        pay for it is given up, and its nonce is free again. Any other refusal is not an outcome: the transaction is
        offered again."""
        pending, said = self._pending.by_nonce.get(nonce), self._offers.answers(nonce, self._lanes.live)
        if pending is None or said is None:
            return
        is_fresh = nonce in self.fresh
        self.fresh.discard(nonce)
        refusals = [each for each in said if each is not None]
        if is_fresh and pending.request.parts and len(refusals) == len(said):
            self._take_apart(pending)
            return
        poor = [each for each in refusals if isinstance(each, InsufficientFunds)]
        if len(poor) == len(said):
            max_cost, opinions = pending.gas * pending.newest.max_fee, self._opinions().values()
            error = cannot_pay(poor[0], pending.request, max_cost, opinions)
            if isinstance(error, CannotPayAnswer):
                self._report.in_the_way = error
            elif is_fresh:
                self.forget(nonce)
                self._report.outcomes.append(TxFailed(pending.request.request_id, error))
        elif is_fresh and len(refusals) == len(said):
            self._report.in_the_way = NotTaken(pending.newest.hash, refusals[0].reason)

    def take_stuck_apart(self, now: float, usual: float) -> None:
        """Send the parts of each batch alone that some endpoint has never taken, and since then shows as not mined,
        once a part of its time has gone by: others may have it, or lie. `now`: the time of the clock by which it was
        signed; `usual`: seconds to wait where there is no deadline."""
        for pending in tuple(self._pending.by_nonce.values()):
            age = now - pending.versions[0].signed_at
            is_due = pending.request.parts and age >= (part_of(pending) or usual)
            if is_due and pending.nonce not in self._pending.announced and self._is_stuck(pending.nonce):
                self._take_apart(pending)

    def _is_stuck(self, nonce: int) -> bool:
        refusing = [each for each in self._lanes.live if self._offers.is_never_taken(each, nonce)]
        asked = [each for each in refusing if self._offers.made_at(each, nonce) <= each.look]
        return any(each.opinion is not None and each.opinion.mined <= nonce for each in asked)

    def _take_apart(self, batch: PendingTx) -> None:
        """Send the parts of a batch alone, the first of them with its nonce."""
        self.forget(batch.nonce)
        self._requests.take_apart(batch.request)

    def forget(self, nonce: int) -> None:
        """A transaction is over."""
        request_id = self._pending.by_nonce[nonce].request.request_id
        self.fresh.discard(nonce)
        self._pending.forget(nonce)
        self._offers.forget(nonce)
        for lane in self._lanes.all:
            lane.forget(nonce)
            if request_id not in self._pending.by_request:
                lane.reverted.discard(request_id)


# -------------------------------------------------------------------------------------------------------- offered again

_GAP_GAS = 21_000
_WIDEST = 16
"""A transaction is still offered behind this many missing nonces; behind more the endpoint may lie about them."""


class Resubmitter:
    """Decides for one account what is offered again, and for how much."""

    def __init__(
        self,
        account: bytes,
        pending: PendingTxs,
        bids: Bids,
        offers: Offers[EndpointLane],
        bump_after: float,
        clock: Callable[[], float],
        report: Callable[[PassingError], None],
    ) -> None:
        """Work for a `Sender`.

        - `account`: its address, 20 bytes.
        - `pending`: the account's transactions that are on their way.
        - `bids`: signs new versions of them.
        - `offers`: takes what is to be offered.
        - `bump_after`: seconds after which more is offered for a transaction that waits.
        - `clock`: seconds since 1970.
        - `report`: called with what the account's owner should know.
        """
        self._account, self._pending, self._bids, self._offers = account, pending, bids, offers
        self._bump_after, self._clock, self._report = bump_after, clock, report
        self._notified: set[int] = set()
        self._tried_at: dict[RequestId, float] = {}

    def offer(self, lane: EndpointLane, opinions: Mapping[EndpointLane, Opinion]) -> None:
        """Add the offers that are due for one endpoint: of transactions that it lacks, since nodes forget and we may
        have stopped before we sent them, and of more for the one that waits first. `opinions`: with prices."""
        opinion, said = opinions[lane], tuple(opinions.values())
        waiting = self._at(opinion)
        for each in waiting:
            is_known = each.nonce not in opinion.seen or opinion.seen[each.nonce].is_known
            if not is_known and self._offers.made_at(lane, each.nonce) <= lane.look:
                self._offers.add(lane, each.nonce, self._offers.version_of(lane, each))
        if not waiting:
            return
        urgency = urgency_of(waiting, opinion.time, [each.time for each in said], self._clock(), self._bump_after)
        pause = bump_interval(waiting, urgency, self._bump_after)
        if opinion.time - waiting[0].begun_at >= pause and not self._is_near(waiting[0], said):
            before = self._missing(waiting[0], opinion, said)
            if any(each.next > each.mined for each in said):
                before = self._blocked(waiting[0], opinion, urgency) or before
            waiting[:0] = [self._fill(each, lane, opinion, said, urgency) for each in before]
        for each in waiting:
            if isinstance(each.request.request_id, GapFiller) and self._offers.is_refused(lane, each.nonce):
                last = self._offers.version_of(lane, each)
                self._raise(lane, self._bids.outbid(each, last, opinion, urgency))
        last = self._offers.version_of(lane, waiting[0])
        if not 0 <= self._clock() - last.signed_at < pause or is_too_low(last.fees, opinion.market):
            self._raise(lane, self._bids.raised(waiting[0], last, opinion, said, urgency))

    def _raise(self, lane: EndpointLane, raised: tuple[PendingTx, Version] | None) -> None:
        if raised is not None:
            self._pending.save(raised[0])
            self._offers.add(lane, raised[0].nonce, raised[1])

    def _at(self, opinion: Opinion) -> list[PendingTx]:
        """The transactions that wait at an endpoint, by their nonces."""
        pending, last = self._pending.by_nonce, self._pending.free(opinion) + _WIDEST
        return [pending[nonce] for nonce in sorted(pending) if nonce < last and opinion.shows(nonce) is TxStatus.WAITS]

    def _is_near(self, lowest: PendingTx, opinions: Sequence[Opinion]) -> bool:
        """Whether nothing keeps our lowest transaction from being mined, according to one endpoint."""
        return self._pending.is_confirmed(lowest.request.request_id) or any(
            each.mined >= lowest.nonce for each in opinions
        )

    def _missing(self, lowest: PendingTx, opinion: Opinion, opinions: Sequence[Opinion]) -> Sequence[int]:
        """The nonce before all our transactions with which no endpoint has a transaction: another program's was
        dropped, or a reorganisation has removed one that we had believed. Empty where there is none."""
        is_missing = all(max(each.next, each.mined) < lowest.nonce for each in opinions)
        return (max(opinion.next, opinion.mined),) if is_missing else ()

    def _blocked(self, lowest: PendingTx, opinion: Opinion, urgency: Urgency) -> Sequence[int]:
        """The nonces before all our transactions with which another program's transactions wait, and no block takes
        them. That is told; they must be replaced where they hold up an answer, else there are none."""
        if opinion.mined not in self._notified:
            self._report(NonceBlocked(self._account, opinion.mined))
            self._notified.add(opinion.mined)
        return range(opinion.mined, lowest.nonce)[:_WIDEST] if urgency.is_answer else ()

    def _fill(
        self, nonce: int, lane: EndpointLane, opinion: Opinion, opinions: Sequence[Opinion], urgency: Urgency
    ) -> PendingTx:
        """Offer an empty transaction to ourselves with this nonce. Whatever has or had it, no call is done twice."""
        if nonce not in self._pending.by_nonce:
            request = TxRequest(GapFiller(nonce), self._account, b"", 0, urgency.max_cost, gas=_GAP_GAS)
            begun_at, gas = min(each.time for each in opinions), gas_limit(_GAP_GAS, (), 0)
            self._pending.save(self._bids.begin(request, nonce, gas, begun_at, opinion, opinions))
        pending = self._pending.by_nonce[nonce]
        self._offers.add(lane, nonce, self._offers.version_of(lane, pending))
        return pending

    def not_shown(self, opinions: Sequence[Opinion]) -> list[TxRequest]:
        """The requests to sign again, with another nonce, for an endpoint that does not show them as mined or as ones
        that can be mined. Only those that cost gas alone; after a pause, which doubles with each copy."""
        found: dict[RequestId, TxRequest] = {}
        for pending in self._pending.by_nonce.values():
            request = pending.request
            is_ours = isinstance(request.request_id, GapFiller)
            if not request.pays_in and not is_ours and request.request_id not in found:
                is_shown = all(self._pending.shows(each, request.request_id) for each in opinions)
                if not is_shown and self._is_due(pending):
                    found[request.request_id] = request
                    self._tried_at[request.request_id] = self._clock()
        self._tried_at = {each: at for each, at in self._tried_at.items() if self._pending.copies(each)}
        return list(found.values())

    def _is_due(self, pending: PendingTx) -> bool:
        copies = self._pending.copies(pending.request.request_id)
        since = max(each.versions[0].signed_at for each in copies)
        pause = bump_interval([pending], Urgency(pending.request.max_cost), self._bump_after)
        last = max(since, self._tried_at.get(pending.request.request_id, since))
        return not 0 <= self._clock() - last < doubled(pause, len(copies) - 1)
