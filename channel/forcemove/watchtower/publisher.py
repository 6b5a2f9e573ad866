"""Gives towers the appointments of a node's channels: one for each newly supported state, until there is a receipt.

The publisher runs beside `Node.run`, in the same event loop. The node calls it with each channel that was committed
(`Node.on_committed`); a state that is not in the journal yet is given to no tower. Nothing that a tower does, and no
error of the owner's `notify`, ends the publisher.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from forcemove.backoff import Backoff
from forcemove.errors import ForcemoveError, UnknownVersion
from forcemove.node.managed_channel import ManagedChannel
from forcemove.protocol.signing import Key
from forcemove.watchtower.appointment import Appointment, AppointmentReceipt, make_appointment
from forcemove.watchtower.client_errors import TowerBusy, TowerRefused, TowerUnreachable
from forcemove.workers.clock import seconds

if TYPE_CHECKING:
    from forcemove.watchtower.client import TowerClient

_LOG = logging.getLogger(__name__)
_LAG = 60
"""Seconds by which the chain's time, as a tower reads it, may be ahead of our clock."""
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 30.0
_OVER, _OTHER_VERSION = "ChannelOver", UnknownVersion.__name__
"""Reasons for which a tower refuses: it need not accept the appointment, or cannot until one side is updated."""


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """The tower at `url` has the appointment. Keep it with the receipt: together they prove it if the tower does not
    answer."""

    url: str
    appointment: Appointment
    receipt: AppointmentReceipt


@dataclass(frozen=True, slots=True)
class NotAcknowledged:
    """The tower at `url` has not acknowledged the appointment that answers in a channel up to `turn_num`. The tower is
    given it again, unless it has refused it (`TowerRefused`) for another reason than its version: then the tower is
    given the next one."""

    url: str
    channel_id: bytes
    turn_num: int
    error: ForcemoveError


@dataclass(frozen=True, slots=True)
class Unprotected:
    """No tower has acknowledged the newest state of a channel, which is of turn `turn_num`, for `seconds`: the
    participant must stay online."""

    channel_id: bytes
    turn_num: int
    seconds: float


TowerNotification = Acknowledged | NotAcknowledged | Unprotected


@dataclass(eq=False)
class _Published:
    """A channel. `appointment`: the one that its towers should have, None where there is none. `since`: when it was
    made, in seconds. `receipts`: how many towers have acknowledged it. `is_reported`: whether `Unprotected` was
    notified."""

    managed: ManagedChannel
    key: Key
    since: float = 0.0
    appointment: Appointment | None = None
    receipts: int = 0
    is_reported: bool = False

    @property
    def is_unprotected(self) -> bool:
        """Whether there is an appointment that no tower has acknowledged."""
        return self.appointment is not None and not self.receipts


@dataclass(eq=False)
class _TowerQueue:
    """The ids of the channels whose appointments one tower is still to be given, in their order. `has_due`: is set when
    there is one."""

    client: TowerClient
    due: dict[bytes, None] = field(default_factory=dict)
    has_due: asyncio.Event = field(default_factory=asyncio.Event)
    pauses: Backoff = field(default_factory=lambda: Backoff(_FIRST_PAUSE, _LONGEST_PAUSE))

    def put(self, channel_id: bytes) -> None:
        """Put a channel last in the queue, unless it is in the queue already."""
        self.due.setdefault(channel_id)
        self.has_due.set()

    def defer(self, channel_id: bytes) -> None:
        """Move a channel that is still due behind all others, so that it delays none of them."""
        if channel_id in self.due:
            del self.due[channel_id]
            self.put(channel_id)


