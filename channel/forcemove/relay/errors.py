"""What keeps a relay from starting."""

from __future__ import annotations

from dataclasses import dataclass

from forcemove.errors import LocalError

__all__ = ["NotARelayStore", "PagesUnusable", "RelayStoreInUse", "RelayStoreUnusable"]


@dataclass(eq=False)
class RelayStoreInUse(LocalError):
    """Another relay is running on the store at `where`."""

    where: str


@dataclass(eq=False)
class NotARelayStore(LocalError):
    """Something else than a relay's store is at `where`. The file was left as it is."""

    where: str
    reason: str


@dataclass(eq=False)
class RelayStoreUnusable(LocalError):
    """The store at `where` cannot be used: it is damaged, of a newer program, or cannot be read or written."""

    where: str
    reason: str


@dataclass(eq=False)
class PagesUnusable(LocalError):
    """The files at `where` are not a page as it was built."""

    where: str
    reason: str
