"""What keeps a relay from starting."""

from __future__ import annotations

from forcemove.errors import LocalError


class RelayStoreInUse(LocalError):
    """Another relay is running on the store at `where`."""

    where: str


class NotARelayStore(LocalError):
    """Something else than a relay's store is at `where`. The file was left as it is."""

    where: str
    reason: str


class RelayStoreUnusable(LocalError):
    """The store at `where` cannot be used: it is damaged, of a newer program, or cannot be read or written."""

    where: str
    reason: str


class PagesUnusable(LocalError):
    """The files at `where` are not a page as it was built."""

    where: str
    reason: str
