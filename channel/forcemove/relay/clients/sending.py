"""What one client is sent. Knows WebSocket's frames and a transport, and nothing of what is in the messages.

Messages that are added in one turn of the event loop go out at its end, in one frame and without a task: a relay sends
many small messages, and waking a task for each would cost more than all else. Only for a client that reads more slowly
than it is sent to, a task waits, see `drain`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from forcemove.relay.limits import OUTBOX
from forcemove.transport.wire import SendBuffer

_FINAL_BINARY = b"\x82"
_PING = b"\x89\x00"
_LENGTH_OF_2, _LENGTH_OF_8 = b"\x7e", b"\x7f"


class FrameSender:
    """Sends to one client. `has_room`: whether no more than `OUTBOX` bytes wait; `is_full`: whether the transport takes
    nothing until it is drained."""

    def __init__(
        self, transport: asyncio.Transport, drained: Callable[[], Awaitable[None]], on_full: Callable[[], None]
    ) -> None:
        """`drained`: waits until the transport takes more; `on_full`: is called when `drain` has to be called."""
        self._transport, self._drained, self._on_full = transport, drained, on_full
        self._loop = asyncio.get_running_loop()
        self._most = transport.get_write_buffer_limits()[1]
        self._outbox = SendBuffer()
        self._is_scheduled = self.is_full = False
        self.has_room = asyncio.Event()
        self.has_room.set()

    def offer(self, messages: list[bytes]) -> bool:
        """Send encoded messages; False, and none of them, where more than `OUTBOX` bytes would wait."""
        size = self._outbox.size
        for message in messages:
            size += len(message)
        if size > OUTBOX:
            return False
        for message in messages:
            self.add(message)
        return True

    def add(self, message: bytes) -> None:
        """Send an encoded message, at the end of this turn of the loop."""
        outbox = self._outbox
        outbox.add(message)
        if outbox.size > OUTBOX:
            self.has_room.clear()
        if not (self._is_scheduled or self.is_full):
            self._is_scheduled = True
            self._loop.call_soon(self.flush)

    def ping(self) -> None:
        """Send a ping, unless the transport takes nothing."""
        if not (self.is_full or self._transport.is_closing()):
            self._transport.write(_PING)

    def flush(self) -> None:
        """Give the transport the messages that wait, as much as it takes."""
        self._is_scheduled = False
        outbox, transport = self._outbox, self._transport
        while outbox:
            if transport.is_closing():
                outbox = self._outbox = SendBuffer()
                break
            if transport.get_write_buffer_size() > self._most:
                self.is_full = True
                self._on_full()
                break
            transport.write(framed(outbox.take()))
        if outbox.size <= OUTBOX and not self.has_room.is_set():
            self.has_room.set()

    async def drain(self, stall: float) -> None:
        """Wait until the client has read, and send more. Raises `TimeoutError` where it reads nothing for `stall`
        seconds, and `ConnectionError` where it has gone."""
        async with asyncio.timeout(stall):
            await self._drained()
        self.is_full = False
        self.flush()


def framed(payload: bytes) -> bytes:
    """A frame of a server: it is not masked."""
    size = len(payload)
    if size < 126:
        return _FINAL_BINARY + size.to_bytes() + payload
    if size < 65_536:
        return _FINAL_BINARY + _LENGTH_OF_2 + size.to_bytes(2) + payload
    return _FINAL_BINARY + _LENGTH_OF_8 + size.to_bytes(8) + payload
