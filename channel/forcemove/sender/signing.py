"""Makes transactions of requests: with which nonces, and for which endpoints.

Where the endpoints differ, what costs gas alone is signed with each endpoint's nonce; what pays in waits until all that
count have said the same. An answer to a challenge waits for no slow endpoint: at the second look it is signed by what
is known of the account, and by our own table of gas.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from forcemove.chain.chain import Chain
from forcemove.chain.errors import InsufficientFunds
from forcemove.errors import ForcemoveError, PassingError
from forcemove.sender.approvals import approval_of, is_behind, without_effect
from forcemove.sender.bids import Bids, cannot_pay
from forcemove.sender.errors import GasTooDear, OpinionsDiffer
from forcemove.sender.lanes import EndpointLane
from forcemove.sender.offers import Offers
from forcemove.sender.opinions import Opinion
from forcemove.sender.pending import PendingTxs
from forcemove.sender.pricing import gas_limit, price_of
from forcemove.sender.requests import Report, Requests, UnsignedRequest
from forcemove.sender.timing import RequestPace
from forcemove.sender.transactions import Approval, GapFiller, RequestId, TxFailed, TxRequest

_MAX_APPROVALS = 3
"""So many approvals may be confirmed for one deposit."""
_WAITS, _WAITS_REFUSED = 1, 5
"""Looks for which an answer waits for the estimate of an endpoint; and where another endpoint says that it would fail,
or it has failed before."""


class Signer:
    """Signs for one account."""

    def __init__(
        self,
        chain: Chain,
        account: bytes,
        pending: PendingTxs,
        bids: Bids,
        offers: Offers[EndpointLane],
        pace: RequestPace,
        requests: Requests,
        report: Report,
        fresh: set[int],
    ) -> None:
        """Work for a `Sender`.

        - `chain`: the chain, through any endpoint.
        - `account`: its address, 20 bytes.
        - `pending`: the account's transactions that are on their way.
        - `bids`: signs.
        - `offers`: takes what is to be offered.
        - `pace`: when each request may be sent again.
        - `requests`: what is to be sent.
        - `report`: is given refusals, and what is in the way.
        - `fresh`: is given the nonce of each new transaction; those are taken out of which an endpoint has answered an
          offer.
        """
        self._chain, self._account = chain, account
        self._pending, self._offers, self._bids, self._pace = pending, offers, bids, pace
        self._requests, self._report = requests, report
        self._given_up: set[RequestId] = set()
        self._fresh = fresh

    def sign(self, opinions: Mapping[EndpointLane, Opinion], awaited: Collection[EndpointLane]) -> None:
        """Sign what can be signed now, the nearest deadlines first. `opinions`: with prices, the newest of each
        endpoint that counts. `awaited`: the endpoints that may still say something of a request."""
        if not opinions:
            return
        before = [
            each.request
            for nonce, each in self._pending.by_nonce.items()
            if each.request.allowance is not None and nonce not in self._pending.announced
        ]
        for each in self._requests.by_deadline():
            id_ = each.request.request_id
            if self._pace.allows(id_) and (each.is_again or not is_behind(each.request, before)):
                self._sign(each, opinions, awaited)
            if each.request.allowance is not None and (id_ in self._requests or self._pending.is_waiting(id_)):
                before.append(each.request)

    def _sign(
        self, waiting: UnsignedRequest, opinions: Mapping[EndpointLane, Opinion], awaited: Collection[EndpointLane]
    ) -> None:
        """Sign a request, and have it offered. It waits while it is not known whether the chain would take it, and
        until the allowance that it needs is mined."""
        request, id_ = waiting.request, waiting.request.request_id
        said = {
            lane: each
            for lane, each in opinions.items()
            if lane.look > waiting.since and (id_ in each.gas or id_ in each.not_allowed)
        }
        is_missing = not said or any(lane not in said for lane in awaited)
        waits_for_all = request.pays_in or not self._pace.allows_alone(id_)
        if (waits_for_all and is_missing) or not self._is_allowed(request, tuple(said.values())):
            return
        answers = [each.gas[id_] for each in said.values()]
        estimates = [each for each in answers if isinstance(each, int)]
        if not estimates and not self._goes_without(waiting, answers, tuple(said.values()), is_missing=is_missing):
            return
        if any(map(_refusal, answers)) and not self._pace.allows_alone(id_):
            return
        gas, everybody = gas_limit(request.gas, estimates, self._pace.reverts(id_)), tuple(opinions.values())
        if request.deadline is None and self._bids.is_too_dear(request, gas, everybody):
            cost = gas * min(price_of(each.market) for each in everybody)  # an answer is offered its worth
            self._refuse(waiting, GasTooDear(cost, request.max_cost))
            return
        self._sign_for_all(waiting, gas, opinions)

    def _goes_without(
        self,
        waiting: UnsignedRequest,
        answers: Sequence[int | ForcemoveError],
        said: Sequence[Opinion],
        *,
        is_missing: bool,
    ) -> bool:
        """Whether a request is signed though no endpoint has estimated its gas: an answer, where one endpoint cannot
        tell, or has not in time. What all find that would fail is refused."""
        request, refusals = waiting.request, [each for each in map(_refusal, answers) if each is not None]
        failures = [each for each in answers if isinstance(each, PassingError)]
        if waiting.is_defence and (is_missing or failures):
            waits = _WAITS_REFUSED if refusals or self._pace.reverts(request.request_id) else _WAITS
            return bool(failures) or self._requests.look - waiting.since > waits
        if is_missing:
            return False
        if not refusals:
            self._report.in_the_way = failures[0]
            return False
        error = refusals[0]
        if isinstance(error, InsufficientFunds):
            price = min(price_of(each.market) for each in said)
            error = cannot_pay(error, request, gas_limit(request.gas, (), 0) * price, said)
        self._refuse(waiting, error)
        return False

    def _is_allowed(self, request: TxRequest, said: Sequence[Opinion]) -> bool:
        """Whether the adjudicator may take the tokens that a request needs; else an approval is asked for, once. Where
        two were confirmed in vain that is told, and after the third no more are sent."""
        allowed = [request.request_id not in each.not_allowed for each in said]
        needed, approval_id = request.allowance, Approval(request.request_id)
        if needed is None or all(allowed):
            return True
        if any(allowed):
            self._report.in_the_way = OpinionsDiffer(self._account, "allowance", tuple(map(int, allowed)))
        elif approval_id not in self._requests and not self._pending.is_waiting(approval_id):
            times = self._pace.confirmations(approval_id)
            error = without_effect(request, needed, times, said)
            if times < _MAX_APPROVALS:
                self._requests.add(approval_of(self._chain, request, needed, said))
                self._report.errors += [error] if times > 1 else []
            elif approval_id not in self._given_up:
                self._given_up.add(approval_id)
                self._refuse(UnsignedRequest(request, 0), error)
        return False

    def _refuse(self, waiting: UnsignedRequest, error: ForcemoveError) -> None:
        if waiting.request.parts and not waiting.is_again:
            self._requests.take_apart(waiting.request)
            return
        self._requests.remove([waiting.request.request_id])
        if not waiting.is_again:
            self._report.outcomes.append(TxFailed(waiting.request.request_id, error))

    def _sign_for_all(self, waiting: UnsignedRequest, gas: int, opinions: Mapping[EndpointLane, Opinion]) -> None:
        """Sign a request with one nonce where all endpoints agree on it. Where they differ one that pays in waits, and
        any other is signed with each endpoint's nonce."""
        request, said = waiting.request, tuple(opinions.values())
        lacking = [each for each in said if self._pending.lacks(each, request.request_id)]
        if waiting.is_again:
            id_ = request.request_id
            lacking = [each for each in lacking if not self._pending.shows(each, id_)]
            lacking = [each for each in lacking if not isinstance(each.gas.get(id_), ForcemoveError)]
        nonces = tuple(map(self._pending.free, said))
        if request.pays_in and len(set(nonces)) > 1:
            self._report.in_the_way = OpinionsDiffer(self._account, "nonce", nonces)
            return
        for nonce, opinion in sorted({self._pending.free(each): each for each in lacking}.items()):
            self._begin(request, nonce, gas, opinion, said)
        for lane in opinions:
            self._fit(lane, self._fresh & self._pending.by_request.get(request.request_id, {}).keys(), opinions)
        if waiting.is_again or lacking:
            self._requests.remove([request.request_id])

    def _begin(self, request: TxRequest, nonce: int, gas: int, opinion: Opinion, said: Sequence[Opinion]) -> None:
        begun_at = min(each.time for each in said)
        self._pending.save(self._bids.begin(request, nonce, gas, begun_at, opinion, said))
        self._fresh.add(nonce)

    def _fit(self, lane: EndpointLane, nonces: Collection[int], opinions: Mapping[EndpointLane, Opinion]) -> None:
        """Have an endpoint offered those of these transactions that can be mined there, at its own prices."""
        opinion, said = opinions[lane], tuple(opinions.values())
        for nonce in nonces:
            if self._pending.is_reachable(opinion, nonce):
                fitted, version = self._bids.fit(self._pending.by_nonce[nonce], opinion, said)
                self._pending.save(fitted)
                self._offers.add(lane, nonce, version)

    def catch_up(self, lane: EndpointLane, opinions: Mapping[EndpointLane, Opinion]) -> None:
        """Have an endpoint that has answered later than others offered what was signed meanwhile, with a nonce of its
        own where none can be mined there."""
        opinion, said = opinions[lane], tuple(opinions.values())
        for request_id, nonces in tuple(self._pending.by_request.items()):
            if not self._offers.is_new(lane, nonces):
                continue
            if request_id in lane.reverted and not self._pace.allows(request_id):
                continue
            first = self._pending.copies(request_id)[0]
            is_ours = first.request.pays_in or isinstance(request_id, GapFiller)
            if not is_ours and not self._pending.shows(opinion, request_id):
                self._begin(first.request, self._pending.free(opinion), first.gas, opinion, said)
            self._fit(lane, tuple(self._pending.by_request[request_id]), opinions)


def _refusal(answer: int | ForcemoveError) -> ForcemoveError | None:
    return None if isinstance(answer, int | PassingError) else answer
