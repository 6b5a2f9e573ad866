"""The log that the clients of one table share: a port for what carries bytes, and a log in memory.

A message that is posted appears once for everybody, in one order that all see. The poster counts a message as posted
when it reads it back. A log keeps its messages, so a client that joins later reads the same from the beginning.
"""

from __future__ import annotations

import asyncio
from typing import Protocol

from forcemove.errors import CounterpartyError, InvalidValue, UnknownVersion

__all__ = ["TRANSPORT_FAULTS", "MemoryTransport", "Reader", "Transport", "TransportFault"]


class TransportFault(CounterpartyError):
    """An entry of the log is not a message that a client of this table has posted. Subclasses say why."""


TRANSPORT_FAULTS = (TransportFault, UnknownVersion)
"""What a reader raises in the place of a message."""


class Reader(Protocol):
    """Reads a log from some place on, message after message, forever."""

    async def read(self) -> bytes:
        """The next message, as soon as there is one.

        Raises a `TransportFault` in the place of an entry that is not a message, and `UnknownVersion` in the place of
        one that a program of another version has written; the next call goes on after it. Cancelling leaves the place
        where it was: no message is lost."""
        ...


class Transport(Protocol):
    """A table's log: every client has one, and all of them show the same messages in the same order."""

    async def post(self, message: bytes) -> None:
        """Post a message to everybody, us included. Returns when the log has it."""
        ...

    def reader(self, start: int = 0) -> Reader:
        """Read from message `start` on: the messages so far, then new ones. Readers do not disturb each other, hold
        nothing open, and need no closing."""
        ...

    def length(self) -> int:
        """How many messages the log is known to have: among them each that `post` returned for, and those before it."""
        ...


class MemoryTransport:
    """A log in memory, for a whole table in one process: give the same one to every client."""

    def __init__(self) -> None:
        self._messages: list[bytes] = []
        self._grown = asyncio.Event()

    async def post(self, message: bytes) -> None:
        """See `Transport.post`."""
        self._messages.append(bytes(message))
        self._grown.set()
        self._grown = asyncio.Event()

    def reader(self, start: int = 0) -> Reader:
        """See `Transport.reader`."""
        return _MemoryReader(self, start)

    def length(self) -> int:
        """See `Transport.length`."""
        return len(self._messages)

    async def message(self, index: int) -> bytes:
        """Message `index`, as soon as there is one."""
        while index >= len(self._messages):
            await self._grown.wait()
        return self._messages[index]


class _MemoryReader:
    def __init__(self, log: MemoryTransport, start: int) -> None:
        if start < 0:
            raise InvalidValue("start", start, "0 or more")
        self._log, self._next = log, start

    async def read(self) -> bytes:
        message = await self._log.message(self._next)
        self._next += 1
        return message
