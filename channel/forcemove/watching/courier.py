"""Hands over for a node: after each step of its channels, to each tower, until it has a receipt for the newest state.

It runs beside `Node.run`, in the same event loop, and looks at the channels from outside. What is not in the node's
journal yet is given to nobody. Nothing that a tower does, or that is made of what is told, ends it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from forcemove.errors import ForcemoveError, UnknownVersion
from forcemove.node.clock import seconds
from forcemove.node.driven import Driven
from forcemove.protocol.channel import Channel
from forcemove.protocol.signing import Key
from forcemove.tower.handover import HandOver, hand_over
from forcemove.tower.receipts import Receipt
from forcemove.watching.client import TowerClient
from forcemove.watching.errors import TowerBusy, TowerRefused, TowerUnreachable

__all__ = ["Acknowledged", "Courier", "Failed", "Unguarded"]

_LOG = logging.getLogger(__name__)
_LAG = 60
"""Seconds by which the chain's time as a tower reads it may be ahead of ours."""
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 30.0
_OVER, _OTHER_VERSION = "ChannelOver", UnknownVersion.__name__
"""Reasons of a tower that takes nothing: it need not, or cannot until one of us is updated."""


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """The tower at `url` has what was given. Keep both: together they show it up if it does not answer."""

    url: str
    given: HandOver
    receipt: Receipt


@dataclass(frozen=True, slots=True)
class Failed:
    """The tower at `url` has not acknowledged what answers in a channel up to `turn_num`. It is given it again, unless
    it has refused it (`TowerRefused`) for another reason than its version: then what comes next."""

    url: str
    channel_id: bytes
    turn_num: int
    error: ForcemoveError


@dataclass(frozen=True, slots=True)
class Unguarded:
    """No tower has acknowledged the newest state of a channel, which is of turn `turn_num`, for so many seconds: its
    participant must not go away."""

    channel_id: bytes
    turn_num: int
    seconds: float


Told = Acknowledged | Failed | Unguarded


@dataclass(eq=False)
class _Watched:
    """A channel. `seen`: as it was when `given` was made of it. `since`: when that was, in seconds. `holders`: how many
    towers have acknowledged it."""

    driven: Driven
    key: Key
    since: float = 0.0
    seen: Channel | None = None
    given: HandOver | None = None
    holders: int = 0
    is_told: bool = False

    def look(self, now: float) -> None:
        """Whether there is something new to hand over. What is not saved yet may be signed otherwise after a crash."""
        channel = self.driven.channel
        if channel is self.seen or self.driven.client.is_unsaved:
            return
        self.seen = channel
        given = None if channel.is_over_and_paid else hand_over(channel, self.driven.following.from_block)
        if given != self.given:
            self.given, self.since, self.holders, self.is_told = given, now, 0, False


@dataclass(eq=False)
class _Round:
    """What one tower has: by channel what it has answered for, and for how long it is left alone. `failed`: of which
    channel it has taken nothing just now."""

    client: TowerClient
    answered: dict[bytes, HandOver] = field(default_factory=dict)
    pause: float = _FIRST_PAUSE
    failed: bytes = b""


class Courier:
    """Of any number of channels and towers."""

    def __init__(
        self,
        towers: Sequence[TowerClient],
        *,
        tell: Callable[[Told], None] = lambda _: None,
        alarm_after: float = 30.0,
        look_every: float = 0.1,
        clock: Callable[[], float] = seconds,
    ) -> None:
        """`tell`: is told what happens. `alarm_after`: seconds without any tower's receipt for the newest state after
        which `Unguarded` is told, once for each state. `look_every`: seconds between two looks at the channels.
        `clock`: seconds."""
        self._rounds = [_Round(each) for each in towers]
        self._tell, self._alarm_after, self._look_every, self._clock = tell, alarm_after, look_every, clock
        self._watched: dict[bytes, _Watched] = {}

    def add(self, driven: Driven, key: Key) -> None:
        """Hand over for this channel from now on. `key`: the participant's."""
        self._watched[driven.id] = _Watched(driven, key)

    def remove(self, channel_id: bytes) -> None:
        """Hand over for it no more; what towers have of it they keep."""
        self._watched.pop(channel_id, None)
        for each in self._rounds:
            each.answered.pop(channel_id, None)

    @property
    def unguarded(self) -> tuple[bytes, ...]:
        """The channels of whose newest state no tower has acknowledged that it has it."""
        return tuple(id_ for id_, each in self._watched.items() if each.given is not None and not each.holders)

    async def run(self) -> None:
        """Until it is cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._look())
            for each in self._rounds:
                group.create_task(self._serve(each))

    async def _look(self) -> None:
        while True:
            now = self._clock()
            for watched in tuple(self._watched.values()):
                try:
                    watched.look(now)
                    self._alarm(watched, now)
                except Exception:
                    _LOG.exception("channel %s cannot be looked at", watched.driven.id.hex())
            await asyncio.sleep(self._look_every)

    def _alarm(self, watched: _Watched, now: float) -> None:
        silence = now - watched.since
        if watched.given is None or watched.holders or watched.is_told or silence < self._alarm_after:
            return
        watched.is_told = True
        self._notify(Unguarded(watched.driven.id, watched.given.turn_num, silence))

    async def _serve(self, round_: _Round) -> None:
        """One tower. While it does not answer, the others do not wait for it."""
        while True:
            for watched in tuple(self._due(round_)):
                pause = await self._give(round_, watched)
                if pause:
                    await asyncio.sleep(pause)
                    break
            await asyncio.sleep(self._look_every)

    def _due(self, round_: _Round) -> Iterable[_Watched]:
        """What it would not take just now comes last, so that it holds up no other."""
        for id_, watched in sorted(self._watched.items(), key=lambda each: each[0] == round_.failed):
            if watched.given is not None and round_.answered.get(id_) != watched.given:
                yield watched

    async def _give(self, round_: _Round, watched: _Watched) -> float:
        """Returns the seconds for which the tower is left alone."""
        given, id_, client = watched.given, watched.driven.id, round_.client
        if given is None:
            return 0.0
        time = watched.driven.time()
        try:
            receipt = await client.give(given, watched.key, now=time + _LAG if time else None)
        except ForcemoveError as error:
            return self._fail(round_, watched, given, error)
        except Exception as error:
            _LOG.exception("what answers at %s cannot be understood", client.url)
            reason = f"what it says cannot be understood: {type(error).__name__}"
            return self._fail(round_, watched, given, TowerUnreachable(client.url, reason))
        round_.answered[id_], round_.pause = given, _FIRST_PAUSE
        if watched.given == given:
            watched.holders += 1
        self._notify(Acknowledged(client.url, given, receipt))
        return 0.0

    def _fail(self, round_: _Round, watched: _Watched, given: HandOver, error: ForcemoveError) -> float:
        round_.failed = watched.driven.id
        self._notify(Failed(round_.client.url, watched.driven.id, given.turn_num, error))
        if isinstance(error, TowerRefused) and error.reason != _OTHER_VERSION:
            round_.answered[watched.driven.id] = given
            watched.holders += error.reason == _OVER
            return 0.0
        pause, round_.pause = round_.pause, min(2 * round_.pause, _LONGEST_PAUSE)
        return max(pause, error.seconds) if isinstance(error, TowerBusy) else pause

    def _notify(self, told: Told) -> None:
        """What its owner makes of it undoes nothing."""
        try:
            self._tell(told)
        except Exception:
            _LOG.exception("%s could not be told", type(told).__name__)
