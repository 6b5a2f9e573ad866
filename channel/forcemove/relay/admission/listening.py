"""Connections from their first byte on: accepted, and counted by address. Connections that are refused here are not
read."""

from __future__ import annotations

import asyncio
import errno
import logging
import math
import socket
import struct
import time
from collections.abc import Callable
from ssl import SSLContext
from typing import cast

from forcemove.relay.admission.accounts import Accounts, AddressAccount
from forcemove.relay.admission.frames import Border, carried
from forcemove.relay.admission.turns import Gate, Turns
from forcemove.relay.limits import Limits
from forcemove.relay.metrics import Metrics
from forcemove.serving.addresses import Proxies

_LOG = logging.getLogger(__name__)
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
_CONNECTION = 8
"""What a connection counts for, as `meter` counts."""
_HANDSHAKE, _HANDSHAKES, _HANDSHAKE_SECONDS = 16, 64, 3.0
"""What a handshake of TLS counts for; how many go on at once; and the seconds in which one has to end."""
_REQUEST, _READ = 16, 0.5
"""What an HTTP request counts for, and bytes that were received at once, besides `_PARSED`."""
_PARSED = 512
"""Received bytes that count for one: aiohttp takes as long to find the frames in them."""
_SLACK = 8
"""Connections beyond what an address may have that are let in to be answered so; further ones are closed at once."""
_END = b"\r\n\r\n"
"""The end of an HTTP request's headers."""
_OWN = 4 * 2**10
"""Unread bytes that every connection may have."""
PER_MESSAGE = 400
"""Bytes that a message counts for besides its own until it is read: aiohttp keeps four objects of each."""


