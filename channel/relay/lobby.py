"""The lobby: which offers are open, who has joined one, and when a join that came to nothing gives an offer back."""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from forcemove.channel.errors import ForcemoveError
from forcemove.channel.line.errors import Reason
from forcemove.channel.line.offers import (
    JOINS,
    OFFERS,
    Offer,
    SignedJoin,
    SignedOffer,
    meeting_table,
    withdrawal_digest,
)
from forcemove.channel.line.wire import (
    JoinOffer,
    ListOffers,
    MakeOffer,
    OfferShown,
    OffersListed,
    WithdrawOffer,
    encode,
)
from forcemove.channel.protocol.signing import require_signer
from forcemove.channel.protocol.types import Signature
from forcemove.channel.relay.limits import Limits
from forcemove.channel.relay.storage.store import RelayStore
from forcemove.channel.relay.storage.worker import Worker

__all__ = ["Lobby", "NotOffered", "Watcher"]

_LONGEST_OFFER = 7 * 24 * 60 * 60
_PAGE = 30
"""Offers in one answer: they fit into a frame."""


class NotOffered(Exception):
    """What is asked of the lobby is not done: `about` which offer, `reason`, `detail`. A peer is refused."""

    def __init__(self, about: bytes, reason: Reason, detail: str) -> None:
        super().__init__(detail)
        self.about, self.reason, self.detail = about, reason, detail


class Watcher(Protocol):
    """Who is told what happens to an offer."""

    def say(self, message: bytes) -> None:
        """Send an encoded message."""
        ...


@dataclass(eq=False)
class _Shown:
    """An offer, and the join that it waits for until `until` (Unix seconds); `table`: where the two meet, and who of
    them is `here`."""

    signed: SignedOffer
    join: SignedJoin | None = None
    until: int = 0
    table: bytes = b""
    here: set[bytes] = field(default_factory=set)
    is_over: bool = False
    watchers: set[Watcher] = field(default_factory=set)

    def message(self, request: bytes = b"") -> bytes:
        offer, join = self.signed.offer, self.join
        return encode(
            OfferShown(
                request,
                offer.hash,
                OFFERS.encode(offer),
                self.signed.signature.compact,
                self.is_over,
                None if join is None else JOINS.encode(join.join),
                None if join is None else join.signature.compact,
                self.until,
            )
        )


