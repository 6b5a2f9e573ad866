"""The lobby's list and its joins, where strangers want to hold or fill it."""

from __future__ import annotations

import asyncio
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from forcemove.protocol.signing import Key
from forcemove.relay.offers.listing import PAGE, Listing
from forcemove.transport import wire
from forcemove.transport.errors import Reason
from forcemove.transport.joins import JOINS, Join, SignedJoin, meeting_table
from forcemove.transport.offers import OFFERS, SignedOffer
from forcemove.transport.wire import SendBuffer as Frames
from tests.relay.process import running_relay
from tests.relay.raw import Raw, raw, raw_from
from tests.relay.strangers.crowd import key
from tests.transport.offered import new_offer
from tests.transport.people import ALICE

OTHER = "127.0.0.2"


def listed(listing: Listing, after: bytes | None, now: float = 0) -> wire.OffersListed:
    frames = Frames()
    frames.add(listing.answer(b"id", after, now))
    (message,) = wire.decode_from_relay(frames.take())
    assert isinstance(message, wire.OffersListed)
    assert message.id == b"id"
    return message


def name(number: int) -> bytes:
    return number.to_bytes(32)


def expiry(number: int) -> int:
    """An offer's hash says when it expires."""
    return 1 + number % 9


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 200))), st.integers(0, 10))
def test_the_list_is_what_is_open_in_order(story: list[tuple[bool, int]], now: int) -> None:
    listing, expected = Listing(), set[int]()
    for is_made, number in story:
        listed(listing, None)
        if is_made:
            listing.add(name(number), name(number), bytes(64), expiry(number))
            expected.add(number)
        else:
            listing.drop(name(number))
            expected.discard(number)
    after, found = None, list[bytes]()
    while True:
        page = listed(listing, after, now)
        found += [offer for offer, *_ in page.offers]
        if page.is_all:
            break
        assert len(page.offers) == PAGE
        after = found[-1]
    assert found == [name(each) for each in sorted(expected) if expiry(each) > now]


def test_threat_59_a_page_is_made_once_however_often_it_is_asked_for() -> None:
    listing = Listing()
    for number in range(100):
        listing.add(name(number), bytes(500), bytes(64), 10**9)
    listed(listing, None)
    first = listing._pages[0]
    for _ in range(100):
        listed(listing, None)
    assert listing._pages[0] is first
    for number in range(100):
        listed(listing, name(number))
    assert len(listing._pages) <= 64
    listing.drop(name(3))
    assert not listing._pages


def test_what_has_expired_leaves_nothing_behind() -> None:
    listing = Listing()
    for number in range(10_000):
        listing.add(name(number), b"", bytes(64), 10**9)
        listing.drop(name(number))
    assert len(listing) == 0
    assert len(listing._ends) <= PAGE + 1


# --------------------------------------------------------------------------------------------------------------- joins


def _offered(host: Key) -> tuple[bytes, wire.MakeOffer]:
    offer = new_offer(host=host.address, payout=host.address)
    return offer.hash, wire.MakeOffer(b"", OFFERS.encode(offer), SignedOffer.sign(offer, host).signature.compact)


def _join(offer: bytes, guest: Key) -> wire.JoinOffer:
    signed = SignedJoin.sign(Join(offer, guest.address, guest.address), guest)
    return wire.JoinOffer(b"join", JOINS.encode(signed.join), signed.signature.compact)


async def _answer(client: Raw, message: wire.Message) -> wire.OfferShown | wire.RequestRefused:
    await client.say(message)
    while not (
        isinstance(answer := await client.next(), wire.OfferShown | wire.RequestRefused) and answer.id == b"join"
    ):
        pass
    return answer


async def _open_again(host: Raw) -> None:
    while not (isinstance(shown := await host.next(), wire.OfferShown) and not shown.joins):
        pass


async def test_threat_59_a_stranger_does_not_hold_an_offer_by_joining_again_and_again(tmp_path: Path) -> None:
    """With a new key each time. Others may join when it has come to nothing."""

    with running_relay(tmp_path, "--guest-seconds", "0.1") as relay:
        async with raw(relay.url) as host, raw_from(relay.url, OTHER) as mallory, raw(relay.url) as bob:
            offer, make = _offered(ALICE)
            await host.say(make)
            await host.hear(wire.OfferShown)
            for attempt in range(2):
                assert isinstance(await _answer(mallory, _join(offer, key(f"mallory {attempt}"))), wire.OfferShown)
                await _open_again(host)
            refused = await _answer(mallory, _join(offer, key("mallory 3")))
            assert isinstance(refused, wire.RequestRefused)
            assert refused.reason == Reason.OFFER_TAKEN.value
            assert "come to nothing" in refused.detail
            assert isinstance(await _answer(bob, _join(offer, key("bob"))), wire.OfferShown)


async def test_a_guest_that_is_at_its_table_has_time_for_its_host(tmp_path: Path) -> None:
    with running_relay(tmp_path, "--guest-seconds", "0.1", "--join-seconds", "3") as relay:
        async with raw(relay.url) as host, raw(relay.url) as guest:
            bob = key("bob")
            offer = new_offer()
            make = wire.MakeOffer(b"", OFFERS.encode(offer), SignedOffer.sign(offer, ALICE).signature.compact)
            await host.say(make)
            await host.hear(wire.OfferShown)
            await _answer(guest, _join(offer.hash, bob))
            table = meeting_table(offer, Join(offer.hash, bob.address, bob.address))
            await guest.say(guest.proof(table, bob))
            while not isinstance(await guest.next(), wire.Proved):
                pass
            joined = await host.hear(wire.OfferShown)
            assert joined.joins
            await asyncio.sleep(0.5)  # five times as long as a guest has that does not come
            await host.say(wire.WatchOffer(b"look", offer.hash))
            shown = await host.hear(wire.OfferShown)
            assert (shown.id, shown.joins) == (b"look", joined.joins)


async def test_threat_59_offers_are_bounded_by_address_and_a_full_lobby_has_room_for_others(tmp_path: Path) -> None:
    with running_relay(tmp_path, "--offers", "10", "--offers-per-address", "9") as relay:
        async with raw_from(relay.url, OTHER) as mallory, raw(relay.url) as alice:
            made = [_offered(key(f"host {number}")) for number in range(12)]
            answers: list[wire.Message] = []
            for _, make in made:
                await mallory.say(make)
                answers.append(await mallory.next())
            assert [type(each) for each in answers] == [wire.OfferShown] * 9 + [wire.RequestRefused] * 3
            for number in range(3):
                await alice.say(_offered(key(f"alice {number}"))[1])
                await alice.hear(wire.OfferShown)
            await alice.say(wire.WatchOffer(b"", made[0][0]))
            assert (await alice.hear(wire.RequestRefused)).reason == Reason.UNKNOWN_OFFER.value
            await alice.say(wire.WatchOffer(b"", made[8][0]))
            await alice.hear(wire.OfferShown)
