"""What waits is offered again, and more is offered for it: to each endpoint by its own words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from forcemove.sender.bids import Bids
from forcemove.sender.flight import Flight
from forcemove.sender.lanes import Lane
from forcemove.sender.offers import Offers
from forcemove.sender.opinions import Opinion, Shown
from forcemove.sender.pricing import Urgency, gas_limit, is_too_low
from forcemove.sender.timing import borne, urgency_of
from forcemove.sender.transactions import Flying, Wanted

__all__ = ["GAP", "Waiting"]

GAP = b"gap at "
_GAP_GAS = 21_000
_WIDEST = 16
"""What waits behind so many missing nonces is still offered; behind more it is only an endpoint's word for them."""


class Waiting:
    """Of an account (20 bytes). `patience`, `clock`: as of `Sender`."""

    def __init__(
        self, account: bytes, flight: Flight, bids: Bids, offers: Offers, patience: float, clock: Callable[[], float]
    ) -> None:
        self._account, self._flight, self._bids, self._offers = account, flight, bids, offers
        self._patience, self._clock = patience, clock
        self._tried_at: dict[bytes, float] = {}

    def offer(self, lane: Lane, opinions: Mapping[Lane, Opinion]) -> None:
        """Nodes forget, and we may have died before we sent it. `opinions`: with prices."""
        opinion, said = opinions[lane], tuple(opinions.values())
        waiting = self._at(opinion)
        for each in waiting:
            if each.nonce in opinion.seen and not opinion.seen[each.nonce].is_known:
                self._offers.add(lane, each.nonce, self._offers.version_of(lane, each))
        if not waiting:
            return
        urgency = urgency_of(waiting, opinion.time, [each.time for each in said], self._clock(), self._patience)
        pause = borne(waiting, urgency, self._patience)
        if opinion.time - waiting[0].begun_at >= pause and self._has_gap(waiting[0], said):
            waiting.insert(0, self._close_gap(lane, opinion, said, urgency))
        last = self._offers.version_of(lane, waiting[0])
        if self._clock() - last.signed_at >= pause or is_too_low(last.fees, opinion.market):
            raised = self._bids.raised(waiting[0], last, opinion, said, urgency)
            if raised is not None:
                self._flight.keep(raised[0])
                self._offers.add(lane, waiting[0].nonce, raised[1])

    def _at(self, opinion: Opinion) -> list[Flying]:
        """By their nonces."""
        flying = self._flight.flying
        last = opinion.free(flying) + _WIDEST
        return [flying[nonce] for nonce in sorted(flying) if nonce < last and opinion.shows(nonce) is Shown.WAITS]

    def _has_gap(self, lowest: Flying, opinions: Sequence[Opinion]) -> bool:
        """Of a nonce before all of ours no node may have a transaction any more: another program's was dropped, or one
        of ours was undone after we had believed in it. Nothing of ours would ever be mined then."""
        is_behind = all(max(each.next, each.mined) < lowest.nonce for each in opinions)
        return is_behind and not self._flight.has_landed(lowest.wanted.purpose)

    def _close_gap(self, lane: Lane, opinion: Opinion, opinions: Sequence[Opinion], urgency: Urgency) -> Flying:
        """Our patience has ended by the chain's clock: an empty transaction to ourselves takes its place. Whatever was
        there, nothing is done twice."""
        nonce = max(opinion.next, opinion.mined)
        if nonce not in self._flight.flying:
            wanted = Wanted(GAP + str(nonce).encode(), self._account, b"", 0, urgency.most, gas=_GAP_GAS)
            begun_at, gas = min(each.time for each in opinions), gas_limit(_GAP_GAS, (), 0)
            self._flight.keep(self._bids.begin(wanted, nonce, gas, begun_at, opinion, opinions))
        flying = self._flight.flying[nonce]
        self._offers.add(lane, nonce, self._offers.version_of(lane, flying))
        return flying

    def not_shown(self, opinions: Sequence[Opinion]) -> list[Wanted]:
        """What costs gas alone, and cannot be mined, or was not, by somebody's word: to be signed with that endpoint's
        own nonce. When our patience has ended, then when it has ended twice, and so on."""
        found: dict[bytes, Wanted] = {}
        for flying in self._flight.flying.values():
            wanted = flying.wanted
            if not wanted.pays_in and not wanted.purpose.startswith(GAP) and wanted.purpose not in found:
                is_shown = all(self._flight.shows(each, wanted.purpose) for each in opinions)
                if not is_shown and self._is_due(flying):
                    found[wanted.purpose] = wanted
                    self._tried_at[wanted.purpose] = self._clock()
        self._tried_at = {each: at for each, at in self._tried_at.items() if self._flight.copies(each)}
        return list(found.values())

    def _is_due(self, flying: Flying) -> bool:
        copies = self._flight.copies(flying.wanted.purpose)
        since = max(each.versions[0].signed_at for each in copies)
        pause = borne([flying], Urgency(flying.wanted.most), self._patience)
        last = max(since, self._tried_at.get(flying.wanted.purpose, since))
        return self._clock() - last >= pause * 2.0 ** (len(copies) - 1)
