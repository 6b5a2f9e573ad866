"""The seats of a real relay's lobby: guests join until all are taken, and everybody is at one table or at none."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from forcemove import InvalidValue, Key, UnknownVersion, connect_relay
from forcemove.protocol.codec.msgpack_codec import Codec
from forcemove.relay.offers.listing import PAGE
from forcemove.transport import wire
from forcemove.transport.errors import Reason, TwoSeatsOnly
from forcemove.transport.joins import JOINS, MAX_JOINS, Join, SignedJoin, meeting_table
from forcemove.transport.limits import MAX_FRAME
from forcemove.transport.offers import MAX_OFFER, OFFERS, Offer, SignedOffer
from tests.flow.table import KEYS
from tests.jetstream.server import running_server
from tests.relay.process import RelayProcess, running_relay
from tests.relay.raw import Raw, raw, raw_from
from tests.transport.offered import CAROL, CHAIN, PAYOUT, all_seated, new_offer
from tests.transport.people import ALICE, BOB, MALLORY

OTHER = "127.0.0.2"
DAVE = KEYS["dave"]


@pytest.fixture(scope="module")
def relay(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RelayProcess]:
    with running_relay(tmp_path_factory.mktemp("relay")) as relay:
        yield relay


def join_of(offer: Offer, key: Key, name: str = "") -> Join:
    return Join(offer.hash, key.address, key.address, name)


def message_of(join: Join, key: Key) -> wire.JoinOffer:
    return wire.JoinOffer(b"join", JOINS.encode(join), key.sign(join.digest).compact)


async def make(client: Raw, offer: Offer, key: Key = ALICE) -> None:
    await client.say(wire.MakeOffer(b"", OFFERS.encode(offer), SignedOffer.sign(offer, key).signature.compact))
    await client.hear(wire.OfferShown)


async def answer(client: Raw, message: wire.JoinOffer) -> wire.OfferShown | wire.RequestRefused:
    await client.say(message)
    while not (isinstance(found := await client.next(), wire.OfferShown | wire.RequestRefused) and found.id == b"join"):
        pass
    return found


async def seat(client: Raw, offer: Offer, *keys: Key) -> wire.OfferShown:
    """Let guests join on one connection."""
    shown = [await answer(client, message_of(join_of(offer, key), key)) for key in keys][-1]
    assert isinstance(shown, wire.OfferShown), shown
    return shown


async def until(client: Raw, holds: Callable[[wire.OfferShown], bool]) -> wire.OfferShown:
    """The first change for which it holds."""
    while not (isinstance(shown := await client.next(), wire.OfferShown) and holds(shown)):
        pass
    return shown


async def be_there(client: Raw, offer: Offer, key: Key, *guests: Key) -> None:
    """Prove to be at the table of these guests."""
    await client.say(client.proof(meeting_table(offer, *(join_of(offer, each) for each in guests)), key))
    while not isinstance(await client.next(), wire.Proved):
        pass


def guests_of(shown: wire.OfferShown) -> list[bytes]:
    return [JOINS.decode(join).guest for join, _ in shown.joins]


def addresses(*keys: Key) -> list[bytes]:
    return [each.address for each in keys]


# ---------------------------------------------------------------------------------------------------------- the relay


async def test_guests_join_until_all_seats_are_taken_and_all_see_their_order(relay: RelayProcess) -> None:
    async with connect_relay(relay.url) as hosts, connect_relay(relay.url) as his, connect_relay(relay.url) as hers:
        offer = new_offer(seats=3, name="Alice")
        await hosts.lobby.make(offer, ALICE)
        waiting = asyncio.create_task(all_seated(hosts.lobby, offer.hash))
        first = await his.lobby.join(offer.hash, BOB, PAYOUT, chain_id=CHAIN, name="Bob")
        assert (first.taken, first.table, first.until) == (2, None, 0)
        (listed,) = [each for each in await hers.lobby.list() if each.offer == offer]
        assert [each.join.name for each in listed.joins] == ["Bob"]
        assert not waiting.done()
        last = await hers.lobby.join(offer.hash, CAROL, PAYOUT, chain_id=CHAIN)
        shown = await waiting
        assert shown.table == last.table
        assert shown.table is not None
        assert list(shown.table.participants) == addresses(ALICE, BOB, CAROL)
        assert abs(shown.until - time.time() - 60) < 5
        assert offer not in [each.offer for each in await hers.lobby.list()]


async def test_a_game_begins_when_all_are_at_the_table_and_not_before(relay: RelayProcess) -> None:
    async with raw(relay.url) as host, raw(relay.url) as guests:
        offer = new_offer(seats=3)
        await make(host, offer)
        await seat(guests, offer, BOB, CAROL)
        await be_there(host, offer, ALICE, BOB, CAROL)
        await be_there(guests, offer, CAROL, BOB, CAROL)
        assert not (await seat(guests, offer, BOB)).is_over  # joins again, and has a seat
        await be_there(guests, offer, BOB, BOB, CAROL)
        over = await until(guests, lambda shown: shown.is_over)
        assert guests_of(over) == addresses(BOB, CAROL)


async def test_threat_27_the_table_of_another_order_begins_no_game(relay: RelayProcess) -> None:
    async with raw(relay.url) as host, raw(relay.url) as guests:
        offer = new_offer(seats=3)
        await make(host, offer)
        await seat(guests, offer, BOB, CAROL)
        for key in (BOB, CAROL):
            await be_there(guests, offer, key, BOB, CAROL)
        await be_there(host, offer, ALICE, CAROL, BOB)
        assert not (await seat(guests, offer, BOB)).is_over


async def test_a_guest_has_one_seat_and_no_guest_sits_where_none_is_free(relay: RelayProcess) -> None:
    async with raw(relay.url) as host, raw(relay.url) as guests:
        offer = new_offer(seats=8)
        await make(host, offer)
        keys = [key for name, key in KEYS.items() if name != "alice"]
        for key in keys[:-1]:
            await seat(guests, offer, key)
        assert guests_of(await seat(guests, offer, keys[0])) == addresses(*keys[:-1])
        renamed = message_of(join_of(offer, keys[0], "Another"), keys[0])
        again = await answer(guests, renamed)
        assert isinstance(again, wire.RequestRefused)
        assert (again.reason, "already" in again.detail) == (Reason.OFFER_TAKEN.value, True)
        own = await answer(guests, message_of(join_of(offer, ALICE), ALICE))
        assert isinstance(own, wire.RequestRefused)
        assert own.reason == Reason.NOT_A_PARTICIPANT.value
        assert guests_of(await seat(guests, offer, keys[-1])) == addresses(*keys)
        ninth = await answer(guests, message_of(join_of(offer, MALLORY), MALLORY))
        assert isinstance(ninth, wire.RequestRefused)
        assert ninth.reason == Reason.OFFER_TAKEN.value


async def test_threat_27_a_join_that_is_not_of_this_offer_and_guest_takes_no_seat(relay: RelayProcess) -> None:
    async with raw(relay.url) as host, raw(relay.url) as mallory:
        offer, other = new_offer(seats=3), new_offer(seats=3)
        await make(host, offer)
        elsewhere = join_of(other, BOB)
        forged = [
            replace(message_of(elsewhere, BOB), join=JOINS.encode(replace(elsewhere, offer=offer.hash))),
            message_of(join_of(offer, BOB), MALLORY),
            replace(message_of(join_of(offer, BOB), BOB), join=JOINS.encode(join_of(offer, BOB, "Carol"))),
        ]
        for message in forged:
            found = await answer(mallory, message)
            assert isinstance(found, wire.RequestRefused)
            assert found.reason == Reason.BAD_SIGNATURE.value
        assert guests_of(await seat(mallory, offer, CAROL)) == addresses(CAROL)


async def test_threat_46_the_seat_of_a_guest_that_has_gone_is_free_and_others_move_up(tmp_path: Path) -> None:
    with running_relay(tmp_path, "--guest-seconds", "0.3") as relay:
        async with raw(relay.url) as host, raw(relay.url) as hers:
            offer = new_offer(seats=4)
            await make(host, offer)
            async with raw(relay.url) as his:
                await seat(his, offer, BOB)
                await seat(hers, offer, CAROL)
                await until(host, lambda shown: guests_of(shown) == addresses(BOB, CAROL))
            await until(host, lambda shown: guests_of(shown) == addresses(CAROL))
            assert guests_of(await seat(hers, offer, DAVE)) == addresses(CAROL, DAVE)


async def test_a_guest_that_comes_back_in_time_keeps_its_seat(tmp_path: Path) -> None:
    with running_relay(tmp_path, "--guest-seconds", "1") as relay:
        async with raw(relay.url) as host, raw(relay.url) as again:
            offer = new_offer(seats=3)
            await make(host, offer)
            async with raw(relay.url) as his:
                await seat(his, offer, BOB)
            await seat(again, offer, BOB)
            await asyncio.sleep(1.5)  # longer than it may be away
            assert guests_of(await seat(again, offer, BOB)) == addresses(BOB)


async def test_threat_46_who_is_missing_at_the_table_loses_its_seat_and_the_others_keep_theirs(tmp_path: Path) -> None:
    with running_relay(tmp_path, "--join-seconds", "1") as relay:
        async with raw(relay.url) as host, raw(relay.url) as his, raw_from(relay.url, OTHER) as mallory:
            offer = new_offer(seats=3)
            await make(host, offer)
            for number in range(2):
                stranger = Key(bytes(31) + bytes([100 + number]))
                await seat(mallory, offer, stranger)
                await seat(his, offer, BOB)
                guests = [stranger, BOB] if number == 0 else [BOB, stranger]
                await be_there(host, offer, ALICE, *guests)
                await be_there(his, offer, BOB, *guests)
                await until(his, lambda shown: guests_of(shown) == addresses(BOB))
            refusal = await answer(mallory, message_of(join_of(offer, MALLORY), MALLORY))
            assert isinstance(refusal, wire.RequestRefused)
            assert "come to nothing" in refusal.detail
            await seat(his, offer, CAROL)
            for key in (ALICE, BOB, CAROL):
                await be_there(host if key is ALICE else his, offer, key, BOB, CAROL)
            assert guests_of(await until(his, lambda shown: shown.is_over)) == addresses(BOB, CAROL)


async def test_threat_46_a_guest_that_is_on_its_way_keeps_its_seat_where_another_has_gone(tmp_path: Path) -> None:
    with running_relay(tmp_path, "--guest-seconds", "0.1", "--join-seconds", "50") as relay:
        async with raw(relay.url) as host, raw(relay.url) as guests:
            offer = new_offer(seats=4)
            await make(host, offer)
            await seat(guests, offer, BOB, CAROL)
            async with raw(relay.url) as mallory:
                await seat(mallory, offer, MALLORY)
            await be_there(guests, offer, BOB, BOB, CAROL, MALLORY)
            open_ = await until(guests, lambda shown: not shown.until and len(shown.joins) < 3)
            assert guests_of(open_) == addresses(BOB, CAROL)


async def test_where_only_the_host_is_missing_all_seats_are_open_again_and_nobody_is_blamed(tmp_path: Path) -> None:
    with running_relay(tmp_path, "--join-seconds", "1") as relay:
        async with raw(relay.url) as host, raw(relay.url) as guests:
            offer = new_offer(seats=3)
            await make(host, offer)
            for _ in range(3):
                await seat(guests, offer, BOB, CAROL)
                for key in (BOB, CAROL):
                    await be_there(guests, offer, key, BOB, CAROL)
                await until(guests, lambda shown: not shown.joins)


async def test_all_are_told_that_an_offer_has_expired(tmp_path: Path) -> None:
    with running_relay(tmp_path) as relay:
        async with raw(relay.url) as host, raw(relay.url) as guest:
            offer = new_offer(seats=3, expires=int(time.time()) + 2)
            await make(host, offer)
            await seat(guest, offer, BOB)
            for client in (host, guest):
                over = await until(client, lambda shown: shown.is_over)
                assert over.joins == ()


async def test_on_a_nats_server_only_two_can_meet(tmp_path: Path) -> None:
    with running_server(tmp_path) as server:
        async with connect_relay(server.url) as place:
            with pytest.raises(TwoSeatsOnly) as error:
                await place.lobby.make(new_offer(seats=3), ALICE)
            assert error.value.seats == 3


# -------------------------------------------------------------------------------------------------------------- values


def test_the_table_names_all_joins_in_order() -> None:
    offer = new_offer(seats=3)
    bob, carol, dave = (join_of(offer, each) for each in (BOB, CAROL, DAVE))
    tables = [(bob, carol), (carol, bob), (bob, dave), (bob, replace(carol, name="Carol"))]
    assert len({meeting_table(offer, *each).id for each in tables}) == len(tables)
    assert meeting_table(offer, bob, carol).participants == tuple(addresses(ALICE, BOB, CAROL))
    for joins in [(), (bob,), (bob, carol, dave), (bob, bob), (bob, replace(carol, offer=bytes(32)))]:
        with pytest.raises(InvalidValue):
            meeting_table(offer, *joins)
    with pytest.raises(InvalidValue):
        meeting_table(offer, bob, join_of(offer, ALICE))


@pytest.mark.parametrize("seats", [0, 1, 9, 256])
def test_two_to_eight_play(seats: int) -> None:
    with pytest.raises(InvalidValue):
        new_offer(seats=seats)


@pytest.mark.parametrize("name", ["x" * 33, "Jose\u0301", "\ud800"])
def test_a_name_that_is_none(name: str) -> None:
    with pytest.raises(InvalidValue):
        new_offer(name=name)
    with pytest.raises(InvalidValue):
        join_of(new_offer(), BOB, name)


def test_the_largest_page_of_a_list_fits_into_a_frame() -> None:
    large, name = 2**256 - 1, "\U0001f600" * 32
    offer = new_offer(game="\U0001f600" * 64, stake=large, deposit=large, chain_id=large, seats=8, name=name)
    joins = tuple((JOINS.encode(join_of(offer, key, name)), bytes(64)) for key in list(KEYS.values())[1:8])
    assert len(joins) == MAX_JOINS
    assert len(OFFERS.encode(offer)) <= MAX_OFFER
    shown = (OFFERS.encode(offer), bytes(64), joins)
    assert len(wire.encode(wire.OffersListed(bytes(16), (shown,) * PAGE, True))) < MAX_FRAME


def test_offers_and_joins_of_an_older_program_are_refused() -> None:
    offer = new_offer()
    for codec, value in ((OFFERS, offer), (JOINS, join_of(offer, BOB))):
        older: Codec[object] = Codec("offer", object, 1)
        with pytest.raises(UnknownVersion) as error:
            codec.decode(older.encode(value))
        assert not error.value.is_newer


def test_a_join_of_nobody_is_not_signed() -> None:
    with pytest.raises(InvalidValue):
        SignedJoin.sign(join_of(new_offer(), BOB), ALICE)


async def test_a_connection_holds_seats_of_no_more_offers_than_it_watches(tmp_path: Path) -> None:
    with running_relay(tmp_path, "--watched", "1") as relay:
        async with raw(relay.url) as host, raw(relay.url) as other, raw(relay.url) as guest:
            first, second = new_offer(seats=3), new_offer(seats=3)
            await make(host, first)
            await make(other, second)
            for _ in range(2):
                await seat(guest, first, BOB)
            full = await answer(guest, message_of(join_of(second, BOB), BOB))
            assert isinstance(full, wire.RequestRefused)
            assert full.reason == Reason.TOO_MANY_OFFERS.value
            await other.say(wire.WatchOffer(b"look", second.hash))
            assert (await until(other, lambda shown: shown.id == b"look")).joins == ()
