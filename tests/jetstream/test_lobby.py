"""Whatever is in the bucket of a NATS server's lobby, nothing unsigned is believed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from random import Random

import nats
import pytest
from msgspec.structs import replace

from forcemove.errors import UnknownVersion
from forcemove.transport.connect import Connection, connect_relay
from forcemove.transport.errors import Reason, RelayRefused
from forcemove.transport.jetstream.stored_offer import StoredOffer, read_entry
from forcemove.transport.jetstream.streams import LOBBY, LOBBY_SUBJECT
from forcemove.transport.joins import Join, OfferStatus, SignedJoin, meeting_table, presence_digest
from forcemove.transport.offers import Offer, OtherOfferShown, SignedOffer, withdrawal_digest
from tests.jetstream.server import NatsServer, publish_raw, running_server
from tests.transport.offered import CAROL, CHAIN, FRIENDLY, PAYOUT, new_offer, refused
from tests.transport.people import ALICE, BOB, MALLORY, run


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NatsServer]:
    with running_server(tmp_path_factory.mktemp("nats")) as server:
        yield server


@asynccontextmanager
async def tampered(server: NatsServer, offer: Offer, value: bytes) -> AsyncIterator[Connection]:
    """A client of a lobby in which somebody else has put a value in the place of Alice's offer."""
    async with connect_relay(server.url) as place:
        await place.lobby.make(offer, ALICE)
        client = await nats.connect(server.url)
        await (await client.jetstream().key_value(LOBBY)).put(offer.hash.hex(), value)
        await client.close()
        yield place


def _values(offer: Offer) -> tuple[StoredOffer, StoredOffer]:
    """Alice's offer, open and joined by Bob."""
    open_ = StoredOffer.of(SignedOffer.sign(offer, ALICE))
    return open_, open_.joined(SignedJoin.sign(Join(offer.hash, BOB.address, PAYOUT), BOB))


def _other(offer: Offer) -> list[bytes]:
    """What is not Alice's offer."""
    open_, _ = _values(offer)
    forged = replace(open_, signature=MALLORY.sign(offer.digest).compact)
    elsewhere, _ = _values(new_offer())
    return [b"", b"\x00", b"\x00\x02", b"\x00\x02\xc0", b"x" * 9_000, forged.encode(), elsewhere.encode()]


async def test_what_is_no_offer_of_its_host_is_not_shown(server: NatsServer) -> None:
    offer = new_offer(**FRIENDLY)
    for value in _other(offer):
        async with tampered(server, offer, value) as place:
            with pytest.raises(OtherOfferShown):
                await place.lobby.look(offer.hash)
            assert offer not in [each.offer for each in await place.lobby.list()]
            await place.lobby.make(offer, ALICE)
            assert (await place.lobby.look(offer.hash)).signed.offer == offer


def _unsigned(offer: Offer) -> dict[str, StoredOffer]:
    open_, joined = _values(offer)
    assert joined.join is not None
    forged = SignedJoin.sign(Join(offer.hash, MALLORY.address, PAYOUT), MALLORY).signature.compact
    elsewhere = _values(new_offer())[1]
    table = meeting_table(offer, Join(offer.hash, BOB.address, PAYOUT)).id
    hers, his = ALICE.sign(presence_digest(table)).compact, BOB.sign(presence_digest(table)).compact
    return {
        "a join that the guest has not signed": replace(joined, join_signature=forged),
        "a join of another offer": replace(open_, join=elsewhere.join, join_signature=elsewhere.join_signature),
        "a join without a signature": replace(joined, join_signature=None),
        "a withdrawal that the host has not signed": replace(
            open_, withdrawal=MALLORY.sign(withdrawal_digest(offer.hash)).compact
        ),
        "a withdrawal of another offer": replace(open_, withdrawal=ALICE.sign(withdrawal_digest(bytes(32))).compact),
        "a game that nobody has joined": replace(open_, host=hers, guest=his),
    }


@pytest.mark.parametrize("what", _unsigned(new_offer()))
async def test_what_is_not_signed_counts_as_if_it_were_not_there(server: NatsServer, what: str) -> None:
    offer = new_offer()
    async with tampered(server, offer, _unsigned(offer)[what].encode()) as place:
        shown = await place.lobby.look(offer.hash)
        assert (shown.joins, shown.is_over) == ((), False)
        assert offer in [each.offer for each in await place.lobby.list()]
        await place.lobby.join(offer.hash, CAROL, PAYOUT, chain_id=CHAIN)


