"""The queue of actions between a client's code and the table's log.

It has no task and no buffer of its own: whoever waits for an action reads the log. Cancelling a wait loses nothing, and
there is nothing to close.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable
from typing import Generic, TypeVar

from channel.flow.actions import Action, ActionCodec
from channel.flow.transport import Reader, Transport

__all__ = ["ActionQueue"]

A = TypeVar("A", bound=Action)


class ActionQueue(Generic[A]):
    """The actions of one table, in the log's order."""

    def __init__(
        self, transport: Transport, codec: ActionCodec[A], *, preseed: Iterable[A] = (), start: int = 0
    ) -> None:
        """`preseed`: actions that come before those of the log, such as a history that is known already. `start`: from
        which message of the log on."""
        self._transport, self._codec = transport, codec
        self._ahead = deque(preseed)
        self._reader: Reader = transport.reader(start)
        self._turn = asyncio.Lock()

    async def enqueue(self, action: A) -> None:
        """Post an action. It has happened when `dequeue` gives it back. Raises `MalformedAction`."""
        await self._transport.post(self._codec.encode(action))

    async def dequeue(self) -> A:
        """The next action, as soon as there is one; several waiters are served in the order in which they came.

        Raises, in the place of a message that is no action, `MalformedAction` or what the transport found wrong with
        it; the next call goes on after it.
        """
        async with self._turn:
            return self._ahead.popleft() if self._ahead else await self._read()

    async def peek(self) -> A:
        """The next action, which stays the next. Raises as `dequeue` does."""
        async with self._turn:
            if not self._ahead:
                self._ahead.append(await self._read())
            return self._ahead[0]

    async def _read(self) -> A:
        return self._codec.decode(await self._reader.read())
