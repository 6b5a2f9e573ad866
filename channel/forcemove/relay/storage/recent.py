"""The newest entries of all logs in memory, so many bytes in all: who follows a game reads no disk. Pure."""

from __future__ import annotations

from collections import deque
from itertools import islice

__all__ = ["Newest", "Recent"]

_COST = 256
"""Bytes of memory that an entry takes beside its own."""


class Newest:
    """The newest entries of one log. `end`: how many entries the log has."""

    __slots__ = ("_entries", "end")

    def __init__(self, end: int) -> None:
        self.end = end
        self._entries: deque[bytes] = deque()

    def add(self, entries: list[bytes]) -> None:
        """The log has become longer by these."""
        self._entries.extend(entries)
        self.end += len(entries)

    def drop(self, count: int) -> None:
        """The oldest of those that are here."""
        for _ in range(count):
            self._entries.popleft()

    def read(self, start: int, most_bytes: int) -> list[bytes]:
        """Entries from a place on, up to so many bytes but at least one; none where they are not all here."""
        skipped = start - self.end + len(self._entries)
        if skipped < 0:
            return []
        taken: list[bytes] = []
        size = 0
        for entry in islice(self._entries, skipped, None):
            size += len(entry)
            if taken and size > most_bytes:
                break
            taken.append(entry)
        return taken


class Recent:
    """Of all logs, the newest first: what is added drops what was added first, whichever log it is of."""

    def __init__(self, most: int) -> None:
        """`most`: bytes of memory."""
        self._most, self.size = most, 0
        self._added: deque[tuple[Newest, int, int]] = deque()

    def add(self, newest: Newest, entries: list[bytes]) -> None:
        """A log has become longer by these."""
        newest.add(entries)
        cost = sum(map(len, entries)) + _COST * len(entries)
        self._added.append((newest, len(entries), cost))
        self.size += cost
        while self.size > self._most:
            oldest, count, cost = self._added.popleft()
            oldest.drop(count)
            self.size -= cost