class Lobby:
    """The offers of a relay. Joins are not kept on disk: a relay that starts again has all its offers open."""

    def __init__(
        self,
        store: RelayStore,
        worker: Worker,
        limits: Limits,
        chains: frozenset[int],
        clock: Callable[[], float],
    ) -> None:
        """`chains`: the ids of the chains for which offers are taken; all if it is empty. `clock`: Unix seconds."""
        self._store, self._worker, self._limits = store, worker, limits
        self._chains, self._clock = chains, clock
        self._shown: dict[bytes, _Shown] = {}
        self._meetings: dict[bytes, _Shown] = {}

    @property
    def count(self) -> int:
        """How many offers there are."""
        return len(self._shown)

    async def start(self) -> None:
        """Show what was kept."""
        for offer, signature in await self._worker.run(self._store.offers):
            signed = SignedOffer(OFFERS.decode(offer), Signature(signature))
            self._shown[signed.offer.hash] = _Shown(signed)

    async def make(self, message: MakeOffer) -> bytes:
        """Take an offer; returns its hash. Raises `NotOffered`."""
        try:
            signed = SignedOffer(OFFERS.decode(message.offer), Signature(message.signature))
            signed.verify()
        except ForcemoveError as error:
            raise NotOffered(bytes(32), Reason.BAD_SIGNATURE, f"{error!s:.160}") from None
        offer = signed.offer
        if offer.hash not in self._shown:  # a client asks again when its connection was lost
            self._require_wanted(offer)
            await self._worker.run(self._store.keep_offer, offer.hash, message.offer, message.signature)
            self._shown.setdefault(offer.hash, _Shown(signed))
        return offer.hash

    def _require_wanted(self, offer: Offer) -> None:
        now = int(self._clock())
        if not now < offer.expires <= now + _LONGEST_OFFER:
            raise NotOffered(offer.hash, Reason.EXPIRED, f"here it is {now}; an offer may be good for a week")
        if self._chains and offer.chain_id not in self._chains:
            known = ", ".join(map(str, sorted(self._chains)))
            raise NotOffered(offer.hash, Reason.OTHER_CHAIN, f"this relay takes offers for {known}"[:200])
        if len(self._shown) >= self._limits.offers:
            raise NotOffered(offer.hash, Reason.TOO_MANY_OFFERS, "the lobby is full")
        if sum(each.signed.offer.host == offer.host for each in self._shown.values()) >= self._limits.offers_of_a_host:
            raise NotOffered(offer.hash, Reason.TOO_MANY_OFFERS, "this host has as many offers as it may have")

    async def withdraw(self, message: WithdrawOffer) -> bytes:
        """Take an offer back; returns the answer. Raises `NotOffered`."""
        shown = self._find(message.offer)
        try:
            require_signer(withdrawal_digest(message.offer), Signature(message.signature), shown.signed.offer.host)
        except ForcemoveError:
            raise NotOffered(message.offer, Reason.BAD_SIGNATURE, "only its host may withdraw it") from None
        await self._end(shown)
        return shown.message(message.id)

    def join(self, message: JoinOffer) -> bytes:
        """Let somebody join; returns the offer's hash. Raises `NotOffered`."""
        try:
            join = SignedJoin(JOINS.decode(message.join), Signature(message.signature))
            join.verify()
        except ForcemoveError as error:
            raise NotOffered(bytes(32), Reason.BAD_SIGNATURE, f"{error!s:.160}") from None
        shown = self._find(join.join.offer)
        if shown.join is not None and shown.join != join:
            raise NotOffered(join.join.offer, Reason.OFFER_TAKEN, f"somebody has joined; until {shown.until}")
        if join.join.guest == shown.signed.offer.host:
            raise NotOffered(join.join.offer, Reason.NOT_A_PARTICIPANT, "a host does not join its own offer")
        if shown.join is None:
            self._take(shown, join)
        return join.join.offer

    def _take(self, shown: _Shown, join: SignedJoin) -> None:
        shown.join, shown.here = join, set()
        shown.until = int(self._clock() + self._limits.join_seconds)
        shown.table = meeting_table(shown.signed.offer, join.join).id
        self._meetings[shown.table] = shown
        asyncio.get_running_loop().call_later(self._limits.join_seconds, self._reopen, shown, join)
        self._tell(shown)

    def _reopen(self, shown: _Shown, join: SignedJoin) -> None:
        """Unless the game has begun, or another join came since."""
        if shown.join is join and not shown.is_over:
            del self._meetings[shown.table]
            shown.join, shown.until = None, 0
            self._tell(shown)

    async def arrive(self, table: bytes, participant: bytes) -> None:
        """Somebody has proved to be at a table: when both are, the offer is over."""
        shown = self._meetings.get(table)
        if shown is None:
            return
        shown.here.add(participant)
        if len(shown.here) > 1:
            await self._end(shown)

    def listed(self, asked: ListOffers) -> bytes:
        """A page of the open offers, in the order of their hashes."""
        hashes = sorted(hash_ for hash_, shown in self._shown.items() if shown.join is None and self._is_good(shown))
        start = 0 if asked.after is None else bisect_right(hashes, asked.after)
        page = [self._shown[hash_].signed for hash_ in hashes[start : start + _PAGE]]
        offers = tuple((OFFERS.encode(each.offer), each.signature.compact) for each in page)
        return encode(OffersListed(asked.id, offers, start + _PAGE >= len(hashes)))

    def watch(self, offer: bytes, watcher: Watcher, request: bytes) -> None:
        """Show it to somebody, now and whenever something happens to it. Raises `NotOffered`."""
        shown = self._find(offer)
        shown.watchers.add(watcher)
        watcher.say(shown.message(request))

    def forget(self, watcher: Watcher, offers: set[bytes]) -> None:
        """Somebody has gone."""
        for offer in offers:
            if shown := self._shown.get(offer):
                shown.watchers.discard(watcher)

    async def expire(self) -> None:
        """End the offers that are not good any more."""
        for shown in [each for each in self._shown.values() if not self._is_good(each)]:
            await self._end(shown)

    def _find(self, offer: bytes) -> _Shown:
        shown = self._shown.get(offer)
        if shown is None or not self._is_good(shown):
            raise NotOffered(offer, Reason.UNKNOWN_OFFER, "there is no such offer any more")
        return shown

    def _is_good(self, shown: _Shown) -> bool:
        return shown.signed.offer.expires > self._clock()

    async def _end(self, shown: _Shown) -> None:
        shown.is_over = True
        hash_ = shown.signed.offer.hash
        self._shown.pop(hash_, None)
        self._meetings.pop(shown.table, None)
        self._tell(shown)
        await self._worker.run(self._store.drop_offer, hash_)

    def _tell(self, shown: _Shown) -> None:
        message = shown.message()
        for watcher in shown.watchers:
            watcher.say(message)
