"""Why a demonstration does not go on. Pure."""

from __future__ import annotations

from forcemove.errors import ForcemoveError

__all__ = ["PlayerFailed"]


class PlayerFailed(ForcemoveError):
    """A process of the demonstration has not done what it must, as `reason` says."""

    reason: str
