"""A WebSocket of frames of bytes, through aiohttp: the one module that knows by what a relay is reached.

Knows no frame's meaning. Where there are no sockets of the system, another module of these names can be put in its
place.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from ssl import SSLCertVerificationError, SSLContext, SSLError

import aiohttp

from forcemove.connecting import connection_words
from forcemove.errors import MalformedBytes
from forcemove.transport.limits import MAX_FRAME

CUT_OFF = (None, aiohttp.WSCloseCode.ABNORMAL_CLOSURE)
"""The close codes of a connection that nobody has closed."""
_CLOSED = (aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSING, aiohttp.WSMsgType.CLOSED)
_CLOSE_SECONDS = 1.0


class Socket:
    """An open connection, as `open_socket` gives it."""

    def __init__(self, response: aiohttp.ClientWebSocketResponse) -> None:
        self._response = response

    async def receive(self) -> bytes | None:
        """The next frame, None once the connection has ended. Raises `MalformedBytes` on a frame of text, and
        `ConnectionError`."""
        frame = await self._response.receive()
        if frame.type is aiohttp.WSMsgType.BINARY:
            data: bytes = frame.data
            return data
        if frame.type in _CLOSED:
            return None
        raise MalformedBytes("frame", "it is not binary")

    async def send(self, data: bytes) -> None:
        """Send a frame; returns once it is on its way. Raises where the connection has ended."""
        await self._response.send_bytes(data)

    async def close(self) -> None:
        """End the connection, which ends `receive`, too."""
        await self._response.close()

    @property
    def close_code(self) -> int | None:
        """Why the connection has ended (RFC 6455), None where that was not said."""
        return self._response.close_code


@asynccontextmanager
async def open_socket(url: str, heartbeat: float, ssl: SSLContext | None) -> AsyncIterator[Socket]:
    """Open a connection, which is closed at the end of the block. What it raises `reason_of` says in words.

    - `url`: ws:// or wss://.
    - `heartbeat`: seconds between pings; an answer may take half as long.
    - `ssl`: for wss://, None for the system's certificates.
    """
    async with (
        aiohttp.ClientSession() as session,
        session.ws_connect(
            url,
            heartbeat=heartbeat,
            max_msg_size=MAX_FRAME,
            compress=0,
            timeout=aiohttp.ClientWSTimeout(ws_close=_CLOSE_SECONDS),
            ssl=ssl or True,
        ) as response,
    ):
        yield Socket(response)


def reason_of(error: Exception) -> str:
    """Why there is no connection, in words."""
    match error:
        case aiohttp.ClientConnectorCertificateError(certificate_error=SSLCertVerificationError() as fault):
            return connection_words(fault)
        case aiohttp.ClientConnectorError(os_error=SSLError() as fault):
            return f"{connection_words(fault)}; without TLS its address begins with ws://"
        case aiohttp.ServerDisconnectedError():
            return "it ended the connection before it answered; with TLS its address begins with wss://"
        case aiohttp.ClientConnectorError(os_error=fault):
            return connection_words(fault)
        case aiohttp.InvalidURL():
            return "that is not an address"
        case aiohttp.WSServerHandshakeError(status=status):
            return f"it answers with HTTP status {status}, which no relay does"
        case TimeoutError() if not str(error):
            return "it has not welcomed us in time"
    return f"{type(error).__name__}: {error}"
