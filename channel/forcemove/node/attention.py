"""Which channels a node is to look at: those to which something has happened, and all of them now and then.

A line that calls when something arrives is not asked before. Others are asked at each step. After each look at a chain
those are looked at to which time brings something, and once a second all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from forcemove.node.driven import Driven
from forcemove.node.ports import Line, WakingLine

__all__ = ["Attention"]

_ALL_EVERY = 1.0


class Attention:
    """Of one node."""

    def __init__(self, wake: Callable[[], None], clock: Callable[[], float]) -> None:
        """`wake`: lets the node step. `clock`: seconds."""
        self._wake, self._clock = wake, clock
        self._deaf: set[bytes] = set()
        self._stirred: set[bytes] = set()
        self._unsettled: set[bytes] = set()
        self._all_at = clock()

    def watch(self, channel_id: bytes, line: Line) -> None:
        """A new channel, and its line."""
        if isinstance(line, WakingLine):
            line.listen(lambda: self.stir(channel_id))
        else:
            self._deaf.add(channel_id)
        self.stir(channel_id)

    def stir(self, channel_id: bytes) -> None:
        """Something has come in for this channel, or is left to be done."""
        self._stirred.add(channel_id)
        self._wake()

    def keep(self, channel_id: bytes) -> None:
        """Something is done for it: it is looked at again until that is settled."""
        self._unsettled.add(channel_id)

    def settle(self, channel_id: bytes) -> None:
        """All of that was done."""
        self._unsettled.discard(channel_id)

    def forget(self, channel_id: bytes) -> None:
        """It is driven no more."""
        for ids in (self._deaf, self._stirred, self._unsettled):
            ids.discard(channel_id)

    def take(self, channels: Mapping[bytes, Driven], *, has_news: bool) -> Iterable[Driven]:
        """Those to look at now. `has_news`: whether a chain was looked at."""
        now, stirred = self._clock(), self._stirred
        self._stirred = set()
        if not 0 <= now - self._all_at < _ALL_EVERY:
            self._all_at = now
            return list(channels.values())
        chosen = {id_: channels[id_] for id_ in sorted(stirred | self._unsettled | self._deaf) if id_ in channels}
        if has_news:
            chosen |= {id_: each for id_, each in channels.items() if each.is_due(now)}
        return list(chosen.values())
