"""New messages under many subjects of one stream, by one consumer: a server reads a stream once for all tables of a
connection, not once for each."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from typing import Any, Protocol

from forcemove.transport.jetstream.feed import NEW, Delivered, Feed

__all__ = ["MAX_SUBJECTS", "Live"]

MAX_SUBJECTS = 256
"""Subjects of one consumer: all of them are sent again whenever one is added."""


class During(Protocol):
    """Runs a coroutine as long as there is a connection."""

    async def __call__(self, doing: Coroutine[Any, Any, None]) -> None: ...


class Live:
    """Followers of many subjects on one feed; it ends with the feed."""

    def __init__(self, make: Callable[[Sequence[str], Callable[[Delivered], bool]], Feed], during: During) -> None:
        """`make`: makes a feed of some subjects, not opened yet. `during`: makes requests to the server."""
        self._make, self._during = make, during
        self._feed: Feed | None = None
        self._hearers: dict[str, Callable[[Delivered], None]] = {}
        self._named: frozenset[str] = frozenset()
        self._naming = asyncio.Lock()

    @property
    def is_over(self) -> bool:
        """Whether a message or the connection was lost."""
        return self._feed is not None and self._feed.ended.is_set()

    @property
    def has_room(self) -> bool:
        """Whether one more subject may be added."""
        return len(self._hearers) < MAX_SUBJECTS

    @asynccontextmanager
    async def following(self, subject: str, on_message: Callable[[Delivered], None]) -> AsyncIterator[Feed]:
        """Within the block, `on_message` is called with all messages of a subject from its beginning on, until the feed
        ends. Raises NATS's errors."""
        self._hearers[subject] = on_message
        try:
            async with self._naming:
                feed = await self._named_in(subject)
            yield feed
        finally:
            del self._hearers[subject]

    async def close(self) -> None:
        """Close the feed."""
        if self._feed is not None:
            await self._feed.close()

    async def _named_in(self, subject: str) -> Feed:
        """The feed with this subject: the first caller adds the subjects of all that wait."""
        subjects = tuple(self._hearers)
        if self._feed is None:
            self._feed = await self._opened(subjects)
            self._named = frozenset(subjects)
        elif subject not in self._named:
            await self._during(self._feed.widen(subjects))
            self._named = frozenset(subjects)
        return self._feed

    async def _opened(self, subjects: Sequence[str]) -> Feed:
        feed = self._make(subjects, self._on_message)
        try:
            await self._during(feed.open(NEW))
        except BaseException:
            await feed.close()
            raise
        return feed

    def _on_message(self, found: Delivered) -> bool:
        on_message = self._hearers.get(found.subject)
        if on_message is not None:
            on_message(found)
        return True
