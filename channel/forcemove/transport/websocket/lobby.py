"""The lobby of a relay, as a client sees it: offers are made, listed, joined. No offer that the relay shows is believed
before its signature is checked; no socket.

After the connection was lost, open requests are made again: every request may arrive twice.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Callable, Collection, Iterable, Iterator
from functools import partial
from itertools import count

from msgspec.structs import replace

from forcemove.errors import ForcemoveError
from forcemove.protocol.signing import Key
from forcemove.protocol.types import Signature
from forcemove.transport import wire
from forcemove.transport.errors import Reason, RelayRefused, refusal
from forcemove.transport.joins import JOINS, Join, OfferStatus, SignedJoin, read_joins
from forcemove.transport.offers import (
    CHANGE_SECONDS,
    MAX_LISTED,
    OFFERS,
    Offer,
    OtherOfferShown,
    SignedOffer,
    read_offer,
    withdrawal_digest,
)
from forcemove.transport.reconnecting import InTime

_REQUEST_ID = 8
"""Bytes."""
_LIST_WATCH = b"list"
"""The id of our request to be told of a change."""
_LISTING_SECONDS = 30.0


_Joins = tuple[tuple[bytes, bytes], ...]
_Answer = wire.OfferShown | wire.OffersListed
_Updates = asyncio.Queue[wire.OfferShown | wire.RequestRefused | ForcemoveError]
"""Has only the newest update of an offer, however many the relay sends."""


class WebSocketLobby:
    """Made by a `connection.RelayConnection`."""

    def __init__(
        self,
        send: Callable[[wire.Message], None],
        clock: Callable[[], float],
        in_time: InTime,
    ) -> None:
        """`send`: sends a message to the relay if there is a connection. `clock`: Unix seconds. `in_time`: waits for an
        answer, and raises where there is none in time."""
        self._send, self._clock, self._in_time = send, clock, in_time
        self._requests: dict[bytes, tuple[wire.Message, asyncio.Future[_Answer]]] = {}
        self._ids = count()
        self._watched: dict[bytes, _Updates] = {}
        self._joined: dict[bytes, wire.JoinOffer] = {}
        self._listed: frozenset[bytes] = frozenset()
        self._seen: dict[bytes, tuple[bool, int, _Joins]] = {}
        self._change, self._is_older = asyncio.Event(), False
        self._failure: ForcemoveError | None = None

    # ------------------------------------------------------------------------------------------------- what players do

    async def make(self, offer: Offer, key: Key) -> bytes:
        """Offer a game; returns the offer's hash, for a link. Raises `RelayRefused`, and `InvalidValue` where the key
        is not the host's."""
        signed = SignedOffer.sign(offer, key)
        encoded = OFFERS.encode(offer)
        answer = await self._ask(lambda id_: wire.MakeOffer(id_, encoded, signed.signature.compact), "to show an offer")
        _read(answer, offer.hash)
        return offer.hash

    async def list(
        self, wanted: Callable[[Offer], bool] = lambda _: True, most: int = MAX_LISTED
    ) -> tuple[OfferStatus, ...]:
        """The open offers for which `wanted` holds, at most this many, in the order of their hashes. Offers that are
        over, or that host and guests have not signed, are left out. However many pages a relay has, it is asked for no
        more after 30 seconds."""
        self._change.clear()
        found: list[OfferStatus] = []
        after, until = bytes(32), time.monotonic() + _LISTING_SECONDS
        while len(found) < most and time.monotonic() < until:
            page = await self._ask(partial(wire.ListOffers, after=after if any(after) else None), "for the open offers")
            if not isinstance(page, wire.OffersListed):
                raise OtherOfferShown(b"")
            fresh = {hash_: each for hash_, each in _decoded(page.offers) if hash_ > after}
            good = (each for _, (each, _) in sorted(fresh.items()) if wanted(each.offer) and _is_sound(each))
            good = (each for each in good if each.offer.expires > self._clock())
            found += [each for signed in good if (each := _with_joins(signed, fresh[signed.offer.hash][1])) is not None]
            if page.is_all or not fresh:
                break
            after = max(fresh)
        return tuple(found[:most])

    async def changed(self, offers: Collection[bytes]) -> None:
        """See `connect.LobbyPort.changed`. A relay that is older than this program tells of these offers alone: there
        new ones do not end the wait."""
        self._is_older = False
        self._send(wire.WatchOffer(_LIST_WATCH, wire.ALL_OFFERS))
        await self._change.wait()
        if self._is_older:
            await self._one_changed(offers)
        if self._failure is not None:
            raise self._failure

    async def _one_changed(self, offers: Collection[bytes]) -> None:
        """Wait until one of these offers has changed, or for some seconds."""
        new = [each for each in offers if each not in self._listed]
        self._listed = frozenset(offers)
        self._seen = {offer: seen for offer, seen in self._seen.items() if offer in self._listed}
        self._change.clear()
        for each in new:
            self._send(wire.WatchOffer(b"", each))
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(CHANGE_SECONDS):
                await self._change.wait()

    async def look(self, offer: bytes) -> OfferStatus:
        """One offer, by its hash. Raises `RelayRefused` where there is none, and `OtherOfferShown`."""
        return _read(await self._ask(partial(wire.WatchOffer, offer=offer), f"for offer 0x{offer.hex()}"), offer)

    async def join(self, offer: bytes, key: Key, payout: bytes, *, chain_id: int, name: str = "") -> OfferStatus:
        """See `connect.LobbyPort.join`.

        - `offer`: the offer's hash.
        - `key`: ours, which signs the join.
        - `payout`: where we are paid, 20 bytes.
        - `chain_id`: of the chain that we play on, 0 for none.
        - `name`: ours, may be empty.
        """
        shown = await self.look(offer)
        shown.offer.require_chain(chain_id)
        shown.offer.require_guest(key.address)
        signed = SignedJoin.sign(Join(offer, key.address, payout, name), key)
        message = wire.JoinOffer(b"", JOINS.encode(signed.join), signed.signature.compact)
        answer = await self._ask(lambda id_: replace(message, id=id_), "to take our join")
        shown = _read(answer, offer)
        if signed not in shown.joins:
            raise RelayRefused(offer, Reason.OFFER_TAKEN, "somebody else has joined")
        self._joined[offer] = message
        return shown

    async def watch(self, offer: bytes) -> AsyncGenerator[OfferStatus]:
        """See `connect.LobbyPort.watch`."""
        updates = self._watched.setdefault(offer, asyncio.Queue(1))
        try:
            shown = await self.look(offer)
            yield shown
            while not shown.is_over:
                shown = await _next(updates, offer)
                yield shown
        finally:
            self._watched.pop(offer, None)
            self._joined.pop(offer, None)

    async def withdraw(self, offer: bytes, key: Key) -> None:
        """Take our offer back. Raises `RelayRefused` where the offer is over already, or not ours."""
        signature = key.sign(withdrawal_digest(offer)).compact
        withdraw = partial(wire.WithdrawOffer, offer=offer, signature=signature)
        _read(await self._ask(withdraw, f"to withdraw offer 0x{offer.hex()}"), offer)

    # -------------------------------------------------------------------------------------------- for the connection

    def unanswered(self) -> Iterator[wire.Message]:
        """The requests to be made again on a new connection."""
        yield from [message for message, _ in self._requests.values()]
        yield from (wire.WatchOffer(b"", offer) for offer in self._watched)
        yield from (message for offer, message in self._joined.items() if offer in self._watched)

    def on_message(self, message: wire.OfferShown | wire.OffersListed | wire.RequestRefused) -> bool:
        """Take in a message about the lobby; whether it was of use."""
        if not isinstance(message, wire.OffersListed) and (updates := self._watched.get(message.about)):
            _replace(updates, message)
        if not isinstance(message, wire.OffersListed) and message.about in self._listed and self._is_change(message):
            self._change.set()
        if message.id == _LIST_WATCH and (isinstance(message, wire.OffersListed) or message.about == wire.ALL_OFFERS):
            is_of_use, self._is_older = not self._change.is_set(), isinstance(message, wire.RequestRefused)
            self._change.set()
            return is_of_use
        _, answer = self._requests.get(message.id, (None, None))
        if answer is None or answer.done():
            return not isinstance(message, wire.OffersListed) and message.about in {*self._watched, *self._listed}
        if isinstance(message, wire.RequestRefused):
            answer.set_exception(refusal(message.about, message.reason, message.detail))
        else:
            answer.set_result(message)
        return True

    def _is_change(self, message: wire.OfferShown | wire.RequestRefused) -> bool:
        """Whether a message says that a listed offer is not as it was. The list is then read again."""
        if isinstance(message, wire.RequestRefused):
            return True
        now = message.is_over, message.until, message.joins
        before = self._seen.get(message.about, now)
        self._seen[message.about] = now
        return message.is_over or bool(message.until) or now != before

    def lose(self) -> None:
        """The connection is lost: nobody tells of changes before the list was asked for again."""
        self._listed = frozenset()
        self._change.set()

    def fail(self, failure: ForcemoveError) -> None:
        """End the lobby: pending calls get the failure."""
        self._failure = failure
        self._change.set()
        for updates in self._watched.values():
            _replace(updates, failure)
        for _, answer in self._requests.values():
            if not answer.done():
                answer.set_exception(failure)

    async def _ask(self, make: Callable[[bytes], wire.Message], asked: str) -> _Answer:
        """The answer to a message, which is made with an id of its own. Raises `RelayUnreachable` if there is none."""
        return await self._in_time(self._answer(make), asked)

    async def _answer(self, make: Callable[[bytes], wire.Message]) -> _Answer:
        if self._failure is not None:
            raise self._failure
        id_ = next(self._ids).to_bytes(_REQUEST_ID)
        message = make(id_)
        answer: asyncio.Future[_Answer] = asyncio.get_running_loop().create_future()
        self._requests[id_] = message, answer
        self._send(message)
        try:
            return await answer
        finally:
            del self._requests[id_]


