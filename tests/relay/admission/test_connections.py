"""A relay's connections while nothing comes on them, and what is left of them when they have ended."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import socket
import ssl
import struct
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import uvloop
from aiohttp.web import RequestHandler, WebSocketResponse

from forcemove.relay.admission.listening import ConnectionIntake
from forcemove.relay.clients.peer import Peer
from forcemove.transport.offers import OFFERS, SignedOffer
from forcemove.transport.wire import MakeOffer, OfferShown, Proved, WatchOffer
from tests.certificate import ANY_CERTIFICATE, make_certificate
from tests.relay.admission.test_listening import HALF_A_FRAME, UPGRADE, many_frames
from tests.relay.inside import relay_inside
from tests.relay.raw import Raw, count_connections, raw
from tests.transport.offered import new_offer
from tests.transport.people import ALICE, new_table, run

PING, HEARTBEAT = b"\x89\x00", 0.2
KINDS = 10
"""Connections of each kind."""
_OF_A_CONNECTION = (Peer, ConnectionIntake, RequestHandler, WebSocketResponse)


async def _dialled(url: str, said: bytes) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection on which nothing is answered by itself."""
    place = urlsplit(url)
    tls = ANY_CERTIFICATE if place.scheme == "wss" else None
    reader, writer = await asyncio.open_connection(place.hostname, place.port, ssl=tls)
    writer.write(said)
    return reader, writer


async def _upgraded(url: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await _dialled(url, UPGRADE)
    await reader.readuntil(b"\r\n\r\n")
    return reader, writer


async def test_a_client_that_answers_no_ping_is_cut_off_and_one_that_does_stays() -> None:
    async with relay_inside(heartbeat=HEARTBEAT) as url, raw(url) as living:
        answering = asyncio.create_task(living.socket.receive())
        reader, writer = await _upgraded(url)
        with contextlib.suppress(ConnectionError):
            assert (await reader.read()).endswith(PING)
        writer.close()
        assert not answering.done()
        assert await count_connections(url) == 1


async def test_a_client_that_answers_one_ping_has_the_same_time_again() -> None:
    async with relay_inside(heartbeat=HEARTBEAT) as url:
        reader, writer = await _upgraded(url)
        await reader.readuntil(PING)
        writer.write(b"\x8a\x80" + bytes(4))
        await reader.readuntil(PING)
        writer.close()


def _reset(writer: asyncio.StreamWriter) -> None:
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


async def _busy(client: Raw) -> None:
    """At a table, with an offer, watching it."""
    offer = new_offer()
    signed = SignedOffer.sign(offer, ALICE)
    await client.say(client.proof(new_table(), ALICE))
    await client.hear(Proved)
    await client.say(MakeOffer(b"", OFFERS.encode(offer), signed.signature.compact))
    await client.next()
    await client.say(WatchOffer(b"", offer.hash))
    await client.hear(OfferShown)


async def _come_and_go(url: str, number: int) -> None:
    """A connection of each kind. `number`: one of them is busy before it goes."""
    async with raw(url) as client:
        if not number:
            await _busy(client)
    async with raw(url) as client:
        client.hang_up()
    _reset((await _upgraded(url))[1])
    _reset((await _dialled(url, UPGRADE))[1])
    half = (await _upgraded(url))[1]
    half.write(HALF_A_FRAME)
    await half.drain()
    _reset(half)
    flooding = (await _upgraded(url))[1]
    flooding.write(many_frames())
    await flooding.drain()
    _reset(flooding)
    malformed = await _upgraded(url)
    malformed[1].write(b"\x82\x81" + bytes(4) + b"x")
    with contextlib.suppress(ConnectionError):
        await malformed[0].read()
    malformed[1].close()


@pytest.mark.parametrize("new_loop", [asyncio.new_event_loop, uvloop.new_event_loop], ids=["asyncio", "uvloop"])
@pytest.mark.parametrize("is_tls", [False, True], ids=["plain", "tls"])
def test_threat_59_a_connection_that_has_ended_leaves_nothing_to_collect(
    tmp_path: Path, is_tls: bool, new_loop: Callable[[], asyncio.AbstractEventLoop]
) -> None:
    """The collector would have to look through all that thousands of connections have, and nobody is served then; and
    until it does, what they have fills the memory."""
    tls = None
    if is_tls:
        tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        tls.load_cert_chain(*make_certificate(tmp_path))

    async def course() -> None:
        async with relay_inside(tls=tls) as url:
            gc.collect()
            gc.disable()
            await asyncio.gather(*(_come_and_go(url, number) for number in range(KINDS)))
            while await count_connections(url):
                await asyncio.sleep(0.01)
            for _ in range(10):  # tasks that end leave in turns of the loop
                await asyncio.sleep(0)
            gc.set_debug(gc.DEBUG_SAVEALL)
            gc.collect()
            left = Counter(type(each) for each in gc.garbage)
            assert {kind: left[kind] for kind in _OF_A_CONNECTION} == dict.fromkeys(_OF_A_CONNECTION, 0)

    try:
        run(course(), loop_factory=new_loop)
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()


async def test_threat_59_a_connection_that_has_ended_is_not_kept_until_the_next_are_searched_for_overdue_ones() -> None:
    gc.collect()
    async with relay_inside(heartbeat=2) as url:
        reader, writer = await _upgraded(url)
        await reader.readuntil(PING)  # so it was looked at just now
        writer.close()
        while await count_connections(url):
            await asyncio.sleep(0.01)
        for _ in range(10):
            await asyncio.sleep(0)
        assert not [each for each in gc.get_objects() if type(each) is Peer]
