"""The connection to a WebSocket endpoint, for one request or batch at a time.

An exchange ends at the deadline however many notifications come meanwhile; none was asked for.
"""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus, InvalidURI
from websockets.frames import CloseCode
from websockets.proxy import get_proxy
from websockets.sync.client import ClientConnection, connect
from websockets.uri import parse_uri

from forcemove.chain.limits import MAX_ANSWER, AnswerTooLarge, most_seconds, parse_json, require_time
from forcemove.chain.rpc import StatusRefused
from forcemove.chain.sockets import connected

_MOST_NOTICES = 100
"""Notifications that are passed over before an answer."""
_MOST_WAITING = 2
"""Frames that are kept before they are read."""
_CLOSING_SECONDS = 0.5


class WebSocketConnection:
    """A `RpcConnection`."""

    def __init__(self, endpoint: str, timeout: float) -> None:
        """`timeout`: seconds for a request, from connecting to the last byte of its answer."""
        self._endpoint = endpoint
        self._timeout = timeout
        self._connection: ClientConnection | None = None
        self._open = ExitStack()
        self._lock = threading.Lock()

    def ask(self, body: bytes, number: int | None, /) -> Any:
        """See `RpcConnection`: what is said to a request. Notifications in between are passed over."""

        def is_answer(said: Any) -> bool:
            """A notification is an object without an error. An error may name no request."""
            if not isinstance(said, dict) or "error" in said:
                return True
            return number is not None and said.get("id") == number

        with most_seconds(self._timeout), self._alone():
            try:
                return self._exchange(body, is_answer)
            except ConnectionClosed as closed:
                _require_small(closed)
            try:
                return self._exchange(body, is_answer)
            except ConnectionClosed as closed:
                _require_small(closed)
                raise ConnectionError(0, "the connection was closed") from None

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Hold the connection for one request. After any failure the connection is closed: its next message may be the
        answer to an earlier request."""
        if not self._lock.acquire(timeout=require_time()):
            raise TimeoutError
        try:
            yield
        except BaseException:
            self.close()
            raise
        finally:
            self._lock.release()

    def close(self) -> None:
        """See `RpcConnection`."""
        self._connection = None
        self._open.close()

    def _exchange(self, request: bytes, is_answer: Callable[[Any], bool]) -> Any:
        if self._connection is not None and self._connection.close_code is not None:
            self.close()
        connection = self._connection = self._connection or self._connect()
        connection.send(request, text=True)
        for _ in range(_MOST_NOTICES):
            said = parse_json(connection.recv(require_time(), decode=False))
            if is_answer(said):
                return said
        raise AnswerTooLarge

    def _connect(self) -> ClientConnection:
        try:
            uri = parse_uri(self._endpoint)
            connecting = connect(
                self._endpoint,
                sock=None if get_proxy(uri) else connected(uri.host, uri.port),
                compression=None,
                open_timeout=require_time(),
                close_timeout=_CLOSING_SECONDS,
                max_size=MAX_ANSWER,
                max_queue=_MOST_WAITING,
            )
        except InvalidStatus as error:
            raise _refused(error) from None
        except ValueError as error:  # no redirection is followed
            raise _refused(error.__cause__) if isinstance(error.__cause__, InvalidStatus) else error from None
        except (InvalidHandshake, InvalidURI) as error:
            raise ConnectionError(0, f"it speaks no WebSocket ({type(error).__name__})") from None
        connection = self._open.enter_context(connecting)
        # A peer that does not read would block the sender forever.
        seconds, parts = divmod(self._timeout, 1)
        timeout = struct.pack("ll", int(seconds), max(int(parts * 10**6), 1))
        connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, timeout)
        return connection


def _refused(error: InvalidStatus) -> StatusRefused:
    return StatusRefused(error.response.status_code, error.response.headers.get("Retry-After", ""))


def _require_small(closed: ConnectionClosed) -> None:
    """Raise `AnswerTooLarge` where we closed the connection for that reason."""
    if closed.sent is not None and closed.sent.code == CloseCode.MESSAGE_TOO_BIG:
        raise AnswerTooLarge from None
