"""A network between participants in one process: what is sent through it can be cut off, delayed, lost, repeated,
or withheld by its sender."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

__all__ = ["NetworkEnd", "PlaygroundNetwork"]

DELAY = 3.0
"""Seconds that a message takes on a slow network."""
_COPIES = 3
"""How often a message arrives on a network that repeats."""
_LOST = 2
"""On a network that loses, one of this many messages arrives."""


class PlaygroundNetwork:
    """What the participants' ends are joined by. `is_cut`: nothing arrives; `is_slow`: everything arrives later;
    `is_lossy`: every other message is lost; `is_repeating`: every message arrives three times."""

    def __init__(self, clock: Callable[[], float], count: int = 2) -> None:
        """`clock`: seconds that go on steadily; `count`: how many participants there are."""
        self._clock = clock
        self._count = 0
        self.mend()
        self.ends = tuple(NetworkEnd(self) for _ in range(count))

    def mend(self) -> None:
        """Let everything arrive at once, and once."""
        self.is_cut = self.is_slow = self.is_lossy = self.is_repeating = False

    @property
    def is_whole(self) -> bool:
        """Whether everything arrives at once, and once."""
        return not (self.is_cut or self.is_slow or self.is_lossy or self.is_repeating)

    def carry(self, sender: NetworkEnd, message: bytes) -> None:
        """Take a message from one end to the others, as the network is now."""
        if self.is_cut or sender.is_withholding:
            return
        self._count += 1
        if self.is_lossy and self._count % _LOST:
            return
        due = self._clock() + (DELAY if self.is_slow else 0.0)
        others = [each for each in self.ends if each is not sender]
        for other in others * (_COPIES if self.is_repeating else 1):
            other.expect(due, message)

    def deliver(self) -> None:
        """Give the ends what has taken its time."""
        for end in self.ends:
            end.deliver(self._clock())

    @property
    def next_due(self) -> float | None:
        """When the next message arrives, by the clock; None where none is on its way."""
        return min((due for end in self.ends for due, _ in end.on_the_way), default=None)


class NetworkEnd:
    """One participant's messenger. `is_withholding`: whether what it sends goes nowhere, as its owner wants it;
    `is_gone`: whether nobody is there to take anything; `on_the_way`: what will arrive, and when."""

    url = "the playground's network"

    def __init__(self, network: PlaygroundNetwork) -> None:
        self.is_withholding = self.is_gone = False
        self.on_the_way: list[tuple[float, bytes]] = []
        self._network = network
        self._inbox: deque[bytes] = deque()
        self._wake: Callable[[], None] = lambda: None

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

    def expect(self, due: float, message: bytes) -> None:
        """A message is on its way to this end, and arrives at the time `due`."""
        self.on_the_way.append((due, message))

    def deliver(self, now: float) -> None:
        """Let arrive what is due by `now`; it is lost where nobody is there."""
        arrived = [message for due, message in self.on_the_way if due <= now]
        self.on_the_way = [(due, message) for due, message in self.on_the_way if due > now]
        if not self.is_gone and arrived:
            self._inbox.extend(arrived)
            self._wake()

    def listen(self, wake: Callable[[], None]) -> None:
        """See `WakingMessenger`."""
        self._wake = wake

    def receive(self) -> Sequence[bytes]:
        """See `Messenger`."""
        messages = tuple(self._inbox)
        self._inbox.clear()
        return messages
