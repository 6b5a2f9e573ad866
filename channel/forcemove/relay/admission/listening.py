"""Connections from their first byte on: accepted, and counted by address. Connections that are refused here are not
read."""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
import struct
import time
from collections.abc import Callable
from ssl import SSLContext
from typing import cast

from forcemove.relay.admission.accounts import Account, Accounts
from forcemove.relay.admission.frames import Border, carried
from forcemove.relay.admission.turns import Turns
from forcemove.relay.limits import Limits
from forcemove.relay.metrics import Metrics
from forcemove.serving.addresses import Proxies

__all__ = ["Intake", "Listener"]

_LOG = logging.getLogger(__name__)
_AT_ONCE = 8
"""Connections that are accepted in one turn of the loop."""
_EXHAUSTED = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}
_REST = 0.5
"""Seconds in which nothing is accepted, after the system had no more files to give."""
_LOG_EVERY = 60.0
"""Seconds between two lines in the log about that."""
_RESET = struct.pack("ii", 1, 0)
"""SO_LINGER: the connection is closed at once, and the system keeps nothing of it."""
_CHUNK = 16 * 2**10
"""Bytes that are received at once on one connection, and read while the others wait."""
_BUFFER = memoryview(bytearray(_CHUNK))
_CONNECTION = 16
"""What a connection counts for, as `meter` counts."""
_SLACK = 8
"""Connections beyond what an address may have that are let in to be answered so; further ones are closed at once."""
_END = b"\r\n\r\n"
"""The end of an HTTP request's headers."""
_OWN = 4 * 2**10
"""Unread bytes that every connection may have."""


