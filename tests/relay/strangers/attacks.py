"""What strangers do to a relay, each from one address, for as long as the test lets them."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import aiohttp

from forcemove import Key, TableKind, TableTerms
from forcemove.transport.limits import MAX_ENTRY
from forcemove.transport.offers import OFFERS, SignedOffer
from forcemove.transport.wire import ListOffers, MakeOffer, Message, Open, PostEntry, Proved
from tests.certificate import ANY_CERTIFICATE
from tests.relay.raw import Raw, raw_from
from tests.relay.strange import frame
from tests.relay.strangers.crowd import key, table_of
from tests.transport.offered import new_offer

__all__ = ["ATTACKS", "Attack"]

Attack = Callable[[str, str, int], Awaitable[None]]


@asynccontextmanager
async def _reading(url: str, address: str) -> AsyncIterator[Raw]:
    """A client that reads whatever it is sent, and does not look at it."""
    async with raw_from(url, address) as client:
        reading = asyncio.create_task(client.closed())
        try:
            yield client
        finally:
            reading.cancel()


async def _flood(url: str, address: str, frame: bytes) -> None:
    """The same frame again and again."""
    async with _reading(url, address) as mallory:
        while True:
            await mallory.socket.send_bytes(frame)
            await asyncio.sleep(0)


async def lobby(url: str, address: str, _: int) -> None:
    """1,757 requests for the lobby in each frame."""
    await _flood(url, address, frame(*[ListOffers(b"", bytes(32))] * 1_757))


async def wrong_proofs(url: str, address: str, _: int) -> None:
    """200 in each frame, of signatures that somebody has made."""
    mallory = key(address)
    async with _reading(url, address) as client:
        table = TableTerms(TableKind.GAME, (mallory.address,), bytes(32))
        wrong = [client.proof(table, mallory, nonce=secrets.token_bytes(32)) for _ in range(200)]
        sent = frame(*wrong)
        while True:
            await client.socket.send_bytes(sent)
            await asyncio.sleep(0)


async def many_proofs(url: str, address: str, number: int) -> None:
    """Good ones, each for the table that there is already."""
    mallory = key(address)
    async with _reading(url, address) as client:
        table = TableTerms(TableKind.GAME, (mallory.address,), bytes(32))
        sent = frame(*[client.proof(table, mallory)] * 200)
        while True:
            await client.socket.send_bytes(sent)
            await asyncio.sleep(0)


async def tables(url: str, address: str, number: int) -> None:
    """A new table with each proof."""
    mallory = key(address)
    async with _reading(url, address) as client:
        while True:
            made = [TableTerms(TableKind.GAME, (mallory.address,), secrets.token_bytes(32)) for _ in range(50)]
            await client.socket.send_bytes(frame(*[client.proof(table, mallory) for table in made]))
            await asyncio.sleep(0)


async def _posts(url: str, address: str, number: int, size: int) -> None:
    mallory = key(address)
    async with raw_from(url, address) as client:
        table = TableTerms(TableKind.CHANNEL, (mallory.address,), number.to_bytes(32))
        await client.say(client.proof(table, mallory))
        await client.hear(Proved)
        reading = asyncio.create_task(client.closed())
        together = max(1, min(1_000, 60_000 // (size + 60)))
        try:
            while True:
                posts = [PostEntry(table.id, secrets.token_bytes(16), bytes(size), None) for _ in range(together)]
                await client.socket.send_bytes(frame(*posts))
                await asyncio.sleep(0)
        finally:
            reading.cancel()


async def large_posts(url: str, address: str, number: int) -> None:
    """Two posters of the largest entries."""
    await asyncio.gather(*(_posts(url, address, 2 * number + each, MAX_ENTRY) for each in range(2)))


async def small_posts(url: str, address: str, number: int) -> None:
    """Two posters of entries with hardly a byte."""
    await asyncio.gather(*(_posts(url, address, 2 * number + each, 1) for each in range(2)))


async def unknown_tables(url: str, address: str, _: int) -> None:
    await _flood(url, address, frame(*[Open(secrets.token_bytes(32), 0, None) for _ in range(1_000)]))


async def found_again(url: str, address: str, number: int) -> None:
    """Posts that may have been posted before, at a log that is long: each is looked for."""
    mallory = key(address)
    async with _reading(url, address) as client:
        table = TableTerms(TableKind.CHANNEL, (mallory.address,), number.to_bytes(32))
        await client.say(client.proof(table, mallory))
        await client.say(*(PostEntry(table.id, secrets.token_bytes(16), b"", None) for _ in range(1_000)))
        while True:
            again = [PostEntry(table.id, secrets.token_bytes(16), b"", 0) for _ in range(100)]
            await client.socket.send_bytes(frame(*again))
            await asyncio.sleep(0)


async def _many(url: str, address: str, number: int, do: Callable[[], Awaitable[None]]) -> None:
    async def quietly() -> None:
        with contextlib.suppress(Exception):
            await do()

    await asyncio.gather(*(quietly() for _ in range(number)))


async def connections(url: str, address: str, _: int) -> None:
    """Connected, welcomed, and gone."""

    async def one() -> None:
        while True:
            async with raw_from(url, address):
                pass

    await _many(url, address, 10, one)


async def silent(url: str, address: str, _: int) -> None:
    """Connections on which nothing is asked."""

    async def one() -> None:
        async with raw_from(url, address) as client:
            await client.closed()

    await _many(url, address, 100, one)


async def _bytes(url: str, address: str, said: bytes, then: bytes = b"") -> None:
    """A socket on which this is said, and where `then` is given that after the answer's headers, and nothing more."""
    place = urlsplit(url)
    tls = ANY_CERTIFICATE if said and place.scheme == "wss" else None
    reader, writer = await asyncio.open_connection(place.hostname, place.port, local_addr=(address, 0), ssl=tls)
    writer.write(said)
    if then:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(then)
    with contextlib.suppress(Exception):
        await reader.read()
    writer.close()


