"""The lobby of a real relay: offers are made, listed, joined and withdrawn; nothing unsigned is believed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest
from msgspec.structs import replace

from forcemove import InvalidValue, Key
from forcemove.protocol.rule_errors import WrongSigner
from forcemove.protocol.types import Signature
from forcemove.transport import wire
from forcemove.transport.errors import Reason, RelayRefused
from forcemove.transport.joins import JOINS, Join, OfferStatus, SignedJoin, meeting_table
from forcemove.transport.offers import OFFERS, Offer, OfferForAnother, OtherOfferShown, SignedOffer, withdrawal_digest
from forcemove.transport.websocket.connection import RelayConnection
from forcemove.transport.websocket.lobby import WebSocketLobby
from tests.relay.process import RelayProcess, running_relay
from tests.relay.proxy import Proxy
from tests.relay.raw import raw
from tests.transport.offered import CAROL, CHAIN, FRIENDLY, PAYOUT, all_seated, join_table, new_offer
from tests.transport.people import ALICE, BOB, MALLORY

ResultT = TypeVar("ResultT")


@pytest.fixture(scope="module")
def relay(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RelayProcess]:
    with running_relay(tmp_path_factory.mktemp("relay"), "--chain", str(CHAIN), "--chain", "0") as relay:
        yield relay


async def test_an_offer_of_another_chain_than_the_relays_is_not_shown(relay: RelayProcess) -> None:
    async with RelayConnection(relay.url) as connection:
        with pytest.raises(RelayRefused) as refused:
            await connection.lobby.make(new_offer(chain_id=5), ALICE)
        assert refused.value.reason is Reason.OTHER_CHAIN


async def test_a_forged_withdrawal_changes_nothing(relay: RelayProcess) -> None:
    async with RelayConnection(relay.url) as connection, raw(relay.url) as mallory:
        offer = new_offer()
        hash_ = await connection.lobby.make(offer, ALICE)
        forged = MALLORY.sign(withdrawal_digest(hash_)).compact
        await mallory.say(wire.WatchOffer(b"", hash_), wire.WithdrawOffer(b"", hash_, forged))
        await mallory.hear(wire.OfferShown)
        assert (await mallory.hear(wire.RequestRefused)).reason == Reason.BAD_SIGNATURE.value
        assert not (await connection.lobby.look(hash_)).is_over
        await connection.lobby.withdraw(hash_, ALICE)
        assert (await mallory.hear(wire.OfferShown)).is_over
        assert offer not in [each.offer for each in await connection.lobby.list()]


async def test_what_the_lobby_does_not_take(relay: RelayProcess) -> None:
    offer, other = new_offer(), new_offer(host=BOB.address)
    good = SignedOffer.sign(offer, ALICE)
    join = Join(offer.hash, BOB.address, PAYOUT)
    own = Join(offer.hash, ALICE.address, PAYOUT)
    late = new_offer(expires=int(time.time()) - 1)
    ages = new_offer(expires=int(time.time()) + 30 * 86_400)
    private = new_offer(guest=CAROL.address)
    theirs = Join(private.hash, BOB.address, PAYOUT)
    said: list[tuple[wire.Message, Reason]] = [
        (wire.MakeOffer(b"", OFFERS.encode(other), ALICE.sign(other.digest).compact), Reason.BAD_SIGNATURE),
        (wire.MakeOffer(b"", OFFERS.encode(replace(offer, stake=1)), good.signature.compact), Reason.BAD_SIGNATURE),
        (wire.MakeOffer(b"", b"\x00", bytes(64)), Reason.BAD_SIGNATURE),
        (wire.MakeOffer(b"", OFFERS.encode(late), ALICE.sign(late.digest).compact), Reason.EXPIRED),
        (wire.MakeOffer(b"", OFFERS.encode(ages), ALICE.sign(ages.digest).compact), Reason.EXPIRED),
        (wire.JoinOffer(b"", JOINS.encode(join), BOB.sign(join.digest).compact), Reason.UNKNOWN_OFFER),
        (wire.MakeOffer(b"", OFFERS.encode(offer), good.signature.compact), Reason.BUSY),
        (wire.JoinOffer(b"", JOINS.encode(join), MALLORY.sign(join.digest).compact), Reason.BAD_SIGNATURE),
        (wire.JoinOffer(b"", JOINS.encode(own), ALICE.sign(own.digest).compact), Reason.NOT_A_PARTICIPANT),
        (wire.JoinOffer(b"", b"", bytes(64)), Reason.BAD_SIGNATURE),
        (wire.MakeOffer(b"", OFFERS.encode(private), ALICE.sign(private.digest).compact), Reason.BUSY),
        (wire.JoinOffer(b"", JOINS.encode(theirs), BOB.sign(theirs.digest).compact), Reason.NOT_A_PARTICIPANT),
    ]
    async with raw(relay.url) as mallory:
        for message, reason in said:
            await mallory.say(message)
            answer = await mallory.next()
            found = answer.reason if isinstance(answer, wire.RequestRefused) else Reason.BUSY.value
            assert found == reason.value, (message, answer)


async def test_offers_are_bounded_and_outlive_the_relay(tmp_path: Path) -> None:
    with running_relay(tmp_path, "--offers", "40", "--offers-of-a-host", "35") as relay:
        async with RelayConnection(relay.url) as connection:
            made = [new_offer() for _ in range(35)] + [new_offer(host=BOB.address) for _ in range(5)]
            for offer in made[:35]:
                await connection.lobby.make(offer, ALICE)
            assert await _refused(connection, new_offer(), ALICE) is Reason.TOO_MANY_OFFERS
            for offer in made[35:]:
                await connection.lobby.make(offer, BOB)
            assert await _refused(connection, new_offer(host=BOB.address), BOB) is Reason.TOO_MANY_OFFERS
            await asyncio.to_thread(relay.kill)
            await asyncio.to_thread(relay.start)
            listed = await connection.lobby.list()
            assert [each.offer for each in listed] == sorted(made, key=lambda each: each.hash)


async def _refused(connection: RelayConnection, offer: Offer, key: Key) -> Reason:
    with pytest.raises(RelayRefused) as refused:
        await connection.lobby.make(offer, key)
    return refused.value.reason


async def test_what_was_asked_is_asked_again_after_a_cut(tmp_path: Path) -> None:
    async with Proxy() as proxy:
        with running_relay(tmp_path, "--url", proxy.url) as relay:
            proxy.target = relay.port
            async with RelayConnection(proxy.url) as hosts, RelayConnection(relay.url) as guests:
                hash_ = await hosts.lobby.make(new_offer(), ALICE)
                waiting = asyncio.create_task(all_seated(hosts.lobby, hash_))
                await hosts.lobby.look(hash_)
                proxy.cut()
                table = await join_table(guests.lobby, hash_, BOB, PAYOUT, chain_id=CHAIN)
                assert (await waiting).table == table


# ------------------------------------------------------------------------------------------------- what a relay shows


def _shown(offer: Offer) -> wire.OfferShown:
    return wire.OfferShown(
        (0).to_bytes(8), offer.hash, OFFERS.encode(offer), ALICE.sign(offer.digest).compact, False, (), 0
    )


def _joined(offer: Offer, join: Join, signature: Signature) -> wire.OfferShown:
    return replace(_shown(offer), joins=((JOINS.encode(join), signature.compact),))


async def _at_leisure(asking: Coroutine[Any, Any, ResultT], asked: str) -> ResultT:
    return await asking


async def test_a_relay_that_shows_something_else_is_not_believed() -> None:
    offer, other = new_offer(), new_offer()
    foreign = SignedJoin.sign(Join(other.hash, BOB.address, PAYOUT), BOB)
    forged = Join(offer.hash, BOB.address, PAYOUT)
    private = new_offer(guest=CAROL.address)
    theirs = Join(private.hash, BOB.address, PAYOUT)
    lies = [
        replace(_shown(offer), offer=OFFERS.encode(other)),
        replace(_shown(other), about=offer.hash),
        replace(_shown(offer), signature=bytes(64)),
        replace(_shown(offer), offer=b"\x01"),
        _joined(offer, foreign.join, foreign.signature),
        _joined(offer, forged, MALLORY.sign(forged.digest)),
        _joined(private, theirs, BOB.sign(theirs.digest)),
    ]
    for lie in [*lies, _shown(offer)]:
        said: list[wire.Message] = []
        lobby = WebSocketLobby(said.append, time.time, _at_leisure)
        looking = asyncio.create_task(lobby.look(lie.about if lie is lies[-1] else offer.hash))
        while not said:
            await asyncio.sleep(0)
        lobby.on_message(lie)
        if lie in lies:
            with pytest.raises(OtherOfferShown):
                await looking
        else:
            assert await looking == OfferStatus(SignedOffer.sign(offer, ALICE), (), 0, False)


# -------------------------------------------------------------------------------------------------------------- values


@pytest.mark.parametrize(
    "other",
    [
        {"game": ""},
        {"game": "x" * 65},
        {"game": "a\x1b[2J"},
        {"host": bytes(20)},
        {"payout": bytes(20)},
        {"payout": bytes(19)},
        {"stake": -1},
        {"stake": 2**256},
        {"stake": 0},
        {"deposit": 1},
        {"duration": 59},
        {"duration": 2**48},
        {"move_time": -1},
        {"move_time": 2**48},
        {"guest": bytes(19)},
        {"guest": bytes(20)},
        {"guest": ALICE.address},
        {"guest": BOB.address, "seats": 3},
        {"nonce": 2**64},
        {"expires": -1},
        {"adjudicator": bytes(20)},
        {"app": bytes(20)},
        FRIENDLY | {"stake": 1, "deposit": 1},
        FRIENDLY | {"app": b"\xa9" * 20},
        FRIENDLY | {"asset": b"\xa9" * 20},
    ],
)
def test_an_offer_that_makes_no_sense_is_none(other: dict[str, object]) -> None:
    with pytest.raises(InvalidValue):
        new_offer(**other)


@pytest.mark.parametrize("field", Offer.__struct_fields__)
@pytest.mark.parametrize("terms", [{}, {"move_time": 60, "guest": BOB.address}], ids=["plain", "private"])
def test_a_signature_is_over_every_term(field: str, terms: dict[str, object]) -> None:
    if field == "seats" and terms:
        return  # a private offer is for two
    offer = new_offer(**terms)
    value = getattr(offer, field)
    changed = value + 1 if type(value) is int else value + "x" if type(value) is str else b"\x77" * 20
    other = replace(offer, **{field: changed})
    assert other.hash != offer.hash
    with pytest.raises(WrongSigner):
        SignedOffer(other, Signature(ALICE.sign(offer.digest).compact)).verify()


def test_a_join_is_of_one_offer_by_one_guest_for_one_payout() -> None:
    offer = new_offer()
    join = Join(offer.hash, BOB.address, PAYOUT)
    others = [replace(join, offer=bytes(32)), replace(join, guest=CAROL.address), replace(join, payout=BOB.address)]
    assert len({join.digest, *(each.digest for each in others)}) == 4
    assert len({meeting_table(offer, each).id for each in (join, *others[1:])}) == 3
    with pytest.raises(InvalidValue):
        meeting_table(offer, others[0])


@pytest.mark.parametrize(
    "terms", [{}, {"move_time": 60}, {"guest": BOB.address}, {"move_time": 60, "guest": BOB.address}]
)
def test_offers_and_joins_travel_whole(terms: dict[str, object]) -> None:
    offer = new_offer(stake=2**256 - 1, deposit=2**256 - 1, **terms)
    assert OFFERS.decode(OFFERS.encode(offer)) == offer
    join = Join(offer.hash, BOB.address, PAYOUT)
    assert JOINS.decode(JOINS.encode(join)) == join


def test_only_the_guest_of_a_private_offer_has_a_table_with_its_host() -> None:
    offer = new_offer(guest=BOB.address)
    assert meeting_table(offer, Join(offer.hash, BOB.address, PAYOUT)).participants == (ALICE.address, BOB.address)
    with pytest.raises(OfferForAnother):
        meeting_table(offer, Join(offer.hash, CAROL.address, PAYOUT))
