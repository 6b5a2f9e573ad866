"""What keeps a service from starting."""

from __future__ import annotations

from forcemove.errors import LocalError


class AddressUnusable(LocalError):
    """The service cannot listen at `host`, `port`: another program may listen there already."""

    host: str
    port: int
    reason: str
