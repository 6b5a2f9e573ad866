"""Which channels a node is to step: those to which something has happened, and all of them now and then.

A channel whose messenger says when a message has arrived is stepped then; one with another messenger at each step.
After each look at a chain those channels are stepped for which something is due by time, and once a second all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from forcemove.node.managed_channel import ManagedChannel
from forcemove.node.ports import Messenger, WakingMessenger

__all__ = ["ReadySet"]

_ALL_EVERY = 1.0


class ReadySet:
    """The channels that one node is to step next."""

    def __init__(self, wake: Callable[[], None], clock: Callable[[], float]) -> None:
        """`wake`: lets the node step. `clock`: seconds."""
        self._wake, self._clock = wake, clock
        self._unnotified: set[bytes] = set()
        self._ready: set[bytes] = set()
        self._unsettled: set[bytes] = set()
        self._all_at = clock()

    def add(self, channel_id: bytes, messenger: Messenger) -> None:
        """Add a channel, with its messenger."""
        if isinstance(messenger, WakingMessenger):
            messenger.listen(lambda: self.mark_ready(channel_id))
        else:
            self._unnotified.add(channel_id)
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

    def forget(self, channel_id: bytes) -> None:
        """This channel is driven no more."""
        for ids in (self._unnotified, self._ready, self._unsettled):
            ids.discard(channel_id)

    def take(self, channels: Mapping[bytes, ManagedChannel], *, has_updates: bool) -> Iterable[ManagedChannel]:
        """The channels to step now. `has_updates`: whether a chain was looked at."""
        now, ready = self._clock(), self._ready
        self._ready = set()
        if not 0 <= now - self._all_at < _ALL_EVERY:
            self._all_at = now
            return list(channels.values())
        chosen = {id_: channels[id_] for id_ in sorted(ready | self._unsettled | self._unnotified) if id_ in channels}
        if has_updates:
            chosen |= {id_: each for id_, each in channels.items() if each.is_due(now)}
        return list(chosen.values())