class TowerPublisher:
    """Publishes any number of channels to any number of towers. Register it with
    `node.on_committed(publisher.on_committed)`."""

    def __init__(
        self,
        towers: Sequence[TowerClient],
        *,
        notify: Callable[[TowerNotification], None] = lambda _: None,
        alarm_after: float = 30.0,
        clock: Callable[[], float] = seconds,
    ) -> None:
        """`towers`: the clients of all towers. `notify`: is called with each notification. `alarm_after`: seconds
        without any tower's receipt for the newest state after which `notify` is given `Unprotected`, once for each
        state. `clock`: seconds."""
        self._queues = [_TowerQueue(each) for each in towers]
        self._on_event, self._alarm_after, self._clock = notify, alarm_after, clock
        self._published: dict[bytes, _Published] = {}
        self._has_new = asyncio.Event()

    def add(self, managed: ManagedChannel, key: Key) -> None:
        """Publish this channel from now on, beginning with the state that is on disk. `key`: the participant's."""
        self._published[managed.id] = _Published(managed, key)
        if not managed.client.is_unsaved:
            self.on_committed(managed)

    def remove(self, channel_id: bytes) -> None:
        """Publish a channel no more; towers keep the appointments that they have."""
        self._published.pop(channel_id, None)
        for each in self._queues:
            each.due.pop(channel_id, None)

    def on_committed(self, managed: ManagedChannel) -> None:
        """Queue the appointment of a channel, which is on disk as it is now, if it is a new one. Called in the thread
        of `run`."""
        published = self._published.get(managed.id)
        if published is None:
            return
        try:
            channel, from_block = managed.channel, managed.following.from_block
            appointment = None if channel.is_over_and_paid else make_appointment(channel, from_block)
        except Exception:
            _LOG.exception("nothing can be given to towers for channel %s", managed.id.hex())
            return
        if appointment == published.appointment:
            return
        published.appointment, published.since = appointment, self._clock()
        published.receipts, published.is_reported = 0, False
        self._has_new.set()
        for each in self._queues:
            each.put(managed.id)

    @property
    def unprotected(self) -> tuple[bytes, ...]:
        """The ids of the channels whose newest appointment no tower has acknowledged."""
        return tuple(id_ for id_, each in self._published.items() if each.is_unprotected)

    async def run(self) -> None:
        """Publish until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._alarm())
            for each in self._queues:
                group.create_task(self._serve(each))

    async def _alarm(self) -> None:
        """Report each state that no tower has acknowledged in time."""
        while True:
            self._has_new.clear()
            now = self._clock()
            silent = [each for each in self._published.values() if each.is_unprotected and not each.is_reported]
            for each in silent:
                if each.appointment is not None and now - each.since >= self._alarm_after:
                    each.is_reported = True
                    self._notify(Unprotected(each.managed.id, each.appointment.turn_num, now - each.since))
            left = [each.since + self._alarm_after - now for each in silent if not each.is_reported]
            with suppress(TimeoutError):
                async with asyncio.timeout(min(left, default=None)):
                    await self._has_new.wait()

    async def _serve(self, queue: _TowerQueue) -> None:
        """Give one tower its appointments. While it does not answer, the other towers do not wait."""
        while True:
            queue.has_due.clear()
            while queue.due:
                await self._send_next(queue)
            await queue.has_due.wait()

    async def _send_next(self, queue: _TowerQueue) -> None:
        """Send the first appointment of the queue. Its channel leaves the queue when the tower has the appointment, or
        has refused it, unless there is a newer one by then. After a failure the tower is left alone for a while."""
        id_ = next(iter(queue.due))
        published = self._published[id_]
        appointment = published.appointment
        pause = 0.0 if appointment is None else await self._send(queue, published, appointment)
        if pause:
            queue.defer(id_)
            await asyncio.sleep(pause)
        elif published is self._published.get(id_) and published.appointment is appointment:
            del queue.due[id_]

    async def _send(self, queue: _TowerQueue, published: _Published, appointment: Appointment) -> float:
        """Send an appointment; returns the seconds for which the tower is left alone."""
        client, time = queue.client, published.managed.time()
        try:
            receipt = await client.send_appointment(appointment, published.key, now=time + _LAG if time else None)
        except ForcemoveError as error:
            return self._fail(queue, published, appointment, error)
        except Exception as error:
            _LOG.exception("what answers at %s cannot be understood", client.url)
            reason = f"what it says cannot be understood: {type(error).__name__}"
            return self._fail(queue, published, appointment, TowerUnreachable(client.url, reason))
        queue.pauses.reset()
        if published.appointment is appointment:
            published.receipts += 1
        self._enter_receipt(published, client.url, appointment)
        self._notify(Acknowledged(client.url, appointment, receipt))
        return 0.0

    def _enter_receipt(self, published: _Published, url: str, appointment: Appointment) -> None:
        """Enter a receipt in the channel's history; an error in it is logged, and changes nothing."""
        try:
            published.managed.note_receipt(url, appointment.turn_num)
        except Exception:
            _LOG.exception("the receipt of %s could not be entered in a history", url)

    def _fail(
        self, queue: _TowerQueue, published: _Published, appointment: Appointment, error: ForcemoveError
    ) -> float:
        self._notify(NotAcknowledged(queue.client.url, published.managed.id, appointment.turn_num, error))
        if isinstance(error, TowerRefused) and error.reason != _OTHER_VERSION:
            published.receipts += error.reason == _OVER and published.appointment is appointment
            return 0.0
        pause = queue.pauses.next_pause()
        return max(pause, error.seconds) if isinstance(error, TowerBusy) else pause

    def _notify(self, event: TowerNotification) -> None:
        """Notify the owner, whose errors are logged and change nothing."""
        try:
            self._on_event(event)
        except Exception:
            _LOG.exception("%s could not be reported", type(event).__name__)
