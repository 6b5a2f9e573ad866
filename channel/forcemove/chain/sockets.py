"""Connects to a host, which may have several addresses, in the time that is left."""

from __future__ import annotations

import socket
from typing import Any

from forcemove.chain.limits import require_time


def connected(host: str, port: int) -> socket.socket:
    """A socket, without a timeout, that is connected to the first of the host's addresses that answers. Each has an
    equal part of the time that is left: an address that leads nowhere, as one of IPv6 does in many places, leaves time
    for the others. Raises `OSError`."""
    try:
        found = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM)
    except UnicodeError:
        found = []
    for left in range(len(found), 0, -1):
        try:
            return _connected(found[-left], require_time() / left)
        except OSError:
            if left == 1:
                raise
    raise OSError(0, "that is not the name of a host")


def _connected(found: tuple[Any, ...], seconds: float) -> socket.socket:
    family, kind, protocol, _, address = found
    made = socket.socket(family, kind, protocol)
    try:
        made.settimeout(seconds)
        made.connect(address)
        made.settimeout(None)
    except BaseException:
        made.close()
        raise
    return made
