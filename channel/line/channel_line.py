"""A node's line (`node.ports.WakingLine`) on a table's log: what is sent is posted, what others post is received."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Sequence

from forcemove.channel.flow.transport import TRANSPORT_FAULTS, Transport

__all__ = ["ChannelLine"]

_MOST = 1_000
"""Messages that wait for the node; then nothing more is read, and the log keeps the rest."""


class ChannelLine:
    """One participant's end. `run` carries messages, in the event loop in which the node is driven."""

    def __init__(self, transport: Transport, start: int = 0) -> None:
        """`start`: from which entry of the log on others are heard. What was said before is answered by a greeting, so
        the log's end will do: `transport.length()`."""
        self._transport, self._reader = transport, transport.reader(start)
        self._unsent: deque[bytes] = deque()
        self._heard: deque[bytes] = deque()
        self._own: Counter[bytes] = Counter()
        self._has_mail, self._has_room = asyncio.Event(), asyncio.Event()
        self._has_room.set()
        self._wake: Callable[[], None] = lambda: None

    def listen(self, wake: Callable[[], None]) -> None:
        """Call this whenever a message has come in. One listener at a time: the last one counts."""
        self._wake = wake

    def send(self, message: bytes) -> None:
        """Post it as soon as that is possible."""
        self._unsent.append(message)
        self._has_mail.set()

    def receive(self) -> Sequence[bytes]:
        """What others have posted since the last call."""
        messages = tuple(self._heard)
        self._heard.clear()
        self._has_room.set()
        return messages

    @property
    def is_idle(self) -> bool:
        """Whether all that was sent is in the log."""
        return not self._unsent

    async def run(self) -> None:
        """Until it is cancelled, or the log has failed for good: then it raises what the transport raises."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._post())
            group.create_task(self._read())

    async def _post(self) -> None:
        """One after the other, so that they keep their order. A post that is cut off stays unsent."""
        while True:
            while self._unsent:
                message = self._unsent[0]
                self._own[message] += 1
                await self._transport.post(message)
                self._unsent.popleft()
            self._has_mail.clear()
            await self._has_mail.wait()

    async def _read(self) -> None:
        while True:
            await self._has_room.wait()
            try:
                message = await self._reader.read()
            except TRANSPORT_FAULTS:
                continue  # an entry that is gone is made good by the next greeting
            if self._own[message]:
                self._own[message] -= 1
                continue
            self._heard.append(message)
            self._wake()
            if len(self._heard) >= _MOST:
                self._has_room.clear()
