"""Errors that end a match. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from forcemove.errors import CounterpartyError

__all__ = ["GuestMissing"]


@dataclass(eq=False)
class GuestMissing(CounterpartyError):
    """In channel `channel_id` nothing has happened for `seconds`, and nobody has paid in."""

    channel_id: bytes
    seconds: float
