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
from forcemove.node.managed_channel import ManagedChannel
from forcemove.protocol.machine.channel import Channel
from forcemove.protocol.signing import Key
from forcemove.watchtower.appointment import Appointment, make_appointment
from forcemove.watchtower.client import TowerClient
from forcemove.watchtower.client_errors import TowerBusy, TowerRefused, TowerUnreachable
from forcemove.watchtower.receipts import AppointmentReceipt

__all__ = ["Acknowledged", "TowerPublisher", "NotAcknowledged", "Unprotected"]

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
    appointment: Appointment
    receipt: AppointmentReceipt


@dataclass(frozen=True, slots=True)
class NotAcknowledged:
    """The tower at `url` has not acknowledged what answers in a channel up to `turn_num`. It is given it again, unless
    it has refused it (`TowerRefused`) for another reason than its version: then what comes next."""

    url: str
    channel_id: bytes
    turn_num: int
    error: ForcemoveError


@dataclass(frozen=True, slots=True)
class Unprotected:
    """No tower has acknowledged the newest state of a channel, which is of turn `turn_num`, for so many seconds: its
    participant must not go away."""

    channel_id: bytes
    turn_num: int
    seconds: float


TowerNotification = Acknowledged | NotAcknowledged | Unprotected


@dataclass(eq=False)
class _Watched:
    """A channel. `snapshot`: as it was when `appointment` was made of it. `since`: when that was, in seconds.
    `receipts`: how many towers have acknowledged it."""

    managed: ManagedChannel
    key: Key
    since: float = 0.0
    snapshot: Channel | None = None
    appointment: Appointment | None = None
    receipts: int = 0
    is_reported: bool = False

    def look(self, now: float) -> None:
        """Whether there is something new to hand over. What is not saved yet may be signed otherwise after a crash."""
        channel = self.managed.channel
        if channel is self.snapshot or self.managed.client.is_unsaved:
            return
        self.snapshot = channel
        appointment = None if channel.is_over_and_paid else make_appointment(channel, self.managed.following.from_block)
        if appointment != self.appointment:
            self.appointment, self.since, self.receipts, self.is_reported = appointment, now, 0, False


@dataclass(eq=False)
class _TowerState:
    """What one tower has: by channel what it has answered for, and for how long it is left alone. `failed`: of which
    channel it has taken nothing just now."""

    client: TowerClient
    answered: dict[bytes, Appointment] = field(default_factory=dict)
    pause: float = _FIRST_PAUSE
    failed: bytes = b""


class TowerPublisher:
    """Of any number of channels and towers."""

    def __init__(
        self,
        towers: Sequence[TowerClient],
        *,
        notify: Callable[[TowerNotification], None] = lambda _: None,
        alarm_after: float = 30.0,
        look_every: float = 0.1,
        clock: Callable[[], float] = seconds,
    ) -> None:
        """`notify`: is told what happens. `alarm_after`: seconds without any tower's receipt for the newest state after
        which `Unprotected` is told, once for each state. `look_every`: seconds between two looks at the channels.
        `clock`: seconds."""
        self._towers = [_TowerState(each) for each in towers]
        self._on_event, self._alarm_after, self._look_every, self._clock = notify, alarm_after, look_every, clock
        self._watched: dict[bytes, _Watched] = {}

    def add(self, managed: ManagedChannel, key: Key) -> None:
        """Hand over for this channel from now on. `key`: the participant's."""
        self._watched[managed.id] = _Watched(managed, key)

    def remove(self, channel_id: bytes) -> None:
        """Hand over for it no more; what towers have of it they keep."""
        self._watched.pop(channel_id, None)
        for each in self._towers:
            each.answered.pop(channel_id, None)

    @property
    def unprotected(self) -> tuple[bytes, ...]:
        """The channels of whose newest state no tower has acknowledged that it has it."""
        return tuple(id_ for id_, each in self._watched.items() if each.appointment is not None and not each.receipts)

    async def run(self) -> None:
        """Until it is cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._look())
            for each in self._towers:
                group.create_task(self._serve(each))

    async def _look(self) -> None:
        while True:
            now = self._clock()
            for watched in tuple(self._watched.values()):
                try:
                    watched.look(now)
                    self._alarm(watched, now)
                except Exception:
                    _LOG.exception("channel %s cannot be looked at", watched.managed.id.hex())
            await asyncio.sleep(self._look_every)

    def _alarm(self, watched: _Watched, now: float) -> None:
        silence = now - watched.since
        if watched.appointment is None or watched.receipts or watched.is_reported or silence < self._alarm_after:
            return
        watched.is_reported = True
        self._notify(Unprotected(watched.managed.id, watched.appointment.turn_num, silence))

    async def _serve(self, tower: _TowerState) -> None:
        """One tower. While it does not answer, the others do not wait for it."""
        while True:
            for watched in tuple(self._due(tower)):
                pause = await self._send(tower, watched)
                if pause:
                    await asyncio.sleep(pause)
                    break
            await asyncio.sleep(self._look_every)

    def _due(self, tower: _TowerState) -> Iterable[_Watched]:
        """What it would not take just now comes last, so that it holds up no other."""
        for id_, watched in sorted(self._watched.items(), key=lambda each: each[0] == tower.failed):
            if watched.appointment is not None and tower.answered.get(id_) != watched.appointment:
                yield watched

    async def _send(self, tower: _TowerState, watched: _Watched) -> float:
        """Returns the seconds for which the tower is left alone."""
        appointment, id_, client = watched.appointment, watched.managed.id, tower.client
        if appointment is None:
            return 0.0
        time = watched.managed.time()
        try:
            receipt = await client.send_appointment(appointment, watched.key, now=time + _LAG if time else None)
        except ForcemoveError as error:
            return self._fail(tower, watched, appointment, error)
        except Exception as error:
            _LOG.exception("what answers at %s cannot be understood", client.url)
            reason = f"what it says cannot be understood: {type(error).__name__}"
            return self._fail(tower, watched, appointment, TowerUnreachable(client.url, reason))
        tower.answered[id_], tower.pause = appointment, _FIRST_PAUSE
        if watched.appointment == appointment:
            watched.receipts += 1
        self._notify(Acknowledged(client.url, appointment, receipt))
        return 0.0

    def _fail(self, tower: _TowerState, watched: _Watched, appointment: Appointment, error: ForcemoveError) -> float:
        tower.failed = watched.managed.id
        self._notify(NotAcknowledged(tower.client.url, watched.managed.id, appointment.turn_num, error))
        if isinstance(error, TowerRefused) and error.reason != _OTHER_VERSION:
            tower.answered[watched.managed.id] = appointment
            watched.receipts += error.reason == _OVER
            return 0.0
        pause, tower.pause = tower.pause, min(2 * tower.pause, _LONGEST_PAUSE)
        return max(pause, error.seconds) if isinstance(error, TowerBusy) else pause

    def _notify(self, event: TowerNotification) -> None:
        """What its owner makes of it undoes nothing."""
        try:
            self._on_event(event)
        except Exception:
            _LOG.exception("%s could not be told", type(event).__name__)
