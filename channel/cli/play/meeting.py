"""Host and guest find each other in a lobby. Nothing is paid in here, and no state is signed."""

from __future__ import annotations

import asyncio
import contextlib

from msgspec import Struct

from forcemove.channel.cli.play.errors import HostMissing, OfferOver
from forcemove.channel.line.connect import Connection
from forcemove.channel.line.errors import LineError, Reason, RelayRefused
from forcemove.channel.line.lobby import Shown
from forcemove.channel.line.offers import Join, Offer, meeting_table
from forcemove.channel.line.terms import Table
from forcemove.channel.protocol.signing import Key
from forcemove.channel.protocol.values import Codec

__all__ = ["MEETINGS", "Meeting", "take", "wait_for_guest"]

_LOOK_EVERY = 0.25
_WITHDRAWAL_SECONDS = 2.0


class Meeting(Struct, frozen=True):
    """What host and guest have agreed on, each by a signature. Raises `InvalidValue` where the join is of another
    offer."""

    offer: Offer
    join: Join

    def __post_init__(self) -> None:
        meeting_table(self.offer, self.join)

    @property
    def table(self) -> Table:
        """Where they have met."""
        return meeting_table(self.offer, self.join)

    @property
    def players(self) -> tuple[bytes, bytes]:
        """Their addresses, by seat."""
        return self.offer.host, self.join.guest


MEETINGS: Codec[Meeting] = Codec("meeting", Meeting)
"""Encodes and decodes them, for a journal."""


async def wait_for_guest(connection: Connection, offer: Offer, key: Key) -> Meeting:
    """Wait until somebody has joined our offer, which is in the lobby, and is at the table. If this is cut off, the
    offer is withdrawn. Raises `OfferOver`, and what the lobby raises."""
    try:
        while True:
            shown = await connection.lobby.joined(offer.hash)
            if shown.join is None or shown.table is None:
                raise OfferOver(offer.hash)
            if await _have_met(connection, shown.table, shown.join.join, key):
                return Meeting(offer, shown.join.join)
    except BaseException:
        with contextlib.suppress(LineError, TimeoutError):
            async with asyncio.timeout(_WITHDRAWAL_SECONDS):
                await connection.lobby.withdraw(offer.hash, key)
        raise


async def take(connection: Connection, offer: Offer, key: Key, payout: bytes) -> Meeting:
    """Join an offer, to be paid at `payout` (20 bytes), and wait for its host at the table. Raises `HostMissing`, and
    what the lobby raises."""
    join = Join(offer.hash, key.address, payout)
    table = await connection.lobby.join(offer.hash, key, payout, chain_id=offer.chain_id)
    if not await _have_met(connection, table, join, key):
        raise HostMissing(offer.hash)
    return Meeting(offer, join)


async def _have_met(connection: Connection, table: Table, join: Join, key: Key) -> bool:
    """Be at the table until both are, which ends the offer; False where it is open again, or another's."""
    await connection.join(table, key)
    try:
        while (shown := await _look(connection, join.offer)) is not None and not shown.is_over:
            if shown.join is None or shown.join.join != join:
                return False
            await asyncio.sleep(_LOOK_EVERY)
    finally:
        connection.leave(table.id)
    return True


async def _look(connection: Connection, offer: bytes) -> Shown | None:
    """The offer, or None where the lobby has it no more."""
    try:
        return await connection.lobby.look(offer)
    except RelayRefused as refused:
        if refused.reason is not Reason.UNKNOWN_OFFER:
            raise
        return None
