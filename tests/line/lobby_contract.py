"""What every lobby promises, as tests: subclass `LobbyContract` and say how a place with a lobby is made."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from forcemove.channel.errors import InvalidValue
from forcemove.channel.line.connect import Connection
from forcemove.channel.line.errors import Reason, RelayRefused
from forcemove.channel.line.offers import Offer, OfferOfAnotherChain
from forcemove.channel.line.terms import TableKind
from forcemove.channel.protocol.signing import Key
from tests.flow.table import KEYS
from tests.line.people import ALICE, BOB, MALLORY, run

__all__ = ["CAROL", "CHAIN", "FRIENDLY", "PAYOUT", "LobbyContract", "new_offer", "refused"]

CAROL = KEYS["carol"]
CHAIN = 31_337
PAYOUT = b"\x0b" * 20
FRIENDLY = {"chain_id": 0, "adjudicator": bytes(20), "app": bytes(20), "stake": 0, "deposit": 0}
SHORT = 1.0
"""Seconds to meet, where a story waits for them to be over."""
_nonces = iter(range(1, 100_000))


def new_offer(**other: object) -> Offer:
    """Alice's, for ether on our chain."""
    address = b"\xad" * 20
    terms = {"game": "tic-tac-toe", "chain_id": CHAIN, "adjudicator": address, "app": b"\xa9" * 20, "asset": bytes(20)}
    terms |= {"stake": 10**18, "deposit": 20 * 10**18, "duration": 3_600, "nonce": next(_nonces)}
    terms |= {"host": ALICE.address, "payout": ALICE.address, "expires": int(time.time()) + 3_600}
    return Offer(**(terms | other))  # type: ignore[arg-type]


async def refused(doing: object) -> Reason:
    """Why it is refused."""
    with pytest.raises(RelayRefused) as error:
        await doing  # type: ignore[misc]
    return error.value.reason


