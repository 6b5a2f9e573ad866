"""Clients are told when the list of open offers changes: at once, once, and whatever strangers do."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from pathlib import Path

import pytest

from forcemove import Key
from forcemove.relay.offers import visiting
from forcemove.relay.offers.listing import ListWatchers
from forcemove.sessions.meetings.lobby import open_offers
from forcemove.transport import wire
from forcemove.transport.connect import Connection, connect_relay
from forcemove.transport.errors import Reason
from forcemove.transport.joins import OfferStatus
from forcemove.transport.offers import OFFERS, Offer, SignedOffer, withdrawal_digest
from forcemove.transport.websocket import lobby
from tests.relay.inside import Listener, relay_inside
from tests.relay.process import running_relay
from tests.relay.raw import Raw, raw, raw_from
from tests.relay.strangers.crowd import key
from tests.transport.offered import new_offer
from tests.transport.people import ALICE

TOLD = wire.OffersListed(b"list", (), is_all=False)
WATCH = wire.WatchOffer(b"list", wire.ALL_OFFERS)
STRANGER = "127.0.0.2"
SECONDS = 20.0


async def test_threat_59_a_client_has_one_place_and_is_told_once_however_much_changes() -> None:
    watchers, client = ListWatchers(), Listener()
    for number in range(1_000):
        watchers.wait(client, number.to_bytes(8), watchers.revision)
    assert client.heard() == []
    for _ in range(1_000):
        watchers.change()
    assert [each.id for each in client.heard() if isinstance(each, wire.OffersListed)] == [(999).to_bytes(8)]
    assert client not in watchers


async def test_threat_59_thousands_are_told_in_turns_and_each_of_them() -> None:
    watchers, clients = ListWatchers(), [Listener() for _ in range(120)]
    for client in clients:
        watchers.wait(client, b"list", watchers.revision)
    watchers.change()
    assert [client in watchers for client in clients] == [False] * 50 + [True] * 70
    watchers.forget(clients[-1])
    async with asyncio.timeout(SECONDS):
        while any(client in watchers for client in clients):
            await asyncio.sleep(0.01)
    assert [client.heard() for client in clients] == [[TOLD]] * 119 + [[]]


async def test_who_has_seen_an_older_list_is_told_at_once_and_who_has_seen_this_one_is_not() -> None:
    watchers, client = ListWatchers(), Listener()
    watchers.wait(client, b"list", None)
    assert client.heard() == [TOLD]
    watchers.change()
    watchers.wait(client, b"list", watchers.revision)
    assert client in watchers


async def test_a_client_is_told_of_each_change_and_of_nothing_else(tmp_path: Path) -> None:
    offer = new_offer()
    with running_relay(tmp_path) as relay:
        async with raw(relay.url) as alice, raw(relay.url) as bob:
            await _listed(bob)
            await bob.say(WATCH, wire.WatchOffer(b"none", bytes(32)))
            assert (await bob.hear(wire.RequestRefused)).reason == Reason.UNKNOWN_OFFER.value
            await alice.say(_made(offer, ALICE))
            assert await bob.hear(wire.OffersListed) == TOLD
            assert len((await _listed(bob)).offers) == 1
            await bob.say(WATCH)
            await alice.say(_withdrawn(offer, ALICE))
            assert await bob.hear(wire.OffersListed) == TOLD
            assert (await _listed(bob)).offers == ()


async def test_who_waits_for_offers_is_not_idle(tmp_path: Path) -> None:
    with running_relay(tmp_path, "--idle-seconds", "0.2") as relay:
        async with raw(relay.url) as bob, raw(relay.url) as idle:
            await _listed(bob)
            await bob.say(WATCH)
            assert await idle.closed() == 1000
            async with raw(relay.url) as alice:
                await alice.say(_made(new_offer(), ALICE))
                assert await bob.hear(wire.OffersListed) == TOLD


async def test_threat_59_a_flood_of_offers_and_of_watchers_hides_no_friends_offer(tmp_path: Path) -> None:
    """Strangers offer and withdraw, and ask again and again to be told, as fast as they may. Who looks at the list asks
    for it twice a second at most, and sees what a friend offers."""
    with running_relay(tmp_path) as relay:
        async with (
            connect_relay(relay.url) as alice,
            connect_relay(relay.url) as bob,
            raw_from(relay.url, STRANGER) as offering,
            raw_from(relay.url, STRANGER) as asking,
        ):
            flood = [asyncio.create_task(each) for each in (_offer_for_ever(offering), _watch_for_ever(asking))]
            async with aclosing(open_offers(bob.lobby, lambda offer: offer.host == ALICE.address, 10)) as looks:
                assert await anext(looks) == []
                began, offer, asked = time.monotonic(), new_offer(), 1
                await alice.lobby.make(offer, ALICE)
                async with asyncio.timeout(SECONDS):
                    while not await anext(looks):
                        asked += 1
                assert asked <= 2 * (time.monotonic() - began) + 2
            assert not any(each.done() for each in flood)
            for each in flood:
                each.cancel()
                with suppress(asyncio.CancelledError):
                    await each


async def test_while_nothing_changes_nothing_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lobby, "CHANGE_SECONDS", 0.01)
    async with relay_inside() as url, connect_relay(url) as alice, connect_relay(url) as bob:
        said = _overheard(bob, monkeypatch)
        async with _shown(bob) as shown:
            assert await anext(shown) == []
            waiting = asyncio.ensure_future(anext(shown))
            async with asyncio.timeout(SECONDS):
                while WATCH not in said:
                    await asyncio.sleep(0.01)
            asked = len(said)
            await _many_requests(alice)
            assert (len(said), waiting.done()) == (asked, False)
            offer = new_offer()
            await alice.lobby.make(offer, ALICE)
            assert [each.offer for each in await waiting] == [offer]


async def test_at_an_older_relay_offers_are_found_by_asking_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visiting, "ALL_OFFERS", None)  # for such a relay it is an offer like any other: there is none
    monkeypatch.setattr(lobby, "CHANGE_SECONDS", 0.1)
    async with relay_inside() as url, connect_relay(url) as alice, connect_relay(url) as bob, _shown(bob) as shown:
        assert await anext(shown) == []
        offer = new_offer()
        await alice.lobby.make(offer, ALICE)
        await _until_shown(shown, offer)


async def test_an_older_relay_tells_of_a_change_of_a_listed_offer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visiting, "ALL_OFFERS", None)
    monkeypatch.setattr(lobby, "CHANGE_SECONDS", 10 * SECONDS)
    async with relay_inside() as url, connect_relay(url) as alice, connect_relay(url) as bob, _shown(bob) as shown:
        offer = new_offer()
        await alice.lobby.make(offer, ALICE)
        assert [each.offer for each in await anext(shown)] == [offer]
        waiting = asyncio.ensure_future(anext(shown))
        await alice.lobby.withdraw(offer.hash, ALICE)
        async with asyncio.timeout(SECONDS):
            assert await waiting == []


async def test_after_a_restart_of_the_relay_new_offers_are_told_of(tmp_path: Path) -> None:
    with running_relay(tmp_path) as relay:
        async with connect_relay(relay.url) as alice, connect_relay(relay.url) as bob, _shown(bob) as shown:
            first, second = new_offer(), new_offer()
            await alice.lobby.make(first, ALICE)
            await _until_shown(shown, first)
            relay.kill()
            relay.start()
            await alice.lobby.make(second, ALICE)
            await _until_shown(shown, second)


def _overheard(connection: Connection, monkeypatch: pytest.MonkeyPatch) -> list[wire.Message]:
    """What the connection asks of its lobby from now on."""
    said, send = list[wire.Message](), connection.lobby._send  # type: ignore[attr-defined]

    def overhear(message: wire.Message) -> None:
        said.append(message)
        send(message)

    monkeypatch.setattr(connection.lobby, "_send", overhear)
    return said


def _shown(connection: Connection) -> aclosing[AsyncGenerator[list[OfferStatus]]]:
    return aclosing(open_offers(connection.lobby, lambda _: True, 10))


async def _until_shown(shown: AsyncGenerator[list[OfferStatus]], offer: Offer) -> None:
    async with asyncio.timeout(SECONDS):
        async for found in shown:
            if offer in [each.offer for each in found]:
                return


async def _many_requests(connection: Connection) -> None:
    for _ in range(100):
        await connection.lobby.list()


async def _listed(client: Raw) -> wire.OffersListed:
    await client.say(wire.ListOffers(b"first", None))
    return await client.hear(wire.OffersListed)


def _made(offer: Offer, host: Key) -> wire.MakeOffer:
    return wire.MakeOffer(b"", OFFERS.encode(offer), SignedOffer.sign(offer, host).signature.compact)


def _withdrawn(offer: Offer, host: Key) -> wire.WithdrawOffer:
    return wire.WithdrawOffer(b"", offer.hash, host.sign(withdrawal_digest(offer.hash)).compact)


async def _offer_for_ever(client: Raw) -> None:
    mallory = key("mallory")
    while True:
        offer = new_offer(host=mallory.address, payout=mallory.address)
        await client.say(_made(offer, mallory), _withdrawn(offer, mallory))
        await client.hear(wire.OfferShown)


async def _watch_for_ever(client: Raw) -> None:
    while True:
        await client.say(*[WATCH] * 100)
        await client.hear(wire.OffersListed)
