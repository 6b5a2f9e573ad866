"""A channel's messenger on a log whose relay is the test."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from forcemove import ChannelMessenger, ForcemoveError, TableKind
from forcemove.flow.history import NOTHING_READ
from forcemove.transport.websocket.transport import NewConnection, WebSocketTransport
from forcemove.transport.wire import FromRelay, Message, Opened, PostEntry
from tests.transport.people import ALICE, new_table


class Seat:
    """`id`: the table's; `said`: the messages to the relay; `errors`: what the messenger has reported."""

    def __init__(self) -> None:
        table = new_table(TableKind.CHANNEL)
        self.id, self.said, self.errors = table.id, list[Message](), list[ForcemoveError]()
        self.log = WebSocketTransport(table.id, table, ALICE, self.said.append)
        self._kind = table.kind
        self.messenger, self.chat = ChannelMessenger(self.log, on_error=self.errors.append), list[bytes]()
        self.messenger.on_chat = self.chat.append
        self.connect()

    def connect(self) -> None:
        """A new connection, on which the log is opened."""
        self.said += self.log.on_connected(NewConnection("ws://relay", bytes(32), 0))
        self.is_told(Opened(self.id, self._kind, 0, 0, NOTHING_READ))

    def is_told(self, *messages: FromRelay) -> list[bool]:
        return [self.log.on_message(each) for each in messages]

    @property
    def posts(self) -> list[PostEntry]:
        return [each for each in self.said if isinstance(each, PostEntry)]

    async def received(self) -> list[bytes]:
        await settle()
        return list(self.messenger.receive())


async def settle() -> None:
    """Let all tasks go on until each waits for something."""
    for _ in range(20):
        await asyncio.sleep(0)


@asynccontextmanager
async def seated() -> AsyncIterator[Seat]:
    """A seat whose messenger runs until the block ends."""
    seat = Seat()
    async with running(seat):
        assert await seat.received() == []
        yield seat


@asynccontextmanager
async def running(seat: Seat) -> AsyncIterator[None]:
    """Run the messenger until the block ends."""
    task = asyncio.create_task(seat.messenger.run())
    await settle()
    yield
    task.cancel()
    await asyncio.wait([task])
