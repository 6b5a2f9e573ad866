"""A network in memory, among clients in one process: what is sent through it can be cut off, delayed, lost, repeated,
or withheld by its sender."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Self

DELAY = 3.0
"""Seconds that a message takes on a slow network."""
_COPIES = 3
"""How often a message arrives on a network that repeats."""
_LOST = 2
"""On a network that loses, one of this many messages arrives."""
_AT_ONCE = 64
_MAX_BYTES = 16 * 2**20
"""Of messages that wait for one participant; beyond it the oldest are dropped, as a relay does."""


class MemoryNetwork:
    """What joins participants. `ends`: a messenger for each. `is_cut`: nothing arrives; `is_slow`: everything arrives
    later; `is_lossy`: every other message is lost; `is_repeating`: every message arrives three times."""

    def __init__(self, count: int = 0, clock: Callable[[], float] = time.monotonic) -> None:
        """`count`: how many participants there are; `clock`: seconds that go on steadily."""
        self._clock = clock
        self._count = 0
        self.mend()
        self.ends: tuple[MemoryMessenger, ...] = tuple(MemoryMessenger(self) for _ in range(count))

    def mend(self) -> None:
        """Let everything arrive at once, and once."""
        self.is_cut = self.is_slow = self.is_lossy = self.is_repeating = False

    @property
    def is_whole(self) -> bool:
        """Whether everything arrives at once, and once."""
        return not (self.is_cut or self.is_slow or self.is_lossy or self.is_repeating)

    def carry(self, sender: MemoryMessenger, message: bytes) -> None:
        """Take a message from one end to the others, in order, as the network is now."""
        if self.is_cut or sender.is_withholding:
            return
        self._count += 1
        if self.is_lossy and self._count % _LOST:
            return
        others = [each for each in self.ends if each is not sender]
        for other in others * (_COPIES if self.is_repeating else 1):
            if self.is_slow:
                other.on_the_way.append((self._clock() + DELAY, message))
            else:
                other.take(message)

    def deliver(self) -> None:
        """Give the ends what was delayed and has taken its time."""
        for end in self.ends:
            end.deliver(self._clock())

    @property
    def next_due(self) -> float | None:
        """When the next message arrives, by the clock; None where none is on its way."""
        return min((due for end in self.ends for due, _ in end.on_the_way), default=None)


class MemoryMessenger:
    """One participant's messenger, by itself or on a network. `is_withholding`: whether what it sends goes nowhere, as
    its owner wants it; `is_gone`: whether nobody is there to take anything; `on_the_way`: what will arrive, and
    when."""

    url = "the network in this process"

    def __init__(self, network: MemoryNetwork | None = None) -> None:
        """`network`: None for one that has nobody else."""
        self.is_withholding = self.is_gone = False
        self.on_the_way: list[tuple[float, bytes]] = []
        self._network = network or MemoryNetwork()
        self._inbox: deque[bytes] = deque()
        self._size = 0
        self._wake: Callable[[], None] = lambda: None

    @classmethod
    def table(cls, count: int) -> tuple[Self, ...]:
        """Messengers for `count` participants, on a network of their own."""
        network = MemoryNetwork()
        ends = tuple(cls(network) for _ in range(count))
        network.ends = ends
        return ends

    @property
    def is_connected(self) -> bool:
        """See `ConnectedMessenger`."""
        return not self._network.is_cut

    def send(self, message: bytes) -> None:
        """See `Messenger`."""
        self._network.carry(self, message)

    def inject(self, message: bytes) -> None:
        """Send a message that no client has made, also while others are withheld."""
        withholding, self.is_withholding = self.is_withholding, False
        self._network.carry(self, message)
        self.is_withholding = withholding

    def take(self, message: bytes) -> None:
        """Let a message arrive; it is lost where nobody is there."""
        if self.is_gone:
            return
        self._inbox.append(message)
        self._size += len(message)
        while self._size > _MAX_BYTES:
            self._size -= len(self._inbox.popleft())
        self._wake()

    def deliver(self, now: float) -> None:
        """Let arrive what is due by `now`."""
        arrived = [message for due, message in self.on_the_way if due <= now]
        self.on_the_way = [(due, message) for due, message in self.on_the_way if due > now]
        for message in arrived:
            self.take(message)

    def leave(self) -> None:
        """Be gone: what has arrived, and what arrives from now on, is lost."""
        self.is_gone, self._size = True, 0
        self._inbox.clear()

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
