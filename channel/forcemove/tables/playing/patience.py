"""How long nothing has happened in a channel, for a player who waits for others. Pure."""

from __future__ import annotations

from forcemove.protocol.machine.channel import Channel, Phase

__all__ = ["Patience"]


class Patience:
    """A player's patience with the others in one channel, by any clock that goes on steadily. `seconds`: how long
    others may be silent."""

    def __init__(self, seconds: float, now: float) -> None:
        """Begin to wait at the time `now`. `seconds`: how long others may be silent; it may be infinite."""
        self.seconds, self._since = seconds, now
        self._progress: object = None

    def begin(self, now: float) -> None:
        """Wait as long once more."""
        self._since = now

    def left(self, now: float) -> float:
        """Seconds until the patience is lost."""
        return self.seconds - (now - self._since)

    def is_lost(self, channel: Channel, phase: Phase, now: float) -> bool:
        """Whether nothing has happened for too long: no state, no signature, no deposit, and no other phase."""
        newest = channel.newest
        progress = (channel.next_turn, channel.holdings, phase, len(newest.signed.signatures) if newest else 0)
        if progress != self._progress:
            self._progress, self._since = progress, now
        return self.left(now) <= 0
