"""What every lobby promises: a relay's, and one in a bucket of a NATS server."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path

import pytest

from forcemove import InvalidValue, Key, TableKind
from forcemove.transport.connect import Connection, connect_relay
from forcemove.transport.errors import Reason, RelayRefused
from forcemove.transport.jetstream.connection import JetStreamConnection
from forcemove.transport.offers import OfferForAnother, OfferOfAnotherChain
from tests.jetstream.server import NatsServer, running_server
from tests.relay.process import RelayProcess, running_relay
from tests.transport.offered import CAROL, CHAIN, FRIENDLY, PAYOUT, all_seated, join_table, new_offer, refused
from tests.transport.people import ALICE, BOB, MALLORY

SHORT = 1.0
"""Seconds to meet, where a story waits for them to be over."""


class Place:
    """Where a lobby is. Subclasses are of one kind."""

    def __init__(self, process: RelayProcess | NatsServer, stack: ExitStack, folder: Path) -> None:
        self.process, self.stack, self.folder = process, stack, folder

    def connect(self, join_seconds: float | None = None) -> Connection:
        """A new connection to one and the same lobby, or to one where there is this much time to meet."""
        raise NotImplementedError

    @asynccontextmanager
    async def two(self) -> AsyncIterator[tuple[Connection, Connection]]:
        async with self.connect() as hosts, self.connect() as guests:
            yield hosts, guests

    async def restart(self) -> None:
        """As after a power cut."""
        await asyncio.to_thread(self.process.kill)
        await asyncio.to_thread(self.process.start)


class RelayPlace(Place):
    def connect(self, join_seconds: float | None = None) -> Connection:
        if join_seconds is None:
            return connect_relay(self.process.url)
        relay = self.stack.enter_context(running_relay(self.folder, "--join-seconds", str(join_seconds)))
        return connect_relay(relay.url)


class NatsPlace(Place):
    def connect(self, join_seconds: float | None = None) -> Connection:
        if join_seconds is None:
            return connect_relay(self.process.url)
        return JetStreamConnection(self.process.url, join_seconds=join_seconds)


@pytest.fixture(scope="module")
def relay(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RelayProcess]:
    with running_relay(tmp_path_factory.mktemp("relay")) as relay:
        yield relay


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NatsServer]:
    with running_server(tmp_path_factory.mktemp("nats")) as server:
        yield server


@pytest.fixture(params=["relay", "nats"])
def here(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    with ExitStack() as stack:
        if request.param == "relay":
            yield RelayPlace(request.getfixturevalue("relay"), stack, tmp_path)
        else:
            yield NatsPlace(request.getfixturevalue("server"), stack, tmp_path)


async def test_host_and_guest_meet_at_one_table(here: Place) -> None:
    async with here.two() as (hosts, guests):
        offer = new_offer()
        hash_ = await hosts.lobby.make(offer, ALICE)
        assert hash_ == offer.hash
        waiting = asyncio.create_task(all_seated(hosts.lobby, hash_))
        assert offer in [each.offer for each in await guests.lobby.list()]
        table = await join_table(guests.lobby, hash_, BOB, PAYOUT, chain_id=CHAIN)
        shown = await waiting
        assert (shown.table, shown.joins[0].join.payout) == (table, PAYOUT)
        assert abs(shown.until - time.time() - 60) < 5
        assert (table.participants, table.kind) == ((ALICE.address, BOB.address), TableKind.CHANNEL)
        assert offer not in [each.offer for each in await guests.lobby.list()]
        alice, bob = await hosts.join(table, ALICE), await guests.join(table, BOB)
        await alice.post(b"welcome")
        assert await bob.reader().read() == b"welcome"
        assert await refused(guests.lobby.look(hash_)) is Reason.UNKNOWN_OFFER


async def test_an_offer_is_over_only_when_both_are_there(here: Place) -> None:
    async with here.two() as (hosts, guests):
        hash_ = await hosts.lobby.make(new_offer(), ALICE)
        table = await join_table(guests.lobby, hash_, BOB, PAYOUT, chain_id=CHAIN)
        await guests.join(table, BOB)
        assert not (await all_seated(hosts.lobby, hash_)).is_over
        await hosts.join(table, ALICE)
        assert await refused(hosts.lobby.look(hash_)) is Reason.UNKNOWN_OFFER


async def test_a_friendly_game_needs_no_chain(here: Place) -> None:
    async with here.connect() as place:
        hash_ = await place.lobby.make(new_offer(**FRIENDLY), ALICE)
        table = await join_table(place.lobby, hash_, BOB, PAYOUT, chain_id=0)
        assert table.kind is TableKind.GAME


async def test_a_join_that_is_not_completed_gives_the_offer_back(here: Place) -> None:
    async with here.connect(SHORT) as place:
        lobby = place.lobby
        hash_ = await lobby.make(new_offer(), ALICE)
        first = await join_table(lobby, hash_, BOB, PAYOUT, chain_id=CHAIN)
        await place.join(first, BOB)
        assert await refused(lobby.join(hash_, CAROL, PAYOUT, chain_id=CHAIN)) is Reason.OFFER_TAKEN
        while (await lobby.look(hash_)).joins:
            await asyncio.sleep(0)
        assert hash_ in [each.offer.hash for each in await lobby.list()]
        second = await join_table(lobby, hash_, CAROL, PAYOUT, chain_id=CHAIN)
        assert second.id != first.id


async def test_of_many_guests_one_is_taken(here: Place) -> None:
    async with here.two() as (one, other):
        hash_ = await one.lobby.make(new_offer(), ALICE)
        joins = [
            each.lobby.join(hash_, key, PAYOUT, chain_id=CHAIN)
            for each in (one, other)
            for key in (BOB, CAROL, MALLORY)
        ]
        found = await asyncio.gather(*joins, return_exceptions=True)
        tables = {each.table.id for each in found if not isinstance(each, BaseException) and each.table is not None}
        lost = [each.reason for each in found if isinstance(each, RelayRefused)]
        assert len(tables) == 1
        assert lost == [Reason.OFFER_TAKEN] * 4  # the one who was taken has joined twice
        shown = await one.lobby.look(hash_)
        assert shown.table is not None
        assert {shown.table.id} == tables


async def test_joining_again_is_the_same_join(here: Place) -> None:
    async with here.connect() as place:
        hash_ = await place.lobby.make(new_offer(), ALICE)
        tables = [await join_table(place.lobby, hash_, BOB, PAYOUT, chain_id=CHAIN) for _ in range(2)]
        assert tables[0] == tables[1]


async def test_an_offer_of_another_chain_is_not_joined(here: Place) -> None:
    async with here.connect() as place:
        hash_ = await place.lobby.make(new_offer(), ALICE)
        with pytest.raises(OfferOfAnotherChain) as other:
            await place.lobby.join(hash_, BOB, PAYOUT, chain_id=1)
        assert (other.value.offered, other.value.ours) == (CHAIN, 1)
        assert (await place.lobby.look(hash_)).joins == ()


async def test_an_offer_for_one_player_is_joined_by_nobody_else(here: Place) -> None:
    async with here.connect() as place:
        hash_ = await place.lobby.make(new_offer(guest=BOB.address, move_time=60), ALICE)
        with pytest.raises(OfferForAnother):
            await place.lobby.join(hash_, CAROL, PAYOUT, chain_id=CHAIN)
        assert (await place.lobby.look(hash_)).joins == ()
        assert (await place.lobby.join(hash_, BOB, PAYOUT, chain_id=CHAIN)).is_full


async def test_an_offer_is_withdrawn_by_its_host_alone(here: Place) -> None:
    async with here.two() as (hosts, guests):
        offer = new_offer()
        hash_ = await hosts.lobby.make(offer, ALICE)
        waiting = asyncio.create_task(all_seated(hosts.lobby, hash_))
        assert await refused(guests.lobby.withdraw(hash_, MALLORY)) is Reason.BAD_SIGNATURE
        assert not (await guests.lobby.look(hash_)).is_over
        await hosts.lobby.withdraw(hash_, ALICE)
        shown = await waiting
        assert (shown.joins, shown.is_over) == ((), True)
        assert offer not in [each.offer for each in await guests.lobby.list()]
        for late in (guests.lobby.join(hash_, BOB, PAYOUT, chain_id=CHAIN), hosts.lobby.withdraw(hash_, ALICE)):
            assert await refused(late) is Reason.UNKNOWN_OFFER


async def test_what_a_lobby_does_not_take(here: Place) -> None:
    async with here.connect() as place:
        lobby, now = place.lobby, int(time.time())
        with pytest.raises(InvalidValue):
            await lobby.make(new_offer(), BOB)
        for expires in (now - 1, now + 30 * 86_400):
            assert await refused(lobby.make(new_offer(expires=expires), ALICE)) is Reason.EXPIRED
        assert await refused(lobby.look(bytes(32))) is Reason.UNKNOWN_OFFER
        hash_ = await lobby.make(new_offer(), ALICE)
        own = lobby.join(hash_, ALICE, PAYOUT, chain_id=CHAIN)
        assert await refused(own) is Reason.NOT_A_PARTICIPANT


async def test_an_offer_expires(here: Place) -> None:
    async with here.connect() as place:
        hash_ = await place.lobby.make(new_offer(expires=int(time.time()) + 2), ALICE)
        while hash_ in [each.offer.hash for each in await place.lobby.list()]:
            await asyncio.sleep(0)
        late = place.lobby.join(hash_, BOB, PAYOUT, chain_id=CHAIN)
        assert await refused(late) is Reason.UNKNOWN_OFFER


async def test_offers_of_a_host_are_bounded_and_outlive_a_restart(here: Place) -> None:
    host = Key(bytes(31) + b"\x07")
    offers = [new_offer(host=host.address) for _ in range(21)]
    async with here.connect() as place:
        for offer in (*offers[:20], offers[0]):
            await place.lobby.make(offer, host)
        assert await refused(place.lobby.make(offers[20], host)) is Reason.TOO_MANY_OFFERS
        await here.restart()
        listed = [each.offer for each in await place.lobby.list() if each.offer.host == host.address]
        assert listed == sorted(offers[:20], key=lambda each: each.hash)