async def half_open(url: str, address: str, _: int) -> None:
    await _many(url, address, 100, lambda: _bytes(url, address, b""))


async def half_headers(url: str, address: str, _: int) -> None:
    await _many(
        url, address, 100, lambda: _bytes(url, address, b"GET / HTTP/1.1\r\nHost: x\r\nX-Long: " + b"x" * 4_000)
    )


_UPGRADE = (
    b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
)


async def half_frames(url: str, address: str, _: int) -> None:
    """A frame of the largest size that never comes to its end."""
    begun = b"\x82\xff" + (65_000).to_bytes(8) + bytes(4) + bytes(64_000)
    await _many(url, address, 100, lambda: _bytes(url, address, _UPGRADE, begun))


async def pings(url: str, address: str, _: int) -> None:
    async def one() -> None:
        async with _reading(url, address) as client:
            while True:
                for _ in range(100):
                    await client.socket.ping()
                await asyncio.sleep(0)

    await _many(url, address, 4, one)


async def tiny_frames(url: str, address: str, _: int) -> None:
    """Requests of 5 bytes, each in a frame, on many connections."""

    async def one() -> None:
        async with _reading(url, address) as client:
            sent = frame(*[ListOffers(b"", None)])
            while True:
                for _ in range(100):
                    await client.socket.send_bytes(sent)
                await asyncio.sleep(0)

    await _many(url, address, 50, one)


async def pages(url: str, address: str, _: int) -> None:
    """Numbers for Prometheus, again and again."""

    async def one() -> None:
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(local_addr=(address, 0), ssl=False)) as session:
            while True:
                async with session.get(url.replace("ws", "http", 1) + "/metrics") as answer:
                    await answer.read()

    await _many(url, address, 10, one)


async def offers(url: str, address: str, _: int) -> None:
    """An offer after another, each of another host."""
    async with _reading(url, address) as client:
        while True:
            made: list[Message] = []
            for _ in range(20):
                host = Key(secrets.token_bytes(32))
                signed = SignedOffer.sign(new_offer(host=host.address, payout=host.address), host)
                made.append(MakeOffer(b"", OFFERS.encode(signed.offer), signed.signature.compact))
            await client.socket.send_bytes(frame(*made))
            await asyncio.sleep(0)


async def spectators(url: str, address: str, _: int) -> None:
    """All tables of the crowd, read again and again from their first entry on."""
    async with _reading(url, address) as client:
        while True:
            await client.socket.send_bytes(frame(*[Open(table_of(pair).id, 0, None) for pair in range(40)]))
            await asyncio.sleep(0.1)


async def deaf(url: str, address: str, _: int) -> None:
    """Readers of all tables of the crowd, who take nothing."""

    async def one() -> None:
        async with raw_from(url, address) as client:
            client.stop_reading()
            while True:
                await client.socket.send_bytes(frame(*[Open(table_of(pair).id, 0, None) for pair in range(40)]))
                await asyncio.sleep(0.1)

    await _many(url, address, 20, one)


async def malformed(url: str, address: str, _: int) -> None:
    """Nonsense on one connection after another."""

    async def one() -> None:
        while True:
            async with raw_from(url, address) as client:
                await client.socket.send_bytes(b"\\0\\1" + secrets.token_bytes(60_000))
                await client.closed()

    await _many(url, address, 10, one)


ATTACKS: dict[str, Attack] = {
    each.__name__: each
    for each in (
        lobby,
        wrong_proofs,
        many_proofs,
        tables,
        large_posts,
        small_posts,
        unknown_tables,
        found_again,
        connections,
        silent,
        half_open,
        half_headers,
        half_frames,
        pings,
        tiny_frames,
        pages,
        offers,
        spectators,
        deaf,
        malformed,
    )
}
