"""Host and guest find each other in a lobby. No deposit is made here, and no state is signed."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable

from msgspec import Struct

from forcemove.protocol.codec.msgpack_codec import Codec
from forcemove.protocol.signing import Key
from forcemove.tables.errors import HostMissing, OfferOver
from forcemove.transport.connect import Connection
from forcemove.transport.errors import Reason, RelayRefused, TransportError
from forcemove.transport.offers import Join, Offer, OfferStatus, meeting_table
from forcemove.transport.terms import TableTerms

__all__ = [
    "MEETINGS",
    "Meeting",
    "PendingOffer",
    "has_come_about",
    "offer_again",
    "take",
    "take_back",
    "wait_for_guest",
]

_POLL_SECONDS = 0.25
_WITHDRAWAL_SECONDS = 2.0
_MEETING_SECONDS = 50.0
"""Seconds, less than a relay's minute."""


class Meeting(Struct, frozen=True, tag=True):
    """What host and guest have agreed on, each by a signature. `has_met`: whether both are known to have been at the
    table; else the game may never begin. Raises `InvalidValue` where the join is of another offer."""

    offer: Offer
    join: Join
    has_met: bool = False

    def __post_init__(self) -> None:
        meeting_table(self.offer, self.join)

    @property
    def table(self) -> TableTerms:
        """The table where host and guest meet."""
        return meeting_table(self.offer, self.join)

    @property
    def players(self) -> tuple[bytes, bytes]:
        """The addresses of host and guest, by seat."""
        return self.offer.host, self.join.guest


class PendingOffer(Struct, frozen=True, tag="Waiting"):
    """An offer of ours that nobody has taken yet."""

    offer: Offer


MEETINGS: Codec[Meeting | PendingOffer] = Codec("meeting", Meeting | PendingOffer)
"""The codec of meetings and offers in a journal."""


async def offer_again(connection: Connection, offer: Offer, key: Key) -> None:
    """Put an offer of ours into the lobby, which may have it already. Raises `OfferOver` where it was taken back, has
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


async def wait_for_guest(connection: Connection, offer: Offer, key: Key, keep: Callable[[Meeting], None]) -> Meeting:
    """Wait until a guest has joined our offer, which is in the lobby, and is at the table. If this is cut off, the
    offer is withdrawn. `keep`: is called with the meeting before we are at the table. Raises `OfferOver`, and what the
    lobby raises."""
    try:
        while True:
            shown = await connection.lobby.joined(offer.hash)
            if shown.join is None or shown.table is None:
                raise OfferOver(offer.hash)
            keep(Meeting(offer, shown.join.join))
            if await _have_met(connection, shown.table, shown.join.join, key):
                return Meeting(offer, shown.join.join, has_met=True)
    except BaseException:
        await take_back(connection, offer, key)
        raise


async def take_back(connection: Connection, offer: Offer, key: Key) -> None:
    """Withdraw an offer of ours, if it is open and the lobby answers."""
    with contextlib.suppress(TransportError, TimeoutError):
        async with asyncio.timeout(_WITHDRAWAL_SECONDS):
            await connection.lobby.withdraw(offer.hash, key)


async def take(
    connection: Connection, offer: Offer, key: Key, payout: bytes, keep: Callable[[Meeting], None]
) -> Meeting:
    """Join an offer, and wait for its host at the table. Raises `HostMissing`, and what the lobby raises.

    - `connection`: to the relay that has the offer.
    - `offer`: the offer to join.
    - `key`: our key, which signs the join.
    - `payout`: 20 bytes, the address that we are paid at.
    - `keep`: as of `wait_for_guest`.
    """
    join, clock = Join(offer.hash, key.address, payout), asyncio.get_running_loop()
    until = clock.time() + _MEETING_SECONDS
    while True:  # a relay that was restarted has forgotten who had joined
        table = await connection.lobby.join(offer.hash, key, payout, chain_id=offer.chain_id)
        keep(Meeting(offer, join))
        if await _have_met(connection, table, join, key):
            return Meeting(offer, join, has_met=True)
        if clock.time() > until:
            raise HostMissing(offer.hash)


async def _have_met(connection: Connection, table: TableTerms, join: Join, key: Key) -> bool:
    """Stay at the table until both players are there, which ends the offer; False where the offer is open again, or
    another's."""
    await connection.join(table, key)
    try:
        while (shown := await _look(connection, join.offer)) is not None and not shown.is_over:
            if shown.join is None or shown.join.join != join:
                return False
            await asyncio.sleep(_POLL_SECONDS)
    finally:
        connection.leave(table.id)
    return True


async def _look(connection: Connection, offer: bytes) -> OfferStatus | None:
    """The offer, or None where the lobby has it no more."""
    try:
        return await connection.lobby.look(offer)
    except RelayRefused as refused:
        if refused.reason is not Reason.UNKNOWN_OFFER:
            raise
        return None
