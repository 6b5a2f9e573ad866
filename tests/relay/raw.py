"""A client that says whatever it is told to, byte by byte if need be."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TypeVar

import aiohttp

from forcemove.protocol.signing import Key
from forcemove.transport import wire
from forcemove.transport.terms import TableTerms, proof_digest

__all__ = ["Raw", "count_connections", "post", "raw", "raw_from"]

M = TypeVar("M", bound=wire.Message)


class Raw:
    """One connection. `nonce`: the relay's."""

    def __init__(self, url: str, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.url, self.socket = url, socket
        self.nonce = b""
        self._heard: list[wire.FromRelay] = []

    async def say(self, *messages: wire.Message) -> None:
        outbox = wire.SendBuffer()
        for message in messages:
            outbox.add(wire.encode(message))
        while outbox:
            await self.socket.send_bytes(outbox.take())

    async def hear(self, kind: type[M]) -> M:
        """The next message, which is to be of this kind."""
        message = await self.next()
        assert isinstance(message, kind), message
        return message

    async def next(self) -> wire.FromRelay:
        while not self._heard:
            frame = await self.socket.receive()
            assert frame.type is aiohttp.WSMsgType.BINARY, (frame, self.socket.close_code)
            self._heard += wire.decode_from_relay(frame.data)
        return self._heard.pop(0)

    async def closed(self) -> int | None:
        """The code with which the relay has closed it; what it has said before is passed over."""
        async for _ in self.socket:
            pass
        return self.socket.close_code

    def proof(
        self,
        table: TableTerms,
        key: Key,
        *,
        relay: str = "",
        participant: bytes = b"",
        expiry: int = 0,
        nonce: bytes = b"",
    ) -> wire.Prove:
        """A good proof, but for what is said to be other."""
        relay, expiry = relay or self.url, expiry or int(time.time()) + 60
        digest = proof_digest(relay, table.id, participant or key.address, expiry, nonce or self.nonce)
        return wire.Prove(table, key.address, relay, expiry, key.sign(digest).compact)

    def stop_reading(self) -> None:
        """As a client that hangs: its socket is read no more."""
        self.transport().pause_reading()

    def hang_up(self) -> None:
        """Without a word: a relay that does not read would not hear it."""
        self.transport().abort()

    def transport(self) -> asyncio.Transport:
        connection = self.socket._conn
        assert connection is not None
        assert connection.transport is not None
        return connection.transport

    async def opened(self, table: bytes, start: int = 0) -> wire.Opened:
        await self.say(wire.Open(table, start, None))
        return await self.hear(wire.Opened)


def post(table: TableTerms, number: int, entry: bytes, since: int | None = None) -> wire.PostEntry:
    return wire.PostEntry(table.id, number.to_bytes(16), entry, since)


@asynccontextmanager
async def raw(url: str) -> AsyncIterator[Raw]:
    async with raw_from(url, "") as client:
        yield client


@asynccontextmanager
async def raw_from(url: str, address: str) -> AsyncIterator[Raw]:
    """From an address of this machine: all of 127.0.0.0/8 are. Any if it is empty. Over TLS any certificate will do."""
    connector = aiohttp.TCPConnector(local_addr=(address, 0) if address else None, ssl=False)
    async with (
        aiohttp.ClientSession(connector=connector) as session,
        session.ws_connect(url, compress=0, max_msg_size=0, timeout=aiohttp.ClientWSTimeout(ws_close=0.1)) as socket,
    ):
        client = Raw(url, socket)
        async with asyncio.timeout(60):
            client.nonce = (await client.hear(wire.Welcome)).nonce
        yield client


async def count_connections(url: str) -> int:
    """How many a relay serves, or has not noticed the end of. Over TLS any certificate will do."""
    health = f"{url.replace('ws', 'http', 1)}/health"
    async with aiohttp.ClientSession() as session, session.get(health, ssl=False) as answer:
        return int((await answer.json())["connections"])
