"""Errors that keep two people from playing with each other. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from forcemove.errors import CounterpartyError

__all__ = ["HostMissing", "NeverFunded", "OfferDiffers", "OfferOver"]


@dataclass(eq=False)
class OfferDiffers(CounterpartyError):
    """The offer names another `what` than we play with: `offered`, and not `ours`."""

    what: str
    offered: str | bytes
    ours: str | bytes


@dataclass(eq=False)
class OfferOver(CounterpartyError):
    """The offer with the hash `offer` has expired, or was withdrawn."""

    offer: bytes


@dataclass(eq=False)
class HostMissing(CounterpartyError):
    """We have joined the offer with the hash `offer`, and its host did not come to the table in time."""

    offer: bytes


@dataclass(eq=False)
class NeverFunded(CounterpartyError):
    """In channel `channel_id` not all have paid in, and the chain has ended it; we got `back` wei of our deposit."""

    channel_id: bytes
    back: int
