"""The newest entries of all logs in memory, up to a number of bytes: clients that follow a game need no disk. Pure."""

from __future__ import annotations

from collections import deque
from itertools import islice

_COST = 256
"""Bytes of memory that an entry takes besides its own."""


class Newest:
    """The newest entries of one log. `end`: how many entries the log has."""

    __slots__ = ("_entries", "end")

    def __init__(self, end: int) -> None:
        self.end = end
        self._entries: deque[bytes] = deque()

    def add(self, entries: list[bytes]) -> None:
        """Append entries."""
        self._entries.extend(entries)
        self.end += len(entries)

    def drop(self, count: int) -> None:
        """Drop the oldest entries that are in memory."""
        for _ in range(count):
            self._entries.popleft()

    def read(self, start: int, most_bytes: int) -> list[bytes]:
        """Entries from a place on, up to `most_bytes` but at least one; none where the first is not in memory."""
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
    """The newest entries of all logs: new entries take the place of those that were added first, of whichever log."""

    def __init__(self, most: int) -> None:
        """`most`: bytes of memory."""
        self._most, self.size = most, 0
        self._added: deque[tuple[Newest, int, int]] = deque()

    def add(self, newest: Newest, entries: list[bytes]) -> None:
        """Append entries to a log."""
        newest.add(entries)
        cost = sum(map(len, entries)) + _COST * len(entries)
        self._added.append((newest, len(entries), cost))
        self.size += cost
        while self.size > self._most:
            oldest, count, cost = self._added.popleft()
            oldest.drop(count)
            self.size -= cost
