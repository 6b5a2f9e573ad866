"""Host and guests find each other in a lobby. No deposit is made here, and no state is signed."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from forcemove.errors import InvalidValue
from forcemove.protocol.signing import Key
from forcemove.sessions.errors import HostMissing, OfferOver
from forcemove.transport.connect import Connection, connect_relay
from forcemove.transport.errors import Reason, RelayRefused, RelayUnreachable, TransportError
from forcemove.transport.joins import Join, OfferStatus, meeting_table
from forcemove.transport.links import public_url
from forcemove.transport.offers import OFFER_VERSION, PLAIN_VERSION, Offer, OfferCodec, OtherOfferShown
from forcemove.transport.terms import TableTerms

_WITHDRAWAL_SECONDS = 2.0
_LOOK_SECONDS = 5.0
_MEETING_SECONDS = 50.0
"""Seconds, less than a relay's minute."""


class Meeting(Struct, frozen=True, tag=True, omit_defaults=True):
    """What host and guests have agreed on, each by a signature; the joins are in the order of the seats. `has_met`:
    whether all are known to have been at the table; else the game may never begin. `relay`: its address, where the
    journal keeps it. Raises `InvalidValue` where a join is missing, belongs to another offer, or asks for payment to
    the adjudicator itself, which no outcome may name; and `OfferForAnother`."""

    offer: Offer
    joins: tuple[Join, ...]
    has_met: bool
    relay: str = ""

    def __post_init__(self) -> None:
        meeting_table(self.offer, *self.joins)
        if self.offer.adjudicator in [each.payout for each in self.joins]:
            raise InvalidValue("payout", self.offer.adjudicator, "an address other than the adjudicator's")

    @property
    def table(self) -> TableTerms:
        """The table where all meet."""
        return meeting_table(self.offer, *self.joins)

    @property
    def players(self) -> tuple[bytes, ...]:
        """The addresses of host and guests, by seat."""
        return self.offer.host, *(each.guest for each in self.joins)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of host and guests as they have signed them, by seat; empty where one has none."""
        return self.offer.name, *(each.name for each in self.joins)


class PendingOffer(Struct, frozen=True, tag="Waiting", omit_defaults=True):
    """Our offer that not all guests have joined yet. `relay`: see `Meeting`."""

    offer: Offer
    relay: str = ""


_VERSION = OFFER_VERSION + 1
"""The version of meetings and offers whose relay the journal keeps."""
MEETINGS: OfferCodec[Meeting | PendingOffer] = OfferCodec(
    "meeting",
    Meeting | PendingOffer,
    {
        PLAIN_VERSION: lambda each: each.offer.is_plain and not each.relay,
        OFFER_VERSION: lambda each: not each.relay,
        _VERSION: lambda _: True,
    },
)
"""The codec of meetings and offers in a journal."""


async def find_offer(relay: str, offer: bytes) -> Offer | None:
    """The offer (its hash) as the relay at this address shows it; None where it shows none. Raises a `TransportError`
    where the relay does not answer within some seconds, or is busy, and `UnknownVersion`."""
    try:
        async with asyncio.timeout(_LOOK_SECONDS), connect_relay(relay) as connection:
            return (await connection.lobby.look(offer)).offer
    except OtherOfferShown:
        return None
    except RelayRefused as refused:
        if refused.reason is Reason.UNKNOWN_OFFER:
            return None
        raise
    except TimeoutError:
        raise RelayUnreachable(public_url(relay), "it does not answer") from None


async def offer_again(connection: Connection, offer: Offer, key: Key) -> None:
    """Put our offer into the lobby, which may have it already. Raises `OfferOver` where it was taken back, has
    expired, or was played, and what the lobby raises."""
    shown = await _look(connection, offer.hash)
    if shown is None:
        await connection.lobby.make(offer, key)
    elif shown.is_over:
        raise OfferOver(offer.hash)


async def has_come_about(connection: Connection, meeting: Meeting) -> bool:
    """Whether an interrupted meeting has happened: its offer is over, or forgotten. Raises what the lobby raises."""
    shown = None if meeting.has_met else await _look(connection, meeting.offer.hash)
    return shown is None or shown.is_over


async def take_back(connection: Connection, offer: Offer, key: Key) -> bool:
    """Withdraw our offer, if it is open and the lobby answers; returns whether that was done."""
    with contextlib.suppress(TransportError, TimeoutError):
        async with asyncio.timeout(_WITHDRAWAL_SECONDS):
            await connection.lobby.withdraw(offer.hash, key)
            return True
    return False


class MeetingPoint:
    """Where one of us meets the other players of an offer. Each meeting is stored before we are at its table."""

    def __init__(
        self,
        connection: Connection,
        offer: Offer,
        key: Key,
        keep: Callable[[Meeting], None],
        forget: Callable[[Meeting], None],
        on_change: Callable[[OfferStatus], None],
    ) -> None:
        """Meet nobody yet.

        - `connection`: to the relay that has the offer.
        - `offer`: ours, or the one that we join.
        - `key`: ours.
        - `keep`: stores a meeting that may come about.
        - `forget`: forgets one that has not come about.
        - `on_change`: is called with the offer whenever another has joined or left.
        """
        self._connection, self._offer, self._key = connection, offer, key
        self._keep, self._drop, self._on_change = keep, forget, on_change
        self._at: Meeting | None = None
        self._since: float | None = None

    async def wait_for_guests(self) -> Meeting:
        """Wait until guests have taken all seats of our offer, which is in the lobby, and all are at the table. If this
        is cut off by us, the offer is withdrawn. Raises `OfferOver`, and what the lobby raises."""
        try:
            while (meeting := await self._until_met(None)) is None:
                pass
        except TransportError:
            raise
        except BaseException:
            if await take_back(self._connection, self._offer, self._key):
                self._forget()
            raise
        return meeting

    async def take(self, payout: bytes, name: str = "") -> Meeting:
        """Join the offer, and wait until all are at the table. `payout`: 20 bytes, where we are paid; `name`: ours, may
        be empty. Raises `HostMissing`, `OfferOver`, and what the lobby raises."""
        offer, lobby = self._offer, self._connection.lobby
        join = Join(offer.hash, self._key.address, payout, name)
        while True:  # a relay that was restarted has forgotten who had joined
            await lobby.join(offer.hash, self._key, payout, chain_id=offer.chain_id, name=name)
            if (meeting := await self._until_met(join)) is not None:
                return meeting
            if self._since is not None and asyncio.get_running_loop().time() - self._since > _MEETING_SECONDS:
                raise HostMissing(offer.hash)

    async def _until_met(self, join: Join | None) -> Meeting | None:
        """Follow the offer, and be at its table whenever all seats are taken, until all are there, which ends the
        offer; None where we have lost the seat of our `join`. Raises `OfferOver`."""
        try:
            async with contextlib.aclosing(self._connection.lobby.watch(self._offer.hash)) as watching:
                async for shown in watching:
                    if shown.is_over:
                        return self._met(_meeting(shown))
                    self._on_change(shown)
                    if join is not None and join not in [each.join for each in shown.joins]:
                        await self._move(None)
                        return None
                    await self._move(_meeting(shown))
        except RelayRefused as refused:
            if refused.reason is not Reason.UNKNOWN_OFFER:
                raise
            return self._met(self._at)  # the lobby forgets an offer whose game has begun
        finally:
            if self._at is not None:
                self._connection.leave(self._at.table.id)
        raise OfferOver(self._offer.hash)

    def _met(self, meeting: Meeting | None) -> Meeting:
        """The meeting that has come about, if it is the one that we are at: else ours is forgotten. Raises
        `OfferOver`."""
        if meeting is None or meeting != self._at:
            self._forget()
            raise OfferOver(self._offer.hash)
        return replace(meeting, has_met=True)

    def _forget(self) -> None:
        """Forget the meeting that we are or were at: it has not come about, and nobody must continue it."""
        if self._at is not None:
            self._drop(self._at)

    async def _move(self, meeting: Meeting | None) -> None:
        """Be at the table of this meeting, and at no other one; None for no table."""
        before, self._at = self._at, meeting
        if before is not None and before != meeting:
            self._connection.leave(before.table.id)
            self._drop(before)
        if meeting is not None and meeting != before:
            self._since = self._since or asyncio.get_running_loop().time()
            self._keep(meeting)
            await self._connection.join(meeting.table, self._key)


def _meeting(shown: OfferStatus) -> Meeting | None:
    """The meeting of all that have a seat, once all seats are taken; None also where one of them wants what no channel
    can have: nobody meets at that table, and the seats are free again in a while."""
    if not shown.is_full:
        return None
    with contextlib.suppress(InvalidValue):
        return Meeting(shown.offer, tuple(each.join for each in shown.joins), has_met=False)
    return None


async def _look(connection: Connection, offer: bytes) -> OfferStatus | None:
    """The offer, or None where the lobby has it no more."""
    try:
        return await connection.lobby.look(offer)
    except RelayRefused as refused:
        if refused.reason is not Reason.UNKNOWN_OFFER:
            raise
        return None