class ConnectionIntake(asyncio.BufferedProtocol):
    """Counts one connection's bytes on their way to `inner`, until they are read, and lets them wait for the address'
    turn: one look at all sockets finds what thousands of connections have sent. `account`: of the client."""

    def __init__(self, inner: asyncio.Protocol, account: AddressAccount, accounts: Accounts, turns: Turns) -> None:
        self._inner, self._accounts, self._turns = inner, accounts, turns
        self.account = account
        self._waiting = b""
        self._unread = 0
        self._transport: asyncio.Transport
        self.is_made = False
        """Whether the connection was made: then it is counted until it is lost."""
        self._end, self._is_asked, self._is_over = b"", False, False
        self._border = Border()
        self._take: Callable[[bytes], bool] | None = None
        self.is_quiet = False
        """Whether all frames that have come were handled, so that `take` overtakes none."""
        self.has_received = False
        """Whether anything has come; asking sets it back."""

    @property
    def unread(self) -> int:
        """Bytes that were received and not read yet, with `PER_MESSAGE` for each message."""
        return self._unread

    def upgrade(self) -> None:
        """The request for a WebSocket is read: what comes from now on are frames."""
        self._is_asked = True

    def begin(self, take: Callable[[bytes], bool]) -> None:
        """The WebSocket is open. `take`: is given a frame's payload, see `frames`, while `is_quiet`; if it returns
        False, the frame goes to `inner`."""
        self._take = take

    def end(self) -> None:
        """Give no more frames to what `begin` was given: it has ended, and so have frames that it did not read."""
        self._take = None
        if self._is_over:
            self._count(-self._unread)

    def read(self, size: int) -> None:
        """Count bytes that were read, with `PER_MESSAGE` for each message."""
        self._count(-min(size, self._unread))

    def belongs_to(self, account: AddressAccount) -> None:
        """Count the connection for the client of a proxy, and for the proxy no more."""
        unread = self._unread
        self._count(-unread)
        self._accounts.disconnect(self.account)
        self.account = account
        self._accounts.connect(account)
        self._count(unread)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See `asyncio.Protocol`."""
        self._transport, self.is_made = cast("asyncio.Transport", transport), True
        self._inner.connection_made(transport)

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002  # named by asyncio
        """See `asyncio.BufferedProtocol`. All connections have the same buffer: bytes are copied out of it at once."""
        return _BUFFER

    def buffer_updated(self, nbytes: int) -> None:
        """See `asyncio.BufferedProtocol`."""
        if self._is_over:
            return
        self.has_received = True
        data = bytes(_BUFFER[:nbytes])
        if self.is_quiet and self._take is not None and self._border.is_here:
            frame = carried(data)
            if frame is not None and self._take(frame):
                return
        self.is_quiet = False
        if not (self._is_asked or self._is_request(data)):
            self._cut_off()
        elif self._has_room(len(data)):
            self._give(data)

    def _is_request(self, data: bytes) -> bool:
        """Whether these bytes may be of one request, and nothing after it."""
        data = self._end + data
        self._end = data[-len(_END) :]
        return data.find(_END) in (-1, len(data) - len(_END))

    def _give(self, data: bytes) -> None:
        """Give `inner` what was received, at once or in the address' turn; until then nothing more is received."""
        work = (_READ if self._is_asked else _REQUEST) + len(data) // _PARSED
        if self._waiting:
            self._waiting += data
        elif self._turns.take(work):
            self._pass_on(data)
        else:
            self._waiting = data
            self._transport.pause_reading()
            self._turns.turn(self.account, math.ceil(work)).add_done_callback(self._on_turn)

    def _on_turn(self, _: asyncio.Future[None]) -> None:
        data, self._waiting = self._waiting, b""
        if not (self._is_over or self._transport.is_closing()):
            self._transport.resume_reading()  # before `inner` has the data, and may pause again
            self._pass_on(data)

    def _pass_on(self, data: bytes) -> None:
        if not self._is_asked or self._has_room(PER_MESSAGE * self._border.skip(data)):
            self._inner.data_received(data)

    def _has_room(self, size: int) -> bool:
        """Count bytes that are unread from now on. Returns False where they are too many: then the connection ends."""
        self._count(size)
        if self._unread <= _OWN or self._accounts.has_room(self.account):
            return True
        self._cut_off()
        return False

    def _cut_off(self) -> None:
        """Receive no more, and end the connection in the address' turn: thousands may have to end at once."""
        self._is_over, self._waiting = True, b""
        transport = self._transport
        transport.pause_reading()
        self._turns.turn(self.account, _CONNECTION).add_done_callback(lambda _: transport.abort())

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
        self._is_over = True
        if self._take is None:  # else its frames are in memory until `end`
            self._count(-self._unread)
        self._accounts.disconnect(self.account)
        self._inner.connection_lost(error)
        del self._transport  # one of TLS has methods of this protocol: without a cycle both are freed now

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
        self._handshakes = Gate(_HANDSHAKES)
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
        """Accept one connection in a turn of the loop: a crowd that connects at once waits, and not those who play."""
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

    async def _begin(self, connection: socket.socket, account: AddressAccount, delay: float) -> None:
        """Begin a connection after `delay` seconds, in its address' turn."""
        intake = ConnectionIntake(self._protocol(), account, self._accounts, self._turns)
        try:
            await asyncio.sleep(delay)
            await self._turns.wait(account, _CONNECTION)
            if self._tls is None:
                await self._loop.connect_accepted_socket(lambda: intake, connection)
            else:
                await self._begin_tls(connection, intake, self._tls)
        except BaseException as error:
            connection.close()
            if not intake.is_made:
                self._accounts.disconnect(account)
            if not isinstance(error, OSError):  # as `TimeoutError` is
                raise

    async def _begin_tls(self, connection: socket.socket, intake: ConnectionIntake, tls: SSLContext) -> None:
        """The handshake begins when its first bytes are there, and few go on at once: what comes of a handshake is
        handled where it is received, however many connections it comes on."""
        has_come = self._loop.create_future()
        self._loop.add_reader(connection, _set, has_come)
        try:
            async with asyncio.timeout(self._limits.header_seconds):
                await has_come
        finally:
            self._loop.remove_reader(connection)
        async with self._handshakes.entered(intake.account):
            await self._turns.wait(intake.account, _HANDSHAKE)
            seconds = min(_HANDSHAKE_SECONDS, self._limits.header_seconds)
            await self._loop.connect_accepted_socket(lambda: intake, connection, ssl=tls, ssl_handshake_timeout=seconds)


def _set(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
