"""What a node refuses, and what it tells its owner."""

from __future__ import annotations

from dataclasses import dataclass

from forcemove.errors import LocalError, PassingError

__all__ = ["AccountInUse", "ChannelInUse", "LeaseLost", "LookFailed", "LookHangs", "NotOursToDrive"]


@dataclass(eq=False)
class ChannelInUse(LocalError):
    """Another process drives the channel, and has said so until a time (`until`, seconds since 1970)."""

    channel_id: bytes
    until: float


@dataclass(eq=False)
class AccountInUse(LocalError):
    """Another process sends the account's transactions, and has not taken up what we want sent. It waits for that
    process, or until that has stopped."""

    chain_id: int
    account: bytes


@dataclass(eq=False)
class LeaseLost(LocalError):
    """Another process has taken the channel over while we were away. We have stopped; nothing of ours has left since
    then."""

    channel_id: bytes


@dataclass(eq=False)
class LookFailed(PassingError):
    """A look at something outside has raised what nobody expected, `reason` in Python's words: an answer that a library
    cannot bear, or a fault of ours. It is tried again."""

    reason: str


@dataclass(eq=False)
class LookHangs(PassingError):
    """A look at something outside has not ended after `seconds`, though each of its requests should have. It is left to
    itself, and another one is begun."""

    seconds: float


@dataclass(eq=False)
class NotOursToDrive(LocalError):
    """The channel was moved to another journal, which goes on with it."""

    channel_id: bytes