class Intake(asyncio.BufferedProtocol):
    """Counts one connection's bytes on their way to `inner`, until they are read. `account`: of the client."""

    def __init__(self, inner: asyncio.Protocol, account: Account, accounts: Accounts) -> None:
        self._inner, self._accounts = inner, accounts
        self.account = account
        self._unread = 0
        self._transport: asyncio.Transport | None = None
        self._chunks, self._is_asked = 0, False
        self._border = Border()
        self._take: Callable[[bytes], bool] | None = None
        self.is_quiet = False
        """Whether all frames that have come were handled, so that `take` overtakes none."""

    @property
    def unread(self) -> int:
        """Bytes that were received and not read yet."""
        return self._unread

    def begin(self, take: Callable[[bytes], bool]) -> None:
        """From now on frames follow. `take`: is given a frame's payload, see `frames`, while `is_quiet`; if it returns
        False, the frame goes to `inner`. Where the HTTP request came in several parts, or with a frame, all go
        there."""
        if self._is_asked:
            self._take = take

    def read(self, size: int) -> None:
        """Count bytes that were read."""
        self._count(-min(size, self._unread))

    def belongs_to(self, account: Account) -> None:
        """Count the connection for the client of a proxy, and for the proxy no more."""
        unread = self._unread
        self._count(-unread)
        self._accounts.disconnect(self.account)
        self.account = account
        self._accounts.connect(account)
        self._count(unread)

    @property
    def is_made(self) -> bool:
        """Whether the connection was made: then it is counted until it is lost."""
        return self._transport is not None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See `asyncio.Protocol`."""
        self._transport = cast("asyncio.Transport", transport)
        self._inner.connection_made(transport)

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002  # named by asyncio
        """See `asyncio.BufferedProtocol`. All connections have the same buffer: bytes are copied out of it at once."""
        return _BUFFER

    def buffer_updated(self, nbytes: int) -> None:
        """See `asyncio.BufferedProtocol`."""
        data = bytes(_BUFFER[:nbytes])
        if self._take is None:
            self._chunks += 1
            self._is_asked = self._chunks == 1 and data.find(_END) == nbytes - len(_END)
        elif self.is_quiet and self._border.is_here and (frame := carried(data)) is not None and self._take(frame):
            return
        else:
            self.is_quiet = False
            self._border.skip(data)
        self._count(len(data))
        if self._unread > _OWN and not self._accounts.has_room(self.account) and self._transport is not None:
            self._count(-self._unread)
            self._transport.abort()
            return
        self._inner.data_received(data)

    def eof_received(self) -> bool | None:
        """See `asyncio.Protocol`."""
        return self._inner.eof_received()

    def pause_writing(self) -> None:
        """See `asyncio.Protocol`."""
        self._inner.pause_writing()

    def resume_writing(self) -> None:
        """See `asyncio.Protocol`."""
        self._inner.resume_writing()

    def connection_lost(self, error: Exception | None) -> None:
        """See `asyncio.Protocol`."""
        self._count(-self._unread)
        self._accounts.disconnect(self.account)
        self._inner.connection_lost(error)

    def _count(self, size: int) -> None:
        self._unread += size
        self.account.unread += size
        self._accounts.unread += size


class Listener:
    """Accepts connections on one socket, and gives each to a protocol of its own."""

    def __init__(
        self,
        listening: socket.socket,
        protocol: Callable[[], asyncio.Protocol],
        accounts: Accounts,
        limits: Limits,
        metrics: Metrics,
        proxies: Proxies,
        tls: SSLContext | None,
        turns: Turns,
    ) -> None:
        """Accept from now on.

        - `listening`: the socket, bound, and listening already.
        - `protocol`: makes the protocol of one connection.
        - `accounts`: count the connections of each address.
        - `limits`: the relay's.
        - `metrics`: where refused connections are counted.
        - `proxies`: whose connections are counted for their clients.
        - `tls`: None for plain TCP.
        - `turns`: in which connections begin.
        """
        self._socket, self._protocol, self._accounts, self._limits = listening, protocol, accounts, limits
        self._metrics, self._proxies, self._tls, self._turns = metrics, proxies, tls, turns
        self._beginning: set[asyncio.Task[None]] = set()
        self._logged_at = -_LOG_EVERY
        self._loop = asyncio.get_running_loop()
        listening.setblocking(False)
        self._loop.add_reader(listening, self._accept)

    def close(self) -> None:
        """Accept no more connections; those that were accepted stay."""
        self._loop.remove_reader(self._socket)
        self._socket.close()
        for task in self._beginning:
            task.cancel()

    def _accept(self) -> None:
        for _ in range(_AT_ONCE):
            try:
                connection, address = self._socket.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:
                self._rest(error)
                return
            self._admit(connection, address[0])

    def _rest(self, error: OSError) -> None:
        """Where the system has no more files to give, accept nothing for a while; the connections wait."""
        if error.errno not in _EXHAUSTED:
            _LOG.warning("a connection could not be accepted", extra={"facts": {"error": str(error)}})
            return
        self._loop.remove_reader(self._socket)
        self._loop.call_later(_REST, self._go_on)
        if (now := time.monotonic()) >= self._logged_at + _LOG_EVERY:
            self._logged_at = now
            facts = {"error": str(error), "connections": self._accounts.connections}
            _LOG.error("no connection can be accepted", extra={"facts": facts})

    def _go_on(self) -> None:
        if self._socket.fileno() >= 0:
            self._loop.add_reader(self._socket, self._accept)

    def _admit(self, connection: socket.socket, host: str) -> None:
        account, is_proxy = self._accounts.of(host), self._proxies.has(host)
        self._accounts.connect(account)
        delay = 0.0 if is_proxy else account.connects.wait(1, time.monotonic())
        if delay > self._limits.header_seconds or (not is_proxy and self._accounts.fault(account, _SLACK)):
            self._accounts.disconnect(account)
            self._metrics.closed.labels("refused").inc()
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
            connection.close()
            return
        connection.setblocking(False)
        account.connects.take(0 if is_proxy else 1, time.monotonic())
        task = self._loop.create_task(self._begin(connection, account, delay))
        self._beginning.add(task)
        task.add_done_callback(self._beginning.discard)

    async def _begin(self, connection: socket.socket, account: Account, delay: float) -> None:
        """Begin a connection after `delay` seconds, in its address' turn."""
        intake = Intake(self._protocol(), account, self._accounts)
        try:
            await asyncio.sleep(delay)
            await self._turns.wait(account, _CONNECTION)
            await self._loop.connect_accepted_socket(
                lambda: intake,
                connection,
                ssl=self._tls,
                ssl_handshake_timeout=self._limits.header_seconds if self._tls else None,
            )
        except BaseException as error:
            connection.close()
            if not intake.is_made:
                self._accounts.disconnect(account)
            if not isinstance(error, OSError):
                raise
