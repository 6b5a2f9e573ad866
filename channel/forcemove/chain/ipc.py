"""The connection to the IPC socket of a node on this machine."""

from __future__ import annotations

import socket
import threading
from pathlib import Path
from typing import Any

from forcemove.chain.limits import MAX_ANSWER, AnswerTooLarge, most_seconds, parse_json, require_time
from forcemove.errors import MalformedBytes

_PIECE = 2**16
"""Bytes that are read at once."""


class IpcConnection:
    """A `RpcConnection`, for one request at a time."""

    def __init__(self, path: str, timeout: float) -> None:
        """`path`: of the socket, which need not be there yet; `timeout`: seconds for a request and its answer."""
        self._path = path
        self._timeout = timeout
        self._connection: socket.socket | None = None
        self._lock = threading.Lock()

    def ask(self, body: bytes, _: int | None, /) -> Any:
        """See `RpcConnection`."""
        with most_seconds(self._timeout):
            if not self._lock.acquire(timeout=require_time()):
                raise TimeoutError
            try:
                return self._exchange_or_reconnect(body)
            except BaseException:
                self.close()
                raise
            finally:
                self._lock.release()

    def close(self) -> None:
        """See `RpcConnection`."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _exchange_or_reconnect(self, request: bytes) -> Any:
        """Send a request, on a new connection where the node has closed the old one meanwhile."""
        if self._connection is not None:
            try:
                return self._exchange(self._connection, request)
            except ConnectionError:
                self.close()
        self._connection = self._connect()
        return self._exchange(self._connection, request)

    def _connect(self) -> socket.socket:
        if not Path(self._path).is_socket():
            raise FileNotFoundError(0, "this is neither a URL nor the path of an IPC socket")
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.settimeout(require_time())
            connection.connect(self._path)
        except BaseException:
            connection.close()
            raise
        return connection

    def _exchange(self, connection: socket.socket, request: bytes) -> Any:
        connection.settimeout(require_time())
        connection.sendall(request + b"\n")
        data = bytearray()
        while True:
            connection.settimeout(require_time())
            piece = connection.recv(_PIECE)
            if not piece:
                raise ConnectionResetError(0, "the connection was closed")
            data += piece
            if len(data) > MAX_ANSWER:
                raise AnswerTooLarge
            if piece.rstrip().endswith((b"}", b"]")):  # an answer has no other mark of its end
                try:
                    return parse_json(bytes(data))
                except MalformedBytes:
                    continue
