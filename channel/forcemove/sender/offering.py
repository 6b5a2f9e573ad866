"""Makes the offers of an account's transactions that are due, and takes in what endpoints answer to them: what all
refuse is given up, or taken apart."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from forcemove.chain.errors import InsufficientFunds
from forcemove.errors import PassingError
from forcemove.sender.bids import cannot_pay
from forcemove.sender.errors import CannotPayAnswer, NotTaken
from forcemove.sender.lanes import EndpointLane, EndpointLanes
from forcemove.sender.offers import Offers
from forcemove.sender.opinions import Opinion
from forcemove.sender.pending import PendingTxs
from forcemove.sender.requests import Report, Requests
from forcemove.sender.timing import part_of
from forcemove.sender.transactions import PendingTx, TxFailed

__all__ = ["Offering"]


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