def test_a_guest_that_read_an_offer_before_another_was_taken_takes_nobodys_seat(
    server: NatsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Carol has read the offer as open; Bob is told that he has the seat before she writes."""

    async def story() -> None:
        offer, shown = new_offer(), list[OfferStatus]()
        async with connect_relay(server.url) as bobs, connect_relay(server.url) as carols:
            await bobs.lobby.make(offer, ALICE)
            write = carols.lobby._write  # type: ignore[attr-defined]  # the lobby's moment between reading and writing

            async def late(*arguments: object) -> bool:
                if not shown:
                    shown.append(await bobs.lobby.join(offer.hash, BOB, PAYOUT, chain_id=CHAIN))
                return bool(await write(*arguments))

            monkeypatch.setattr(carols.lobby, "_write", late)
            with pytest.raises(RelayRefused) as refusal:
                await carols.lobby.join(offer.hash, CAROL, PAYOUT, chain_id=CHAIN)
            assert refusal.value.reason is Reason.OFFER_TAKEN
            assert (await bobs.lobby.look(offer.hash)).joins == shown[0].joins

    run(story())


async def test_that_one_was_there_does_not_begin_the_game(server: NatsServer) -> None:
    offer = new_offer()
    _, joined = _values(offer)
    table = meeting_table(offer, Join(offer.hash, BOB.address, PAYOUT)).id
    hers, his = ALICE.sign(presence_digest(table)).compact, BOB.sign(presence_digest(table)).compact
    elsewhere = ALICE.sign(presence_digest(bytes(32))).compact
    for host, guest in ((None, his), (hers, None), (his, his), (hers, hers), (elsewhere, his)):
        async with tampered(server, offer, replace(joined, host=host, guest=guest).encode()) as place:
            assert not (await place.lobby.look(offer.hash)).is_over
    async with tampered(server, offer, replace(joined, host=hers, guest=his).encode()) as place:
        assert await refused(place.lobby.look(offer.hash)) is Reason.UNKNOWN_OFFER


def test_nobody_gets_more_time_than_a_minute_by_saying_so() -> None:
    offer = new_offer()
    _, joined = _values(offer)
    now = float(offer.expires - 3_000)
    for until in (0, int(now) + 10**6):
        data = replace(joined, until=until).encode()
        assert read_entry(offer.hash, data, 1, now, now + 59, 60).shown.joins
        assert read_entry(offer.hash, data, 1, now, now + 61, 60).shown.joins == ()
    early = replace(joined, until=int(now) + 5).encode()
    assert read_entry(offer.hash, early, 1, now, now + 6, 60).shown.joins == ()


async def test_an_offer_of_a_newer_program_is_recognised(server: NatsServer) -> None:
    offer = new_offer()
    open_, _ = _values(offer)
    async with tampered(server, offer, (3).to_bytes(2) + open_.encode()[2:]) as place:
        with pytest.raises(UnknownVersion) as newer:
            await place.lobby.look(offer.hash)
        assert newer.value.is_newer
        assert offer not in [each.offer for each in await place.lobby.list()]


async def test_keys_that_name_no_offer_are_passed_over(server: NatsServer) -> None:
    offer = new_offer()
    async with connect_relay(server.url) as place:
        await place.lobby.make(offer, ALICE)
        client = await nats.connect(server.url)
        bucket = await client.jetstream().key_value(LOBBY)
        for key in ("hello", "00", offer.hash.hex().upper(), bytes(32).hex()):
            await bucket.put(key, _values(offer)[0].encode())
        await client.close()
        listed = [each.offer for each in await place.lobby.list()]
        assert listed.count(offer) == 1


@pytest.mark.parametrize("count", [3_000, pytest.param(100_000, marks=pytest.mark.long)])
def test_threat_25_fuzzed_values_are_read_or_refused(count: int) -> None:
    random, offer = Random(count), new_offer()
    values, now, read = [each.encode() for each in _values(offer)], float(offer.expires - 3_000), 0
    for _ in range(count):
        data = bytearray(random.choice(values))
        for _ in range(random.randrange(3)):
            data[random.randrange(len(data))] = random.randrange(256)
        try:
            kept = read_entry(offer.hash, bytes(data), 1, now, now + 1, 60)
        except (OtherOfferShown, UnknownVersion):
            continue
        read += 1
        assert kept.shown.signed.offer == offer
        assert all(each.join.guest == BOB.address for each in kept.shown.joins)
    assert read > count // 10


async def test_threat_25_headers_that_are_none_hide_no_other_offer(server: NatsServer) -> None:
    hidden, offer = new_offer(host=CAROL.address), new_offer(host=CAROL.address)
    async with connect_relay(server.url) as place:
        await place.lobby.make(offer, CAROL)
        for headers in (b"NATS/1.0", b"N", b"NATS/1.0 \xff\xfe\xff\r\n\r\n"):
            subject = LOBBY_SUBJECT + hidden.hash.hex()
            await asyncio.to_thread(publish_raw, server, subject, headers, b"\x00")
            assert offer in [each.offer for each in await place.lobby.list()]
            with pytest.raises(OtherOfferShown):
                await place.lobby.look(hidden.hash)
        await place.lobby.make(hidden, CAROL)
        assert (await place.lobby.look(hidden.hash)).signed.offer == hidden
