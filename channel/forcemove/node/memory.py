"""A messenger in memory, among clients in one process."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

__all__ = ["MemoryMessenger"]

_AT_ONCE = 64
_MAX_BYTES = 16 * 2**20
"""Of messages that wait for one participant; beyond it the oldest are dropped, as a relay does."""


class MemoryMessenger:
    """One participant's messenger; `MemoryMessenger.table(n)` makes those of all."""

    def __init__(self) -> None:
        self._inbox: deque[bytes] = deque()
        self._size = 0
        self._others: tuple[MemoryMessenger, ...] = ()
        self._wake: Callable[[], None] = lambda: None

    @classmethod
    def table(cls, count: int) -> tuple[MemoryMessenger, ...]:
        """Messengers for `count` participants, each joined to all others."""
        ends = tuple(cls() for _ in range(count))
        for end in ends:
            end._others = tuple(other for other in ends if other is not end)
        return ends

    def send(self, message: bytes) -> None:
        """Deliver a message to every other participant, at once and in order."""
        for other in self._others:
            other._take(message)
            other._wake()

    def _take(self, message: bytes) -> None:
        self._inbox.append(message)
        self._size += len(message)
        while self._size > _MAX_BYTES:
            self._size -= len(self._inbox.popleft())

    def listen(self, wake: Callable[[], None]) -> None:
        """See `WakingMessenger`."""
        self._wake = wake

    def receive(self) -> Sequence[bytes]:
        """What has arrived, up to 64 messages; where there are more, the listener is called at once."""
        messages = tuple(self._inbox.popleft() for _ in range(min(_AT_ONCE, len(self._inbox))))
        self._size -= sum(map(len, messages))
        if self._inbox:
            self._wake()
        return messages
