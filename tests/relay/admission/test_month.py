"""A month of traffic in simulated time: what strangers leave behind is bounded, and friends find room to the end."""

from __future__ import annotations

from pathlib import Path

import pytest

from forcemove import TableKind, TableTerms, keccak256
from forcemove.relay.admission.accounts import Accounts
from forcemove.relay.keeping import PendingPost
from forcemove.relay.limits import Limits
from forcemove.relay.offers.lobby import Lobby
from forcemove.relay.offers.shown import NotOffered
from forcemove.relay.tables import TooManyTables
from forcemove.transport.offers import OFFERS, SignedOffer
from forcemove.transport.wire import MakeOffer
from tests.relay.inside import Clock, Inside, Listener
from tests.relay.raw import post
from tests.relay.strangers.crowd import key
from tests.transport.offered import new_offer
from tests.transport.people import ALICE

HOUR, DAY = 3_600, 24
LIMITS = Limits(
    tables=400,
    tables_of_address=100,
    tables_per_hour=3,
    store_bytes=4 * 2**20,
    bytes_of_address=2**19,
    offers=60,
    offers_per_address=20,
)
"""Small, so that a month is soon over."""
BESIDE = 64 * 2**20
"""Bytes of the reserve, and of the write-ahead log."""


class Month:
    """`hosts`: keys that make offers; `count`: of what was tried."""

    def __init__(self, inside: Inside, clock: Clock) -> None:
        self.inside, self.clock = inside, clock
        self.accounts = Accounts(LIMITS, clock, most=50)
        self.lobby = Lobby(inside.store, inside.worker, LIMITS, frozenset(), clock)
        self.hosts = [key(f"host {number}") for number in range(8)]
        self.count = 0

    async def make(self, address: str, size: int) -> bool:
        """A table with one entry, or none; whether there was room for it."""
        self.count += 1
        made, tables = self.accounts.of(address).tables, self.inside.tables
        if made.wait(1, self.clock.now):
            return False
        made.take(1, self.clock.now)
        table = TableTerms(TableKind.GAME, (ALICE.address,), keccak256(self.count.to_bytes(8)))
        try:
            log = await tables.make(table, address)
        except TooManyTables:
            return False
        is_good = not size or tables.fault_of_post(log, size) is None
        if size and is_good:
            await self.inside.committer.add(
                PendingPost(log, Listener(), ALICE.address, post(table, 1, bytes(size))), address
            )
            while log.coming_count:
                await self.inside.committer.next_commit()
        tables.release(log)
        return is_good

    async def offer(self, address: str, hours: int) -> bool:
        """One more offer, good for this many hours."""
        self.count += 1
        host = self.hosts[self.count % len(self.hosts)]
        offer = new_offer(
            host=host.address, payout=host.address, nonce=self.count, expires=int(self.clock.now) + hours * HOUR
        )
        message = MakeOffer(b"", OFFERS.encode(offer), SignedOffer.sign(offer, host).signature.compact)
        try:
            await self.lobby.make(message, self.accounts.of(address))
        except NotOffered:
            return False
        return True


@pytest.mark.parametrize("hours", [6 * DAY, pytest.param(30 * DAY, marks=pytest.mark.long)])
async def test_threat_59_a_month_of_strangers_leaves_what_is_bounded(tmp_path: Path, hours: int) -> None:
    clock = Clock()
    inside = await Inside.start(tmp_path / "relay.sqlite", clock, LIMITS)
    try:
        month = Month(inside, clock)
        served = largest = 0
        for hour in range(hours):
            clock.now += HOUR
            for number in range(6):
                address = f"2001:db8:{hour % 100:x}:{number:x}::1"
                await month.make(address, 20_000 if number % 2 else 0)
                await month.offer(address, 12)
            friend = await month.make("192.0.2.1", 300)
            await inside.housekeeper.expire()
            await inside.housekeeper.make_room()
            await month.lobby.expire()
            served += friend and await month.offer("192.0.2.1", 1)
            assert inside.tables.count <= LIMITS.tables
            assert month.lobby.count <= LIMITS.offers
            assert len(month.accounts) <= 51
            largest = max(largest, sum(each.stat().st_size for each in tmp_path.iterdir()))
        print(f"{month.count} tries; {inside.tables.count} tables, {month.lobby.count} offers, {largest:,} bytes")
        assert largest < LIMITS.store_bytes + BESIDE
        assert served > 0.9 * hours
    finally:
        await inside.stop()
