"""The queue of actions between a client's code and the table's log.

The queue has no task and no buffer: waiting for an action reads the log. Cancelling a wait loses no action, and there
is nothing to close. A client that has crashed runs its flow again from the beginning of the log, on a queue that knows
the actions that the client has posted before (`said_before`) and does not post them twice.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

from forcemove.errors import ForcemoveError, LocalError
from forcemove.flow.actions import Action, ActionCodec, MalformedAction, type_of
from forcemove.flow.transport import TRANSPORT_FAULTS, Reader, Transport

__all__ = ["FAULTS", "ActionQueue", "SaidOtherwise", "said_before"]

FAULTS = (MalformedAction, *TRANSPORT_FAULTS)
"""What can be wrong with a message on a log."""
A = TypeVar("A", bound=Action)


class SaidOtherwise(LocalError):
    """Our flow wants to post another action than the one that we posted in this place before we were interrupted: it is
    another flow, or its secrets were lost. Nothing was posted. `said`, `now`: the two actions' types."""

    client_id: str
    said: str
    now: str


class ActionQueue(Generic[A]):
    """The actions of one table, in the log's order."""

    def __init__(
        self,
        transport: Transport,
        codec: ActionCodec[A],
        *,
        preseed: Iterable[A] = (),
        start: int = 0,
        said: Iterable[A] = (),
        read_to: int | None = None,
        skip: Callable[[ForcemoveError], object] | None = None,
    ) -> None:
        """Read the log, and post to it.

        - `transport`: the table's log.
        - `codec`: encodes and decodes the actions.
        - `preseed`: actions that come before those of the log, such as a history that is known already.
        - `start`: the index of the first message of the log to read.
        - `said`: the actions that we have posted there before, see `said_before`.
        - `read_to`: the length of the log when `said` was read; our message that was still on its way then is
          looked for before we post a new one.
        - `skip`: is called with each of the `FAULTS`, and reading goes on after it; without it `dequeue` raises them.
        """
        self._transport, self._codec, self._skip = transport, codec, skip
        self._ahead, self._said = deque(preseed), deque(said)
        self._read_to = read_to
        self._reader: Reader = transport.reader(start)
        self._turn = asyncio.Lock()

    @property
    def said_next(self) -> A | None:
        """The action that we posted in this place before we were interrupted, and so must enqueue again; None where
        none is left."""
        return self._said[0] if self._said else None

    async def enqueue(self, action: A) -> None:
        """Post an action, unless we have posted it before. It has happened when `dequeue` gives it back.

        Raises `MalformedAction`, and `SaidOtherwise` where we have posted another action in this place.
        """
        if not self._said and self._read_to is not None:
            start, self._read_to = self._read_to, None
            self._said.extend(await said_before(self._transport, self._codec, action.client_id, start=start))
        if self._said:
            if action != self._said[0]:
                raise SaidOtherwise(action.client_id, type_of(type(self._said[0])), type_of(type(action)))
            self._said.popleft()
            return
        await self._transport.post(self._codec.encode(action))

    async def dequeue(self) -> A:
        """The next action, as soon as there is one; several waiters are served in the order in which they came.

        Raises, in the place of a message that is not an action, `MalformedAction` or what the transport found wrong
        with it; the next call goes on after it."""
        async with self._turn:
            return self._ahead.popleft() if self._ahead else await self._read()

    async def peek(self) -> A:
        """The next action, which stays the next. Raises as `dequeue` does."""
        async with self._turn:
            if not self._ahead:
                self._ahead.append(await self._read())
            return self._ahead[0]

    async def _read(self) -> A:
        while True:
            try:
                return self._codec.decode(await self._reader.read())
            except FAULTS as fault:
                if self._skip is None:
                    raise
                self._skip(fault)
                await asyncio.sleep(0)  # a flood of invalid messages must not keep deadlines from passing


async def said_before(transport: Transport, codec: ActionCodec[A], client_id: str, *, start: int = 0) -> tuple[A, ...]:
    """The actions that a client has posted from message `start` of the log on, up to now; messages with faults are left
    out.

    The log is believed. If somebody cuts off its end, a client that resumes plays the rest again, with the same
    secrets, against counterparties that know its answers: where that is possible, give the game up instead.
    """
    reader, said = transport.reader(start), []
    for _ in range(transport.length() - start):
        with contextlib.suppress(*FAULTS):
            said.append(codec.decode(await reader.read()))
    return tuple(action for action in said if action.client_id == client_id)
