"""The errors of a node."""

from __future__ import annotations

from forcemove.errors import LocalError


class ChannelInUse(LocalError):
    """Another process drives the channel, and has its lease until a time (`until`, seconds since 1970)."""

    channel_id: bytes
    until: float


class LeaseLost(LocalError):
    """Another process has taken the channel over while this one was away. This one has stopped driving it, and has sent
    nothing of it since then."""

    channel_id: bytes


class NotOursToDrive(LocalError):
    """The channel was moved to another journal, whose process continues it; or it was put away."""

    channel_id: bytes
