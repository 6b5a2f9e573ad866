"""The ports in memory: a line among clients in one process, and a store that forgets when the process ends."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from itertools import count
from operator import itemgetter

from forcemove.errors import ForcemoveError
from forcemove.protocol.machine.channel import Channel

__all__ = ["MemoryStore", "MemoryMessenger"]

_MAX_OF_A_KIND = 10
_AT_ONCE = 64
_MAX_BYTES = 16 * 2**20
"""That wait at an end of a line; then the oldest are forgotten, as a relay does."""


class MemoryMessenger:
    """One end of a line between the participants of a channel; `MemoryMessenger.table(n)` makes all ends."""

    def __init__(self) -> None:
        self._inbox: deque[bytes] = deque()
        self._size = 0
        self._others: tuple[MemoryMessenger, ...] = ()
        self._wake: Callable[[], None] = lambda: None

    @classmethod
    def table(cls, count: int) -> tuple[MemoryMessenger, ...]:
        """Ends for `count` participants, each joined to all others."""
        ends = tuple(cls() for _ in range(count))
        for end in ends:
            end._others = tuple(other for other in ends if other is not end)
        return ends

    def send(self, message: bytes) -> None:
        """Deliver to every other end, at once and in order."""
        for other in self._others:
            other._take(message)
            other._wake()

    def _take(self, message: bytes) -> None:
        self._inbox.append(message)
        self._size += len(message)
        while self._size > _MAX_BYTES:
            self._size -= len(self._inbox.popleft())

    def listen(self, wake: Callable[[], None]) -> None:
        """See `WakingLine`."""
        self._wake = wake

    def receive(self) -> Sequence[bytes]:
        """What has arrived, up to 64 messages; where there are more, whoever listens is called at once."""
        messages = tuple(self._inbox.popleft() for _ in range(min(_AT_ONCE, len(self._inbox))))
        self._size -= sum(map(len, messages))
        if self._inbox:
            self._wake()
        return messages


class MemoryStore:
    """Keeps channels and evidence in dictionaries."""

    def __init__(self) -> None:
        self._channels: dict[bytes, Channel] = {}
        self._evidence: dict[tuple[bytes, type, type], deque[tuple[int, ForcemoveError]]] = {}
        self._faults = count()

    def save(self, channel: Channel) -> None:
        """Replace the channel."""
        self._channels[channel.agreement.channel_id] = channel

    def load(self, channel_id: bytes) -> Channel | None:
        """The channel as it was saved last."""
        return self._channels.get(channel_id)

    def keep_evidence(self, channel_id: bytes, error: ForcemoveError) -> None:
        """Of each kind of fault in a channel the last 10: a flood of one kind drowns no other."""
        kind = (channel_id, type(error), type(getattr(error, "reason", None)))
        self._evidence.setdefault(kind, deque(maxlen=_MAX_OF_A_KIND)).append((next(self._faults), error))

    @property
    def evidence(self) -> list[tuple[bytes, ForcemoveError]]:
        """What is kept, oldest first, each with its channel's id."""
        stored = [(number, kind[0], error) for kind, errors in self._evidence.items() for number, error in errors]
        return [(channel_id, error) for _, channel_id, error in sorted(stored, key=itemgetter(0))]