class LobbyContract:
    """Subclasses are tests of one lobby."""

    def connect(self, join_seconds: float | None = None) -> Connection:
        """A new connection to one and the same lobby, or to one where there is so much time to meet."""
        raise NotImplementedError

    async def restart(self) -> None:
        """What keeps the lobby is killed, and comes back."""
        raise NotImplementedError

    @asynccontextmanager
    async def two(self, join_seconds: float | None = None) -> AsyncIterator[tuple[Connection, Connection]]:
        async with self.connect(join_seconds) as hosts, self.connect(join_seconds) as guests:
            yield hosts, guests

    def test_host_and_guest_meet_at_one_table(self) -> None:
        async def story() -> None:
            async with self.two() as (hosts, guests):
                offer = new_offer()
                hash_ = await hosts.lobby.make(offer, ALICE)
                assert hash_ == offer.hash
                waiting = asyncio.create_task(hosts.lobby.joined(hash_))
                assert offer in [each.offer for each in await guests.lobby.list()]
                table = await guests.lobby.join(hash_, BOB, PAYOUT, chain_id=CHAIN)
                shown = await waiting
                assert shown.join is not None
                assert (shown.table, shown.join.join.payout) == (table, PAYOUT)
                assert abs(shown.until - time.time() - 60) < 5
                assert (table.participants, table.kind) == ((ALICE.address, BOB.address), TableKind.CHANNEL)
                assert offer not in [each.offer for each in await guests.lobby.list()]
                alice, bob = await hosts.join(table, ALICE), await guests.join(table, BOB)
                await alice.post(b"welcome")
                assert await bob.reader().read() == b"welcome"
                assert await refused(guests.lobby.look(hash_)) is Reason.UNKNOWN_OFFER

        run(story())

    def test_an_offer_is_over_only_when_both_are_there(self) -> None:
        async def story() -> None:
            async with self.two() as (hosts, guests):
                hash_ = await hosts.lobby.make(new_offer(), ALICE)
                table = await guests.lobby.join(hash_, BOB, PAYOUT, chain_id=CHAIN)
                await guests.join(table, BOB)
                assert not (await hosts.lobby.joined(hash_)).is_over
                await hosts.join(table, ALICE)
                assert await refused(hosts.lobby.look(hash_)) is Reason.UNKNOWN_OFFER

        run(story())

    def test_a_friendly_game_needs_no_chain(self) -> None:
        async def story() -> None:
            async with self.connect() as place:
                hash_ = await place.lobby.make(new_offer(**FRIENDLY), ALICE)
                table = await place.lobby.join(hash_, BOB, PAYOUT, chain_id=0)
                assert table.kind is TableKind.GAME

        run(story())

    def test_a_join_that_is_not_completed_gives_the_offer_back(self) -> None:
        async def story() -> None:
            async with self.connect(SHORT) as place:
                lobby = place.lobby
                hash_ = await lobby.make(new_offer(), ALICE)
                first = await lobby.join(hash_, BOB, PAYOUT, chain_id=CHAIN)
                await place.join(first, BOB)
                assert await refused(lobby.join(hash_, CAROL, PAYOUT, chain_id=CHAIN)) is Reason.OFFER_TAKEN
                while (await lobby.look(hash_)).join is not None:
                    await asyncio.sleep(0)
                assert hash_ in [each.offer.hash for each in await lobby.list()]
                second = await lobby.join(hash_, CAROL, PAYOUT, chain_id=CHAIN)
                assert second.id != first.id

        run(story())

    def test_of_many_guests_one_is_taken(self) -> None:
        async def story() -> None:
            async with self.two() as (one, other):
                hash_ = await one.lobby.make(new_offer(), ALICE)
                joins = [
                    each.lobby.join(hash_, key, PAYOUT, chain_id=CHAIN)
                    for each in (one, other)
                    for key in (BOB, CAROL, MALLORY)
                ]
                found = await asyncio.gather(*joins, return_exceptions=True)
                tables = {each.id for each in found if not isinstance(each, BaseException)}
                lost = [each.reason for each in found if isinstance(each, RelayRefused)]
                assert len(tables) == 1
                assert lost == [Reason.OFFER_TAKEN] * 4  # the one who was taken has joined twice
                shown = await one.lobby.look(hash_)
                assert shown.table is not None
                assert {shown.table.id} == tables

        run(story())

    def test_joining_again_is_the_same_join(self) -> None:
        async def story() -> None:
            async with self.connect() as place:
                hash_ = await place.lobby.make(new_offer(), ALICE)
                tables = [await place.lobby.join(hash_, BOB, PAYOUT, chain_id=CHAIN) for _ in range(2)]
                assert tables[0] == tables[1]

        run(story())

    def test_an_offer_of_another_chain_is_not_joined(self) -> None:
        async def story() -> None:
            async with self.connect() as place:
                hash_ = await place.lobby.make(new_offer(), ALICE)
                with pytest.raises(OfferOfAnotherChain) as other:
                    await place.lobby.join(hash_, BOB, PAYOUT, chain_id=1)
                assert (other.value.offered, other.value.ours) == (CHAIN, 1)
                assert (await place.lobby.look(hash_)).join is None

        run(story())

    def test_an_offer_is_withdrawn_by_its_host_alone(self) -> None:
        async def story() -> None:
            async with self.two() as (hosts, guests):
                offer = new_offer()
                hash_ = await hosts.lobby.make(offer, ALICE)
                waiting = asyncio.create_task(hosts.lobby.joined(hash_))
                assert await refused(guests.lobby.withdraw(hash_, MALLORY)) is Reason.BAD_SIGNATURE
                assert not (await guests.lobby.look(hash_)).is_over
                await hosts.lobby.withdraw(hash_, ALICE)
                shown = await waiting
                assert (shown.join, shown.is_over) == (None, True)
                assert offer not in [each.offer for each in await guests.lobby.list()]
                for late in (guests.lobby.join(hash_, BOB, PAYOUT, chain_id=CHAIN), hosts.lobby.withdraw(hash_, ALICE)):
                    assert await refused(late) is Reason.UNKNOWN_OFFER

        run(story())

    def test_what_a_lobby_does_not_take(self) -> None:
        async def story() -> None:
            async with self.connect() as place:
                lobby, now = place.lobby, int(time.time())
                with pytest.raises(InvalidValue):
                    await lobby.make(new_offer(), BOB)
                for expires in (now - 1, now + 30 * 86_400):
                    assert await refused(lobby.make(new_offer(expires=expires), ALICE)) is Reason.EXPIRED
                assert await refused(lobby.look(bytes(32))) is Reason.UNKNOWN_OFFER
                hash_ = await lobby.make(new_offer(), ALICE)
                own = lobby.join(hash_, ALICE, PAYOUT, chain_id=CHAIN)
                assert await refused(own) is Reason.NOT_A_PARTICIPANT

        run(story())

    def test_an_offer_expires(self) -> None:
        async def story() -> None:
            async with self.connect() as place:
                hash_ = await place.lobby.make(new_offer(expires=int(time.time()) + 2), ALICE)
                while hash_ in [each.offer.hash for each in await place.lobby.list()]:
                    await asyncio.sleep(0)
                late = place.lobby.join(hash_, BOB, PAYOUT, chain_id=CHAIN)
                assert await refused(late) is Reason.UNKNOWN_OFFER

        run(story())

    def test_offers_of_a_host_are_bounded_and_outlive_a_restart(self) -> None:
        async def story() -> None:
            host = Key(bytes(31) + b"\x07")
            offers = [new_offer(host=host.address) for _ in range(21)]
            async with self.connect() as place:
                for offer in (*offers[:20], offers[0]):
                    await place.lobby.make(offer, host)
                assert await refused(place.lobby.make(offers[20], host)) is Reason.TOO_MANY_OFFERS
                await self.restart()
                listed = [each.offer for each in await place.lobby.list() if each.offer.host == host.address]
                assert listed == sorted(offers[:20], key=lambda each: each.hash)

        run(story())
