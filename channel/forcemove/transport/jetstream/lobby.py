"""The lobby in a bucket of a NATS server, for tables of two: nothing on such a server notices that a guest who waits
for others has gone, so that offers for more are for a relay. Each offer is one value under its hash, changed by
comparing and swapping, so that of several guests one is accepted, and all see which. No value is believed before its
signature is checked."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable, Collection, Coroutine
from typing import Any, Protocol, TypeVar

from nats.js.errors import BadRequestError, NotFoundError

from forcemove.errors import UnknownVersion
from forcemove.protocol.signing import Key
from forcemove.transport.errors import Reason, RelayRefused, TwoSeatsOnly
from forcemove.transport.jetstream.feed import LAST_SEQ, NEWEST, Delivered, From
from forcemove.transport.jetstream.session import NatsSession
from forcemove.transport.jetstream.stored_offer import LONGEST_OFFER, LobbyEntry, StoredOffer, read_entry
from forcemove.transport.jetstream.streams import BUCKET, LOBBY_SUBJECT
from forcemove.transport.joins import Join, OfferStatus, SignedJoin
from forcemove.transport.offers import (
    CHANGE_SECONDS,
    MAX_LISTED,
    MIN_SEATS,
    Offer,
    OtherOfferShown,
    SignedOffer,
    withdrawal_digest,
)

JOIN_SECONDS = 60.0
"""Seconds that host and guest have to be at their table."""
_POLL_SECONDS = 0.25
_OFFERS_OF_A_HOST = 20
_MAX_MEETINGS = 10_000
_MAX_READ = 10_000
"""Values of the bucket that are read at once."""
_AT_ONCE = 64
"""Values that are checked before other tasks get their turn."""
_CHANGED = frozenset({10_071, 10_164})
"""The server's error codes for a value whose revision is not the expected one any more."""
ResultT = TypeVar("ResultT")


class _Ask(Protocol):
    async def __call__(self, do: Callable[[NatsSession], Coroutine[Any, Any, ResultT]], asked: str) -> ResultT: ...


