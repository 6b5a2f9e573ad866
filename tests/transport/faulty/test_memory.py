"""What was sent and acknowledged, or heard and read, does not stay in memory, however long a player plays."""

from __future__ import annotations

import asyncio
import gc
import tracemalloc
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, cast

import pytest
from nats.aio.client import Client
from nats.aio.msg import Msg

from forcemove import ChannelMessenger, TableKind, messenger_on
from forcemove.flow.history import NOTHING_READ
from forcemove.transport import wire
from forcemove.transport.jetstream.feed import Delivered
from forcemove.transport.jetstream.session import PublishQueue as NatsOutbox
from forcemove.transport.jetstream.transport import JetStreamTransport
from forcemove.transport.offers import OFFERS
from forcemove.transport.websocket.connection import RelayConnection
from tests.transport.offered import all_seated, new_offer
from tests.transport.people import ALICE, new_table, run

WARM, MORE = 4_300, 4_000
"""Messages until all that is bounded is full; and those that are measured: 100,000 with --long."""
KEPT = 192 * 1024
"""Bytes that as many may leave behind: a full log is a quarter of its entries longer or shorter now and then."""
MANY = pytest.mark.parametrize("more", [MORE, pytest.param(100_000, marks=pytest.mark.long)])
ENTRY = b"m" * 64


async def grows_by(send: Callable[[int], Awaitable[None]], more: int, warm: int = WARM) -> int:
    """Bytes of memory that Python's objects take after `more` messages more than after `warm`."""
    tracemalloc.start()
    try:
        for number in range(warm):
            await send(number)
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        for number in range(warm, warm + more):
            await send(number)
        gc.collect()
        return tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()


class Relay:
    """In the same process and without sockets: acknowledges and echoes whatever a connection says."""

    def __init__(self) -> None:
        self.connection = RelayConnection("ws://relay")
        self._length = 0
        self.connection._on_message(wire.Welcome(bytes(32)))

    def serve(self) -> None:
        """Answer all that was said."""
        outbox = self.connection._outbox
        while outbox:
            for message in wire.decode_to_relay(outbox.take()):
                for answer in self._answers(message):
                    self.connection._on_message(answer)

    def _answers(self, message: wire.ToRelay) -> Iterator[Any]:
        match message:
            case wire.Prove():
                yield wire.Opened(message.table.id, TableKind.CHANNEL, 0, 0, NOTHING_READ)
            case wire.PostEntry(table, id_, entry):
                self._length += 1
                yield wire.Posted(table, id_, self._length - 1)
                yield wire.Entries(table, self._length - 1, (entry,))


def number_of(number: int) -> bytes:
    return number.to_bytes(8) + ENTRY


@MANY
def test_what_a_relay_has_acknowledged_is_forgotten(more: int) -> None:
    async def story() -> None:
        relay = Relay()
        joining = asyncio.create_task(relay.connection.join(new_table(TableKind.CHANNEL), ALICE))
        await asyncio.sleep(0)
        relay.serve()
        log = await joining
        reader = log.reader()

        async def say(number: int) -> None:
            posting = asyncio.create_task(log.post(number_of(number)))
            await asyncio.sleep(0)
            relay.serve()
            await posting
            assert await reader.read() == number_of(number)

        assert await grows_by(say, more) < KEPT

    run(story(), 600)


@MANY
def test_what_a_line_has_sent_and_given_to_its_node_is_forgotten(more: int) -> None:
    async def story() -> None:
        relay, heard = Relay(), [0]
        line: ChannelMessenger = messenger_on(relay.connection, new_table(TableKind.CHANNEL), ALICE)
        running = asyncio.create_task(line.run())

        async def say(number: int) -> None:
            line.send(number_of(number))
            other = wire.Entries(log_id, relay._length, (b"theirs" + number_of(number),))
            relay._length += 1
            relay.connection._on_message(other)
            while not line.is_idle or heard[0] <= number:
                await asyncio.sleep(0)
                relay.serve()
                heard[0] += len(line.receive())

        while not relay.connection._tables:
            await asyncio.sleep(0)
        (log_id,) = relay.connection._tables
        relay.serve()
        assert await grows_by(say, more) < KEPT
        running.cancel()

    run(story(), 600)


def test_offers_that_were_watched_are_forgotten() -> None:
    async def story() -> None:
        relay = Relay()
        lobby, shown = relay.connection.lobby, OFFERS.encode

        async def watch(_: int) -> None:
            offer = new_offer()
            waiting = asyncio.create_task(all_seated(lobby, offer.hash))
            await asyncio.sleep(0)
            for _ in range(3):
                await asyncio.sleep(0)
            signature = ALICE.sign(offer.digest).compact
            said = [
                each
                for each in wire.decode_to_relay(relay.connection._outbox.take())
                if isinstance(each, wire.WatchOffer)
            ]
            for each in said:
                relay.connection._on_message(wire.OfferShown(each.id, offer.hash, shown(offer), signature, True, (), 0))
            await waiting

        assert await grows_by(watch, 1_000, 100) < KEPT

    run(story(), 600)


class NatsServer:
    """The part of a client of NATS that posts: acknowledges what is published, or loses the acknowledgement."""

    def __init__(self) -> None:
        self.acknowledges = True
        self._seq = 0
        self.transport: JetStreamTransport

    def new_inbox(self) -> str:
        return "_INBOX.x"

    async def subscribe(self, _subject: str, cb: Callable[[Msg], Awaitable[None]], **_: object) -> None:
        self._hear = cb

    async def publish(self, subject: str, message: bytes, reply: str, headers: dict[str, str]) -> None:
        self._seq += 1
        if self.acknowledges:
            data = b'{"stream":"s","seq":%d}' % self._seq
            await self._hear(Msg(_client=cast("Client", None), subject=reply, data=data))
        found = Delivered(self._seq, self._seq, subject, message, headers["Nats-Msg-Id"], self._seq == 1)
        self.transport.on_new_message(found)


@MANY
@pytest.mark.parametrize("acknowledges", [True, False])
def test_what_a_nats_server_has_acknowledged_is_forgotten(acknowledges: bool, more: int) -> None:
    async def story() -> None:
        server = NatsServer()
        outbox = NatsOutbox(cast("Client", server))
        table = new_table(TableKind.CHANNEL)
        log = server.transport = JetStreamTransport(TableKind.CHANNEL, table.id, ALICE, outbox.send, outbox.forget)
        log.resume()
        log.catch_up()
        running = asyncio.create_task(outbox.run())
        await asyncio.sleep(0)
        server.acknowledges = acknowledges
        reader = log.reader()

        async def say(number: int) -> None:
            posting = asyncio.create_task(log.post(number_of(number)))
            assert await reader.read() == number_of(number)
            if not acknowledges:
                posting.cancel()
            await asyncio.wait([posting])

        assert await grows_by(say, more) < KEPT
        running.cancel()

    run(story(), 600)
