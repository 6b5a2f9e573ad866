"""Which channels a node is to look at: those to which something has happened, and all of them now and then.

A line that calls when something arrives is not asked before. Others are asked at each step. After each look at a chain
those are looked at to which time brings something, and once a second all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from forcemove.node.managed_channel import ManagedChannel
from forcemove.node.ports import Messenger, WakingMessenger

__all__ = ["ReadySet"]

_ALL_EVERY = 1.0


class ReadySet:
    """Of one node."""

    def __init__(self, wake: Callable[[], None], clock: Callable[[], float]) -> None:
        """`wake`: lets the node step. `clock`: seconds."""
        self._wake, self._clock = wake, clock
        self._unnotified: set[bytes] = set()
        self._ready: set[bytes] = set()
        self._unsettled: set[bytes] = set()
        self._all_at = clock()

    def add(self, channel_id: bytes, messenger: Messenger) -> None:
        """A new channel, and its line."""
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
        """Something is done for it: it is looked at again until that is settled."""
        self._unsettled.add(channel_id)

    def settle(self, channel_id: bytes) -> None:
        """All of that was done."""
        self._unsettled.discard(channel_id)

    def forget(self, channel_id: bytes) -> None:
        """It is driven no more."""
        for ids in (self._unnotified, self._ready, self._unsettled):
            ids.discard(channel_id)

    def take(self, channels: Mapping[bytes, ManagedChannel], *, has_updates: bool) -> Iterable[ManagedChannel]:
        """Those to look at now. `has_updates`: whether a chain was looked at."""
        now, ready = self._clock(), self._ready
        self._ready = set()
        if not 0 <= now - self._all_at < _ALL_EVERY:
            self._all_at = now
            return list(channels.values())
        chosen = {id_: channels[id_] for id_ in sorted(ready | self._unsettled | self._unnotified) if id_ in channels}
        if has_updates:
            chosen |= {id_: each for id_, each in channels.items() if each.is_due(now)}
        return list(chosen.values())