class JetStreamLobby:
    """Made by a `connection.JetStreamConnection`."""

    def __init__(self, ask: _Ask, join_seconds: float) -> None:
        """`ask`: makes a request on the connection, and again where that was lost. `join_seconds`: see `JOIN_SECONDS`;
        the same for all who use the lobby."""
        self._ask, self._join_seconds = ask, join_seconds
        self._meetings: dict[bytes, bytes] = {}
        self._listed = 0

    # ------------------------------------------------------------------------------------------------- what players do

    async def make(self, offer: Offer, key: Key) -> bytes:
        """Offer a game; returns the offer's hash, for a link. Raises `RelayRefused`, `TwoSeatsOnly`, and `InvalidValue`
        where the key is not the host's."""
        if offer.seats != MIN_SEATS:
            raise TwoSeatsOnly(offer.seats)
        signed = SignedOffer.sign(offer, key)
        await self._require_wanted(offer)
        while True:
            found = await self._read(offer.hash)
            if isinstance(found, LobbyEntry):
                _require_open(found)
                return offer.hash
            if await self._write(offer.hash, StoredOffer.of(signed), found):
                return offer.hash

    async def list(
        self, wanted: Callable[[Offer], bool] = lambda _: True, most: int = MAX_LISTED
    ) -> tuple[OfferStatus, ...]:
        """The open offers for which `wanted` holds, at most this many, in the order of their hashes. Offers that are
        over, or that their host has not signed, are left out. Of a bucket with more than 10,000 values the oldest are
        read."""
        found, _, self._listed = await self._ask(self._read_all, "for the open offers")
        offers = (each.shown for each in found if not each.shown.is_full and not each.shown.is_over)
        chosen = [each for each in offers if wanted(each.offer)]
        return tuple(sorted(chosen, key=lambda each: each.offer.hash)[:most])

    async def changed(self, _offers: Collection[bytes]) -> None:
        """Wait until an offer has changed since `list`, or for some seconds. Raises the error that has ended the
        connection."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(CHANGE_SECONDS):
                await self._ask(self._note_change, "for changes of offers")

    async def look(self, offer: bytes) -> OfferStatus:
        """One offer, by its hash. Raises `RelayRefused` where there is none, and `OtherOfferShown`."""
        return (await self._open(offer)).shown

    async def join(self, offer: bytes, key: Key, payout: bytes, *, chain_id: int, name: str = "") -> OfferStatus:
        """See `connect.LobbyPort.join`.

        - `offer`: the offer's hash.
        - `key`: ours, which signs the join.
        - `payout`: where we are paid, 20 bytes.
        - `chain_id`: of the chain that we play on, 0 for none.
        - `name`: ours, may be empty.
        """
        while True:
            entry = await self._open(offer)
            terms = entry.shown.signed.offer
            terms.require_chain(chain_id)
            terms.require_guest(key.address)
            if key.address == terms.host:
                raise RelayRefused(offer, Reason.NOT_A_PARTICIPANT, "a host does not join its own offer")
            signed = SignedJoin.sign(Join(offer, key.address, payout, name), key)
            if entry.shown.joins not in ((), (signed,)):
                raise RelayRefused(offer, Reason.OFFER_TAKEN, f"somebody has joined; until {entry.shown.until}")
            if entry.shown.joins:
                return entry.shown
            await self._write(offer, entry.value.joined(signed), entry.revision)

    async def watch(self, offer: bytes) -> AsyncGenerator[OfferStatus]:
        """See `connect.LobbyPort.watch`."""
        shown = await self.look(offer)
        yield shown
        while not shown.is_over:
            await asyncio.sleep(_POLL_SECONDS)
            if (now := (await self._entry(offer)).shown) != shown:
                shown = now
                yield shown

    async def withdraw(self, offer: bytes, key: Key) -> None:
        """Take our offer back. Raises `RelayRefused` where the offer is over already, or not ours."""
        signature, has_tried = key.sign(withdrawal_digest(offer)).compact, False
        while True:
            entry = await self._entry(offer)
            if has_tried and entry.is_withdrawn:
                return
            _require_open(entry)
            if key.address != entry.shown.signed.offer.host:
                raise RelayRefused(offer, Reason.BAD_SIGNATURE, "only its host may withdraw it")
            has_tried = True
            value = StoredOffer(entry.value.offer, entry.value.signature, withdrawal=signature)
            if await self._write(offer, value, entry.revision):
                return

    async def arrive(self, table: bytes, key: Key) -> None:
        """Note that we are at a table. If the table is that of an offer that we have seen joined, the lobby notes it;
        when both players are there, the offer is over."""
        offer = self._meetings.get(table)
        while offer is not None:
            found = await self._read(offer)
            if not isinstance(found, LobbyEntry) or found.shown.is_over or found.meeting != table:
                return
            if await self._write(offer, found.with_presence(key), found.revision):
                return

    # ------------------------------------------------------------------------------------------------------ the bucket

    async def _require_wanted(self, offer: Offer) -> None:
        found, now, _ = await self._ask(self._read_all, "for the open offers")
        if not now < offer.expires <= now + LONGEST_OFFER:
            raise RelayRefused(offer.hash, Reason.EXPIRED, f"there it is {now:.0f}; an offer may be good for a week")
        others = [each for each in found if each.shown.signed.offer.host == offer.host and not each.shown.is_over]
        if len(others) >= _OFFERS_OF_A_HOST and offer not in [each.shown.signed.offer for each in others]:
            raise RelayRefused(offer.hash, Reason.TOO_MANY_OFFERS, "this host has as many offers as it may have")

    async def _open(self, offer: bytes) -> LobbyEntry:
        entry = await self._entry(offer)
        _require_open(entry)
        return entry

    async def _entry(self, offer: bytes) -> LobbyEntry:
        found = await self._read(offer)
        if not isinstance(found, LobbyEntry):
            raise OtherOfferShown(offer) if found else _unknown(offer)
        if found.meeting is not None:
            self._remember(found.meeting, offer)
        return found

    def _remember(self, table: bytes, offer: bytes) -> None:
        """Remember the offer of a table, for the tables that were seen last."""
        self._meetings[table] = offer
        if len(self._meetings) > _MAX_MEETINGS:
            del self._meetings[next(iter(self._meetings))]

    async def _read(self, offer: bytes) -> LobbyEntry | int:
        """The value under a hash; or the revision of a value that is no such offer; or 0."""
        return await self._ask(lambda session: self._read_one(session, offer), f"for offer 0x{offer.hex()}")

    async def _read_one(self, session: NatsSession, offer: bytes) -> LobbyEntry | int:
        try:
            found = await session.js.get_last_msg(BUCKET, LOBBY_SUBJECT + offer.hex())
        except NotFoundError:
            return 0
        seq, at = found.seq or 0, 0.0 if found.time is None else found.time.timestamp()
        try:
            return read_entry(offer, found.data or b"", seq, at, await session.now(), self._join_seconds)
        except OtherOfferShown:
            return seq

    async def _read_all(self, session: NatsSession) -> tuple[tuple[LobbyEntry, ...], float, int]:
        """Every offer, the server's time, and the number of the newest value."""
        found: list[Delivered] = []

        def on_message(each: Delivered) -> bool:
            found.append(each)
            return len(found) < _MAX_READ

        async with session.feed(BUCKET, LOBBY_SUBJECT + ">", NEWEST, on_message) as feed:
            if not await feed.catch_up() and len(found) < _MAX_READ:
                raise ConnectionError("the connection was lost meanwhile")
        now, judged = await session.now(), list[LobbyEntry | None]()
        for count, each in enumerate(found):
            judged.append(self._judged(each, now))
            if count % _AT_ONCE == 0:
                await asyncio.sleep(0)
        newest = max((each.seq for each in found), default=0)
        return tuple(each for each in judged if each is not None), now, newest

    async def _note_change(self, session: NatsSession) -> None:
        """Return when any value is in the bucket that was stored after the list was read."""
        async with session.feed(BUCKET, LOBBY_SUBJECT + ">", From(self._listed + 1), lambda _: False) as feed:
            await feed.ended.wait()

    def _judged(self, found: Delivered, now: float) -> LobbyEntry | None:
        key = found.subject.removeprefix(LOBBY_SUBJECT)
        try:
            hash_ = bytes.fromhex(key)
            if hash_.hex() != key:
                return None
            return read_entry(hash_, found.entry, found.seq, found.at / 1e9, now, self._join_seconds)
        except (ValueError, OtherOfferShown, UnknownVersion):
            return None

    async def _write(self, offer: bytes, value: StoredOffer, revision: int) -> bool:
        """Write a value; False where somebody has changed it since, or we have, and the acknowledgement was lost."""
        return await self._ask(
            lambda session: _swap(session, offer, value, revision), f"to change offer 0x{offer.hex()}"
        )


async def _swap(session: NatsSession, offer: bytes, value: StoredOffer, revision: int) -> bool:
    try:
        await session.js.publish(LOBBY_SUBJECT + offer.hex(), value.encode(), headers={LAST_SEQ: str(revision)})
    except BadRequestError as error:
        if error.err_code not in _CHANGED:
            raise
        return False
    return True


def _require_open(entry: LobbyEntry) -> None:
    if entry.shown.is_over:
        raise _unknown(entry.shown.signed.offer.hash)


def _unknown(offer: bytes) -> RelayRefused:
    return RelayRefused(offer, Reason.UNKNOWN_OFFER, "there is no such offer any more")
