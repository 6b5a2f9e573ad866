"""What is offered in the tests of lobbies."""

from __future__ import annotations

import contextlib
import time

import pytest

from forcemove import Key, TableTerms
from forcemove.transport import connect, errors, joins, offers
from tests.flow.table import KEYS
from tests.transport.people import ALICE

__all__ = ["CAROL", "CHAIN", "FRIENDLY", "PAYOUT", "all_seated", "join_table", "new_offer", "refused"]

CAROL = KEYS["carol"]
CHAIN = 31_337
PAYOUT = b"\x0b" * 20
FRIENDLY = {"chain_id": 0, "adjudicator": bytes(20), "app": bytes(20), "stake": 0, "deposit": 0}
_nonces = iter(range(1, 100_000))


def new_offer(**other: object) -> offers.Offer:
    """Alice's, for ether on our chain."""
    address = b"\xad" * 20
    terms = {"game": "tic-tac-toe", "chain_id": CHAIN, "adjudicator": address, "app": b"\xa9" * 20, "asset": bytes(20)}
    terms |= {"stake": 10**18, "deposit": 20 * 10**18, "duration": 3_600, "nonce": next(_nonces)}
    terms |= {"host": ALICE.address, "payout": ALICE.address, "expires": int(time.time()) + 3_600}
    terms |= {"seats": 2, "name": ""}
    return offers.Offer(**(terms | other))  # type: ignore[arg-type]


async def join_table(lobby: connect.LobbyPort, offer: bytes, key: Key, payout: bytes, *, chain_id: int) -> TableTerms:
    """Take the last seat; the table where all meet."""
    shown = await lobby.join(offer, key, payout, chain_id=chain_id)
    assert shown.table is not None
    return shown.table


async def all_seated(lobby: connect.LobbyPort, offer: bytes) -> joins.OfferStatus:
    """The offer once all of its seats are taken, or it is over."""
    async with contextlib.aclosing(lobby.watch(offer)) as watching:
        async for shown in watching:
            if shown.is_full or shown.is_over:
                return shown
    raise AssertionError("the offer is not watched any more")


async def refused(doing: object) -> errors.Reason:
    """Why it is refused."""
    with pytest.raises(errors.RelayRefused) as error:
        await doing  # type: ignore[misc]
    return error.value.reason
