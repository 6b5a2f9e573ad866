"""Where a watchtower's service listens: how many connections there are at once, in all and from one address, and how
long one may last. Further connections are closed before anything is read: file descriptors and memory are needed
to watch the chain."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import cast

from forcemove.connecting import connection_words
from forcemove.serving.addresses import account_of
from forcemove.serving.errors import AddressUnusable
from forcemove.serving.process import url_of
from forcemove.watchtower.service.limits import ServiceLimits


class ConnectionLimit:
    """Limits connections. `connections`: how many there are; `turned_away`: how many were refused."""

    def __init__(self, serve: Callable[[], asyncio.BaseProtocol], limits: ServiceLimits) -> None:
        """`serve`: makes the protocol of one connection."""
        self._serve, self._limits = serve, limits
        self._places: Counter[str] = Counter()
        self._server: asyncio.Server | None = None
        self.connections = self.turned_away = 0

    async def open(self, host: str, port: int) -> str:
        """Listen at `host`, `port`; returns the URL. Raises `AddressUnusable`."""
        loop = asyncio.get_running_loop()
        try:
            self._server = await loop.create_server(lambda: _Connection(self, self._serve()), host, port)
        except OSError as error:
            raise AddressUnusable(host, port, connection_words(error)) from None
        return url_of("http", host, self._server.sockets[0].getsockname()[1])

    def close(self) -> None:
        """Accept no more connections."""
        if self._server is not None:
            self._server.close()

    def enter(self, place: str) -> bool:
        """Whether one more connection of an account is let in; then it is counted. `place`: see `account_of`."""
        if self.connections >= self._limits.connections or self._places[place] >= self._limits.per_address:
            self.turned_away += 1
            return False
        self.connections += 1
        self._places[place] += 1
        return True

    def leave(self, place: str) -> None:
        """Count one connection less of an account."""
        self.connections -= 1
        self._places[place] -= 1
        self._places += Counter()  # forgets accounts without a connection

    @property
    def seconds(self) -> float:
        """How long a connection may last, in seconds."""
        return self._limits.seconds


class _Connection(asyncio.Protocol):
    """One connection. Its bytes are passed on to the protocol that serves it."""

    def __init__(self, limit: ConnectionLimit, served: asyncio.BaseProtocol) -> None:
        self._limit, self._served = limit, served
        self._place: str | None = None
        self._end: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        stream = cast("asyncio.Transport", transport)
        place = account_of((stream.get_extra_info("peername") or ("",))[0])
        if not self._limit.enter(place):
            stream.abort()
            return
        self._place = place
        self._end = asyncio.get_running_loop().call_later(self._limit.seconds, stream.abort)
        self._served.connection_made(stream)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._place is None or self._end is None:
            return
        self._end.cancel()
        self._limit.leave(self._place)
        self._served.connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._place is not None:
            self._served.data_received(data)  # type: ignore[attr-defined]

    def eof_received(self) -> bool | None:
        return self._served.eof_received() if self._place is not None else None  # type: ignore[attr-defined]

    def pause_writing(self) -> None:
        self._served.pause_writing()

    def resume_writing(self) -> None:
        self._served.resume_writing()
