"""Actions, keys and transports that the tests of flows share."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from random import Random

from forcemove import Action, ActionCodec, ActionQueue, Key, SignedTransport
from forcemove.flow.transport import MemoryTransport, Reader, Transport

TABLE_ID = bytes(31) + b"\x07"
NAMES = ("alice", "bob", "carol", "dave", "erin", "frank", "grace", "heidi")
KEYS = {name: Key(bytes(31) + bytes((index + 1,))) for index, name in enumerate(NAMES)}
ADDRESSES = {name: key.address for name, key in KEYS.items()}
MALLORY = Key(bytes(31) + b"\xbb")


class Said(Action, frozen=True):
    """Says a number."""

    number: int


class Left(Action, frozen=True):
    """Goes."""


CODEC: ActionCodec[Said | Left] = ActionCodec(Said, Left)


def queue_of(transport: Transport, *, preseed: Sequence[Said | Left] = (), start: int = 0) -> ActionQueue[Said | Left]:
    return ActionQueue(transport, CODEC, preseed=preseed, start=start)


def signed(log: Transport, name: str, *, start: int = 0) -> SignedTransport:
    return SignedTransport(log, TABLE_ID, KEYS[name], ADDRESSES, start=start)


class Delayed:
    """A transport whose posts and reads take turns with everybody else's a random number of times first."""

    def __init__(self, inner: Transport, random: Random) -> None:
        self._inner, self._random = inner, random

    async def post(self, message: bytes) -> None:
        await self._pause()
        await self._inner.post(message)

    def reader(self, start: int = 0) -> Reader:
        return _DelayedReader(self._inner.reader(start), self._pause)

    def length(self) -> int:
        return self._inner.length()

    async def _pause(self) -> None:
        for _ in range(self._random.randrange(6)):
            await asyncio.sleep(0)


class _DelayedReader:
    def __init__(self, inner: Reader, pause: Callable[[], Awaitable[None]]) -> None:
        self._inner, self._pause = inner, pause

    async def read(self) -> bytes:
        await self._pause()
        return await self._inner.read()


class Flooded(MemoryTransport):
    """A log on which somebody shouts: a reader that is faster than it grows finds rubbish at once, 5,000 times."""

    async def message(self, index: int) -> bytes:
        assert index < 5_000, "the flood has outlasted every deadline"
        if index >= self.length():
            await self.post(b"rubbish")
        return await super().message(index)
