"""The lobby: which offers there are, who may make one, and when it ends. Who has a seat is `seating`."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable

from forcemove.errors import ForcemoveError
from forcemove.protocol.signing import require_signer
from forcemove.protocol.types import Signature
from forcemove.relay.admission.accounts import AddressAccount
from forcemove.relay.limits import Limits
from forcemove.relay.offers.listing import Listing, ListWatchers
from forcemove.relay.offers.seating import Seating
from forcemove.relay.offers.shown import NotOffered, Shown
from forcemove.relay.storage.store import RelayStore
from forcemove.relay.storage.worker import Worker
from forcemove.relay.tables import TableClient
from forcemove.transport.errors import Reason
from forcemove.transport.joins import JOINS, SignedJoin
from forcemove.transport.offers import OFFERS, Offer, SignedOffer, withdrawal_digest
from forcemove.transport.wire import JoinOffer, ListOffers, MakeOffer, WithdrawOffer

_LONGEST_OFFER = 7 * 24 * 60 * 60


class Lobby:
    """The offers of a relay. Joins are not kept on disk: a relay that starts again has all its offers open.
    `list_watchers`: the clients that wait for the list to change."""

    def __init__(
        self,
        store: RelayStore,
        worker: Worker,
        limits: Limits,
        chains: frozenset[int],
        clock: Callable[[], float],
    ) -> None:
        """What the lobby works with.

        - `store`: where offers are kept.
        - `worker`: the threads in which the store is used.
        - `limits`: how many offers there may be, and how long a join holds.
        - `chains`: the ids of the chains for which offers are taken; all if it is empty.
        - `clock`: Unix seconds.
        """
        self._store, self._worker, self._limits = store, worker, limits
        self._chains, self._clock = chains, clock
        self._shown: dict[bytes, Shown] = {}
        self._seating = Seating(limits, clock, self._on_change)
        self.list_watchers = ListWatchers()
        self._listing = Listing(self.list_watchers.change)
        self._timers: dict[bytes, asyncio.TimerHandle] = {}
        self._by_host, self._by_maker = Counter[bytes](), dict[str, dict[bytes, None]]()

    @property
    def count(self) -> int:
        """How many offers there are."""
        return len(self._shown)

    def find(self, offer: bytes) -> Offer | None:
        """The offer of this hash, None where there is none."""
        shown = self._shown.get(offer)
        return None if shown is None else shown.signed.offer

    async def start(self) -> None:
        """Show the offers that are in the store."""
        for offer, signature in await self._worker.run(self._store.offers):
            self._show(Shown(SignedOffer(OFFERS.decode(offer), Signature(signature))))

    async def make(self, message: MakeOffer, account: AddressAccount) -> bytes:
        """Take an offer from a client's address; returns its hash. Raises `NotOffered`."""
        try:
            signed = SignedOffer(OFFERS.decode(message.offer), Signature(message.signature))
            signed.verify()
        except ForcemoveError as error:
            raise NotOffered(bytes(32), Reason.BAD_SIGNATURE, f"{error!s:.160}") from None
        offer = signed.offer
        if offer.hash not in self._shown:  # a client repeats the request when its connection was lost
            self._require_wanted(offer, account)
            await self._make_room(offer, account)
            await self._worker.run(self._store.keep_offer, offer.hash, message.offer, message.signature)
            if offer.hash not in self._shown:
                self._show(Shown(signed, account.address))
        return offer.hash

    def _show(self, shown: Shown) -> None:
        self._shown[shown.hash] = shown
        self._by_host[shown.signed.offer.host] += 1
        self._by_maker.setdefault(shown.maker, {})[shown.hash] = None
        self._list(shown)
        self._expire_in_time(shown)

    def _expire_in_time(self, shown: Shown) -> None:
        """Tell who watches an offer when it has expired. `expire` forgets it later."""
        if self._is_good(shown):
            left = shown.signed.offer.expires - self._clock()
            self._timers[shown.hash] = asyncio.get_running_loop().call_later(left, self._expire_in_time, shown)
        elif not shown.is_over:
            self._close(shown)

    def _list(self, shown: Shown) -> None:
        signed = shown.signed
        self._listing.add(shown.hash, shown.encoded, signed.signature.compact, signed.offer.expires, shown.joins)

    def _require_wanted(self, offer: Offer, account: AddressAccount) -> None:
        now = int(self._clock())
        if not now < offer.expires <= now + _LONGEST_OFFER:
            raise NotOffered(offer.hash, Reason.EXPIRED, f"here it is {now}; an offer may be good for a week")
        if self._chains and offer.chain_id not in self._chains:
            known = ", ".join(map(str, sorted(self._chains)))
            raise NotOffered(offer.hash, Reason.OTHER_CHAIN, f"this relay takes offers for {known}"[:200])
        if self._by_host[offer.host] >= self._limits.offers_of_a_host:
            raise NotOffered(offer.hash, Reason.TOO_MANY_OFFERS, "this host has as many offers as it may have")
        if len(self._by_maker.get(account.address, ())) >= self._limits.offers_per_address:
            raise NotOffered(offer.hash, Reason.TOO_MANY_OFFERS, "your address has made as many offers as it may")

    async def _make_room(self, offer: Offer, account: AddressAccount) -> None:
        """In a full lobby, end the oldest offer of the address with the most offers."""
        if len(self._shown) < self._limits.offers:
            return
        most = max(self._by_maker.values(), key=len)
        if len(self._by_maker.get(account.address, ())) >= len(most):
            raise NotOffered(offer.hash, Reason.TOO_MANY_OFFERS, "the lobby is full")
        await self._end(self._shown[next(iter(most))])

    async def withdraw(self, message: WithdrawOffer) -> bytes:
        """End an offer for its host; returns the encoded answer. Raises `NotOffered`."""
        shown = self._find(message.offer)
        try:
            require_signer(withdrawal_digest(message.offer), Signature(message.signature), shown.signed.offer.host)
        except ForcemoveError:
            raise NotOffered(message.offer, Reason.BAD_SIGNATURE, "only its host may withdraw it") from None
        await self._end(shown)
        return shown.message(message.id)

    def read(self, message: JoinOffer) -> SignedJoin:
        """The join that a client has sent. Raises `NotOffered` where its guest has not signed it."""
        try:
            join = SignedJoin(JOINS.decode(message.join), Signature(message.signature))
            join.verify()
        except ForcemoveError as error:
            raise NotOffered(bytes(32), Reason.BAD_SIGNATURE, f"{error!s:.160}") from None
        return join

    def join(self, join: SignedJoin, account: AddressAccount, holder: TableClient) -> None:
        """Let a guest join an offer from an address. `holder`: the connection that holds the guest's seat as long as it
        lives. Raises `NotOffered`."""
        self._seating.join(self._find(join.join.offer), join, account, holder)

    def _on_change(self, shown: Shown) -> None:
        """Show an offer whose guests have changed as it is now."""
        if shown.gathering is None and self._is_good(shown) and not shown.is_over:
            self._list(shown)
        else:
            self._listing.drop(shown.hash)
        self._notify(shown)

    async def arrive(self, table: bytes, participant: bytes) -> None:
        """A participant has proved to be at a table; when all players of an offer are at theirs, the offer is over."""
        if (shown := self._seating.arrive(table, participant)) is not None:
            await self._end(shown, has_begun=True)

    def listed(self, asked: ListOffers) -> bytes:
        """The encoded answer with a page of the open offers, in the order of their hashes."""
        return self._listing.answer(asked.id, asked.after, self._clock())

    def watch(self, offer: bytes, watcher: TableClient, request: bytes) -> None:
        """Send an offer to a client, now and after each change. `request`: the id of the client's request. Raises
        `NotOffered`."""
        shown = self._find(offer)
        shown.watchers.add(watcher)
        watcher.say(shown.message(request))

    def forget(self, watcher: TableClient, offers: set[bytes]) -> None:
        """Send the changes of these offers, and of the list, to a client no more."""
        self.list_watchers.forget(watcher)
        for offer in offers:
            if shown := self._shown.get(offer):
                shown.watchers.discard(watcher)
                self._seating.leave(shown, watcher)

    async def expire(self) -> None:
        """End the offers that are not good any more."""
        for shown in [each for each in self._shown.values() if not self._is_good(each)]:
            await self._end(shown)

    def _find(self, offer: bytes) -> Shown:
        shown = self._shown.get(offer)
        if shown is None or not self._is_good(shown):
            raise NotOffered(offer, Reason.UNKNOWN_OFFER, "there is no such offer any more")
        return shown

    def _is_good(self, shown: Shown) -> bool:
        return shown.signed.offer.expires > self._clock()

    async def _end(self, shown: Shown, *, has_begun: bool = False) -> None:
        """End an offer, and forget it."""
        if self._shown.pop(shown.hash, None) is not None:
            self._forget(shown)
        self._close(shown, has_begun=has_begun)
        await self._worker.run(self._store.drop_offer, shown.hash)

    def _close(self, shown: Shown, *, has_begun: bool = False) -> None:
        """Show those who watch an offer that it is over, and who plays, if its game has begun."""
        shown.is_over = True
        self._seating.forget(shown)
        self._listing.drop(shown.hash)
        if not has_begun:
            shown.guests = []
        self._notify(shown)

    def _forget(self, shown: Shown) -> None:
        if (timer := self._timers.pop(shown.hash, None)) is not None:
            timer.cancel()
        host, made = shown.signed.offer.host, self._by_maker[shown.maker]
        self._by_host[host] -= 1
        if not self._by_host[host]:
            del self._by_host[host]
        del made[shown.hash]
        if not made:
            del self._by_maker[shown.maker]

    def _notify(self, shown: Shown) -> None:
        message = shown.message()
        for watcher in shown.watchers:
            watcher.say(message)
