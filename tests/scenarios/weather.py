"""A line on which the weather is bad: it loses, repeats, delays and reorders, by a seed, and counts what was sent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from forcemove.protocol.codec.wire import decode_message
from forcemove.protocol.machine.inputs import StateReceived

__all__ = ["MOST_SENT", "Weather", "WeatherLine"]

MOST_SENT = 2_000
"""More than any channel of the tests has to say: what comes after it is lost, and a reader that counts sees an echo."""


class Weather:
    """What happens to messages between two clients. `loses`, `repeats`, `delays`: how likely each is; `copies`: how
    often a repeated message arrives; a delayed one waits for up to 10 looks."""

    def __init__(
        self, seed: int = 0, *, loses: float = 0, repeats: float = 0, delays: float = 0, copies: int = 2
    ) -> None:
        self._random = Random(seed)
        self._loses, self._repeats, self._delays, self._copies = loses, repeats, delays, copies
        self.lines = (WeatherLine(self, 0), WeatherLine(self, 1))
        self.sent: list[tuple[int, bytes]] = []
        self.is_lost: Callable[[int, bytes], bool] = lambda _seat, _message: False

    def carry(self, seat: int, message: bytes) -> None:
        """A message from a seat on its way to the other."""
        self.sent.append((seat, message))
        if len(self.sent) > MOST_SENT or self.is_lost(seat, message) or self._random.random() < self._loses:
            return
        for _ in range(self._copies if self._random.random() < self._repeats else 1):
            late = self._random.randrange(10) if self._random.random() < self._delays else 0
            self.lines[1 - seat].under_way.append((late, message))

    @property
    def states(self) -> list[int]:
        """The turn numbers of all states that were sent, as often as they were."""
        said = (decode_message(message)[1] for _, message in self.sent)
        return [each.signed.state.turn_num for each in said if isinstance(each, StateReceived)]

    @property
    def greetings(self) -> int:
        """How many messages were not states."""
        return len(self.sent) - len(self.states)


class WeatherLine:
    """One end."""

    def __init__(self, weather: Weather, seat: int) -> None:
        self._weather, self._seat = weather, seat
        self.under_way: list[tuple[int, bytes]] = []

    def send(self, message: bytes) -> None:
        self._weather.carry(self._seat, message)

    def receive(self) -> Sequence[bytes]:
        arrived = [message for late, message in self.under_way if late == 0]
        self.under_way = [(late - 1, message) for late, message in self.under_way if late]
        return arrived