def _replace(updates: _Updates, message: wire.OfferShown | wire.RequestRefused | ForcemoveError) -> None:
    while not updates.empty():
        updates.get_nowait()
    updates.put_nowait(message)


async def _next(updates: _Updates, offer: bytes) -> OfferStatus:
    message = await updates.get()
    if isinstance(message, ForcemoveError):
        raise message
    if isinstance(message, wire.RequestRefused):
        raise refusal(message.about, message.reason, message.detail)
    return _read(message, offer)


def _read(message: wire.OfferShown | wire.OffersListed, offer: bytes) -> OfferStatus:
    """An offer with this hash, as the relay shows it. Raises `OtherOfferShown`."""
    if not isinstance(message, wire.OfferShown):
        raise OtherOfferShown(offer)
    signed = read_offer(offer, message.offer, message.signature)
    return OfferStatus(signed, read_joins(signed.offer, message.joins), message.until, message.is_over)


def _decoded(listed: Iterable[tuple[bytes, bytes, _Joins]]) -> Iterator[tuple[bytes, tuple[SignedOffer, _Joins]]]:
    """The valid offers of a list with the joins of each, by hash."""
    for offer, signature, joins in listed:
        with contextlib.suppress(ForcemoveError):
            signed = SignedOffer(OFFERS.decode(offer), Signature(signature))
            yield signed.offer.hash, (signed, joins)


def _with_joins(signed: SignedOffer, joins: _Joins) -> OfferStatus | None:
    """The listed offer with its joins, None where they are none of its guests."""
    try:
        return OfferStatus(signed, read_joins(signed.offer, joins), 0, False)
    except OtherOfferShown:
        return None


def _is_sound(signed: SignedOffer) -> bool:
    try:
        signed.verify()
    except ForcemoveError:
        return False
    return True
