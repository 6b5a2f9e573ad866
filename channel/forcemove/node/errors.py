"""The errors of a node."""

from __future__ import annotations

from dataclasses import dataclass

from forcemove.errors import LocalError, PassingError

__all__ = ["AccountInUse", "ChannelInUse", "LeaseLost", "LookFailed", "NotOursToDrive"]


@dataclass(eq=False)
class ChannelInUse(LocalError):
    """Another process drives the channel, and has its lease until a time (`until`, seconds since 1970)."""

    channel_id: bytes
    until: float


@dataclass(eq=False)
class AccountInUse(LocalError):
    """Another process sends the account's transactions, and has not taken our requests out of the outbox. They wait
    for that process, or until it has stopped."""

    chain_id: int
    account: bytes


@dataclass(eq=False)
class LeaseLost(LocalError):
    """Another process has taken the channel over while this one was away. This one has stopped driving it, and has sent
    nothing of it since then."""

    channel_id: bytes


@dataclass(eq=False)
class LookFailed(PassingError):
    """A look at something outside has raised an unexpected error, `reason` in Python's words: a library could not read
    an answer, or the fault is ours. The look is tried again."""

    reason: str


@dataclass(eq=False)
class NotOursToDrive(LocalError):
    """The channel was moved to another journal, whose process continues it."""

    channel_id: bytes
