"""Why a demonstration does not begin, or does not go on. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from forcemove.errors import ForcemoveError, LocalError

__all__ = ["AlreadyPlaying", "DemoRefused", "NotEnough", "PlayerFailed", "StillWaiting"]


@dataclass(eq=False)
class DemoRefused(LocalError):
    """The scenarios cannot be played now. Nothing of them was sent."""


@dataclass(eq=False)
class NotEnough(DemoRefused):
    """The account of the player `name` has less than the scenarios need: `there` wei, and not `needed` wei, which is
    the sum of `parts`, a line each."""

    name: str
    account: bytes
    needed: int
    there: int
    parts: str


@dataclass(eq=False)
class AlreadyPlaying(DemoRefused):
    """Another demonstration uses the journal at `path`."""

    path: str


@dataclass(eq=False)
class StillWaiting(DemoRefused):
    """A transaction of `account` that an earlier run has sent is still in no block."""

    account: bytes


@dataclass(eq=False)
class PlayerFailed(ForcemoveError):
    """A process of the demonstration has not done what it must, as `reason` says."""

    reason: str
