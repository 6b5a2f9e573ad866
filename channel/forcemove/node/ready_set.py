"""Which channels a node is to step: those to which something has happened, and those for which something is due by
time. None is looked at without a reason, however many there are.

A channel whose messenger says when a message has arrived is stepped then; one with another messenger at each step. What
is due is found by heaps: one of our own clock, and one of each chain's time. Each channel is planned anew whenever it
was looked at.
"""

from __future__ import annotations

import heapq
import math
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from itertools import islice

from forcemove.node.friendly import ChainSource
from forcemove.node.managed_channel import ManagedChannel
from forcemove.node.ports import Messenger, as_connected

_SPARE = 64
"""Times that do not count any more, beyond as many as count, before they are thrown out."""


class TimeHeap:
    """Ids, each with one time at which it is due. `next`: the earliest of these times, infinite where there is none."""

    def __init__(self) -> None:
        self._times: dict[bytes, float] = {}
        self._heap: list[tuple[float, bytes]] = []
        self._now = -math.inf

    def put(self, id_: bytes, at: float | None) -> None:
        """Let this be the time of `id_`, instead of an earlier or later one it had; None for no time. With an infinite
        time it is due only where the clock jumps back."""
        if at is None:
            self._times.pop(id_, None)
        elif self._times.get(id_) != at:
            self._times[id_] = at
            heapq.heappush(self._heap, (at, id_))
        if len(self._heap) > 2 * len(self._times) + _SPARE:
            self._heap = [(time, each) for each, time in self._times.items()]
            heapq.heapify(self._heap)

    def take(self, now: float) -> list[bytes]:
        """The ids that are due, the earliest first; they have no time any more. Where the clock has jumped back since
        the last call all are due: what they wait for may have been counted from a time that is to come."""
        has_jumped, self._now = now < self._now, now
        due: list[bytes] = []
        while self._heap and (has_jumped or self._heap[0][0] <= now):
            at, id_ = heapq.heappop(self._heap)
            if self._times.get(id_) == at:
                del self._times[id_]
                due.append(id_)
        return due

    @property
    def next(self) -> float:
        """See the class."""
        while self._heap and self._times.get(self._heap[0][1]) != self._heap[0][0]:
            heapq.heappop(self._heap)
        return self._heap[0][0] if self._heap else math.inf


# ------------------------------------------------------------------------------------------------------------- channels

_CONNECTIONS_EVERY, _CONNECTIONS_AT_ONCE = 1.0, 50
"""Seconds between two looks at whether messengers are connected, since none says so by itself; at how many. Where one
has lost its connection or found it, all are looked at: most have the same one."""


class ReadySet:
    """The channels that one node is to step next."""

    def __init__(self, wake: Callable[[], None], clock: Callable[[], float]) -> None:
        """`wake`: lets the node step. `clock`: seconds."""
        self._wake, self._clock = wake, clock
        self._unnotified: set[bytes] = set()
        self._connected: deque[bytes] = deque()
        self._ready: set[bytes] = set()
        self._unsettled: set[bytes] = set()
        self._by_clock = TimeHeap()
        self._by_chain: dict[ChainSource, TimeHeap] = {}
        self._connections_at = clock()

    def add(self, channel_id: bytes, messenger: Messenger) -> None:
        """Add a channel, with its messenger."""
        if hasattr(messenger, "listen"):
            messenger.listen(lambda: self.mark_ready(channel_id))
        else:
            self._unnotified.add(channel_id)
        if as_connected(messenger) is not None:
            self._connected.append(channel_id)
        self.mark_ready(channel_id)

    def mark_ready(self, channel_id: bytes) -> None:
        """Something has come in for this channel, or is left to be done."""
        self._ready.add(channel_id)
        self._wake()

    def keep(self, channel_id: bytes) -> None:
        """Something is being done for this channel: it is stepped each time until `settle`."""
        self._unsettled.add(channel_id)

    def settle(self, channel_id: bytes) -> None:
        """All that was to be done for this channel is done."""
        self._unsettled.discard(channel_id)

    def plan(self, managed: ManagedChannel) -> None:
        """This channel was looked at: it is stepped again when its next thing is due, if nothing happens before."""
        self._by_clock.put(managed.id, managed.due_by_clock(self._clock()))
        self._by_chain.setdefault(managed.chain, TimeHeap()).put(managed.id, managed.due_by_chain())

    def forget(self, channel_id: bytes) -> None:
        """This channel is driven no more."""
        for ids in (self._unnotified, self._ready, self._unsettled):
            ids.discard(channel_id)
        with suppress(ValueError):
            self._connected.remove(channel_id)
        for heap in (self._by_clock, *self._by_chain.values()):
            heap.put(channel_id, None)

    def take(self, channels: Mapping[bytes, ManagedChannel]) -> Iterable[ManagedChannel]:
        """The channels to step now. Each is to be planned, or kept."""
        now, ready = self._clock(), self._ready
        self._ready = set()
        ready |= self._unsettled | self._unnotified
        ready.update(self._by_clock.take(now))
        for chain, heap in self._by_chain.items():
            ready.update(heap.take(chain.time))
        if not 0 <= now - self._connections_at < _CONNECTIONS_EVERY:
            self._connections_at = now
            ready.update(self._with_other_connections(channels))
        return [channels[id_] for id_ in sorted(ready) if id_ in channels]

    def _with_other_connections(self, channels: Mapping[bytes, ManagedChannel]) -> list[bytes]:
        """The channels whose messengers have lost or found their connections, of those whose turn it is."""
        self._connected.rotate(-_CONNECTIONS_AT_ONCE)
        some = islice(reversed(self._connected), _CONNECTIONS_AT_ONCE)
        if not any(channels[id_].has_connection_changed for id_ in some):
            return []
        return [id_ for id_ in self._connected if channels[id_].has_connection_changed]

    def pause(self, shortest: float, longest: float) -> float:
        """Seconds until a channel is to be stepped even if nothing happens, within these bounds."""
        if self._unnotified or self._unsettled:
            return shortest
        return min(max(self._by_clock.next - self._clock(), shortest), longest)
