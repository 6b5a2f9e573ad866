"""A channel's messenger takes what is on its way to the relay's disk: once, in order, and without counting on it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from forcemove.flow.history import NOTHING_READ
from forcemove.transport.chat import CHAT_MARK
from forcemove.transport.messenger import ChannelMessenger
from forcemove.transport.terms import TableKind
from forcemove.transport.websocket.transport import NewConnection, WebSocketTransport
from forcemove.transport.wire import Coming, Entries, FromRelay, Message, Opened, PostEntry
from tests.transport.people import ALICE, new_table, run


class _Seat:
    """A messenger on a log; the test is the relay."""

    def __init__(self) -> None:
        table = new_table(TableKind.CHANNEL)
        self.id, self.said = table.id, list[Message]()
        self._log = WebSocketTransport(table.id, table, ALICE, self.said.append)
        list(self._log.on_connected(NewConnection("ws://relay", bytes(32), 0)))
        self.is_told(Opened(table.id, table.kind, 0, 0, NOTHING_READ))
        self.messenger, self.chat = ChannelMessenger(self._log), list[bytes]()
        self.messenger.on_chat = self.chat.append

    def is_told(self, *messages: FromRelay) -> list[bool]:
        return [self._log.on_message(each) for each in messages]

    async def received(self) -> list[bytes]:
        for _ in range(20):
            await asyncio.sleep(0)
        return list(self.messenger.receive())


@asynccontextmanager
async def _seat() -> AsyncIterator[_Seat]:
    seat = _Seat()
    running = asyncio.create_task(seat.messenger.run())
    assert await seat.received() == []
    yield seat
    running.cancel()
    await asyncio.wait([running])


def test_what_is_coming_is_received_at_once_and_only_once() -> None:
    async def story() -> None:
        async with _seat() as seat:
            for message in (Coming(seat.id, b"a"), Coming(seat.id, b"a"), Coming(seat.id, b"b")):
                seat.is_told(message)
            assert list(seat.messenger.receive()) == [b"a", b"b"]
            seat.is_told(Entries(seat.id, 0, (b"b", b"a", b"c")))
            assert await seat.received() == [b"c"]
            seat.is_told(Entries(seat.id, 3, (b"a",)))  # said again, as a greeting may be
            assert await seat.received() == [b"a"]

    run(story())


def test_a_line_of_chat_that_is_coming_is_shown_once() -> None:
    async def story() -> None:
        async with _seat() as seat:
            line = CHAT_MARK + b"good luck"
            seat.is_told(Coming(seat.id, line), Entries(seat.id, 0, (line,)))
            assert await seat.received() == []
            assert seat.chat == [line]

    run(story())


def test_what_is_coming_does_not_overtake_what_is_there() -> None:
    async def story() -> None:
        async with _seat() as seat:
            seat.is_told(Entries(seat.id, 0, (b"a",)), Coming(seat.id, b"b"))
            assert await seat.received() == [b"a"]
            seat.is_told(Entries(seat.id, 1, (b"b",)))
            assert await seat.received() == [b"b"]

    run(story())


def test_our_own_message_that_is_coming_is_not_received() -> None:
    async def story() -> None:
        async with _seat() as seat:
            seat.messenger.send(b"ours")
            assert await seat.received() == []
            assert [each.entry for each in seat.said if isinstance(each, PostEntry)] == [b"ours"]
            seat.is_told(Coming(seat.id, b"ours"))
            assert await seat.received() == []

    run(story())


def test_threat_46_what_is_said_to_be_coming_and_never_comes_is_bounded() -> None:
    async def story() -> None:
        async with _seat() as seat:
            taken = 0
            for number in range(3_000):
                assert seat.is_told(Coming(seat.id, b"%d" % number)) == [False]  # of use is what has a place
                taken += len(await seat.received()) if number % 64 == 63 else 0
            assert taken + len(await seat.received()) == 1_000
            seat.is_told(Entries(seat.id, 0, (b"2999", b"new")))
            assert await seat.received() == [b"2999", b"new"]

    run(story())
