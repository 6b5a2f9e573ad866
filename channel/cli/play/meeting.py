"""Host and guest find each other in a relay's lobby. Nothing is paid in here, and no state is signed."""

from __future__ import annotations

import asyncio
import contextlib

from forcemove.channel.cli.play.errors import HostMissing, OfferOver
from forcemove.channel.line.connection import RelayConnection
from forcemove.channel.line.errors import LineError, Reason, RelayRefused
from forcemove.channel.line.lobby import Shown
from forcemove.channel.line.offers import Join, Offer
from forcemove.channel.line.terms import Table
from forcemove.channel.protocol.signing import Key

__all__ = ["take", "wait_for_guest"]

_LOOK_EVERY = 0.25
_WITHDRAWAL_SECONDS = 2.0


async def wait_for_guest(relay: RelayConnection, offer: Offer, key: Key) -> Join:
    """Wait until somebody has joined our offer, which is in the lobby, and is at the table; returns their join. If this
    is cut off, the offer is withdrawn. Raises `OfferOver`, and what the lobby raises."""
    try:
        while True:
            shown = await relay.lobby.joined(offer.hash)
            if shown.join is None or shown.table is None:
                raise OfferOver(offer.hash)
            if await _have_met(relay, shown.table, shown.join.join, key):
                return shown.join.join
    except BaseException:
        with contextlib.suppress(LineError, TimeoutError):
            async with asyncio.timeout(_WITHDRAWAL_SECONDS):
                await relay.lobby.withdraw(offer.hash, key)
        raise


async def take(relay: RelayConnection, offer: Offer, key: Key) -> Join:
    """Join an offer, and wait for its host at the table; returns our join. Raises `HostMissing`, and what the lobby
    raises."""
    join = Join(offer.hash, key.address, key.address)
    table = await relay.lobby.join(offer.hash, key, join.payout, chain_id=offer.chain_id)
    if not await _have_met(relay, table, join, key):
        raise HostMissing(offer.hash)
    return join


async def _have_met(relay: RelayConnection, table: Table, join: Join, key: Key) -> bool:
    """Be at the table until both are, which ends the offer; False where it is open again, or another's."""
    await relay.join(table, key)
    try:
        while (shown := await _look(relay, join.offer)) is not None and not shown.is_over:
            if shown.join is None or shown.join.join != join:
                return False
            await asyncio.sleep(_LOOK_EVERY)
    finally:
        relay.leave(table.id)
    return True


async def _look(relay: RelayConnection, offer: bytes) -> Shown | None:
    """The offer, or None where the lobby has it no more."""
    try:
        return await relay.lobby.look(offer)
    except RelayRefused as refused:
        if refused.reason is not Reason.UNKNOWN_OFFER:
            raise
        return None
