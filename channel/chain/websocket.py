"""A provider of web3 for WebSocket endpoints, one request at a time: web3 itself has only an asynchronous one."""

from __future__ import annotations

import json
import threading
from contextlib import ExitStack
from typing import Any

from web3.providers.base import JSONBaseProvider
from web3.types import RPCEndpoint, RPCResponse
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidURI
from websockets.sync.client import ClientConnection, connect

__all__ = ["WebSocketProvider"]

_MAX_ANSWER = 64 * 2**20


class WebSocketProvider(JSONBaseProvider):
    """Connects when first asked, and again after the connection was lost. Raises `OSError` where it cannot."""

    def __init__(self, endpoint: str, timeout: float) -> None:
        """`timeout`: seconds for connecting, and for an answer."""
        super().__init__()
        self._endpoint = endpoint
        self._timeout = timeout
        self._connection: ClientConnection | None = None
        self._open = ExitStack()
        self._lock = threading.Lock()

    def make_request(self, method: RPCEndpoint, params: Any) -> RPCResponse:
        """Send one request and wait for its answer; notifications in between are passed over."""
        request = self.encode_rpc_request(method, params)
        with self._lock:
            try:
                return self._exchange(request)
            except ConnectionClosed:
                self.close()
            try:
                return self._exchange(request)
            except ConnectionClosed:
                raise ConnectionError(0, "the connection was closed") from None

    def close(self) -> None:
        """Let go of the connection; the next request makes another."""
        self._connection = None
        self._open.close()

    def _exchange(self, request: bytes) -> RPCResponse:
        connection = self._connection = self._connection or self._connect()
        connection.send(request, text=True)
        wanted = json.loads(request)["id"]
        while True:
            answer = self.decode_rpc_response(_encoded(connection.recv(self._timeout)))
            if answer.get("id") == wanted:
                return answer

    def _connect(self) -> ClientConnection:
        try:
            connecting = connect(self._endpoint, open_timeout=self._timeout, max_size=_MAX_ANSWER)
            return self._open.enter_context(connecting)
        except (InvalidHandshake, InvalidURI) as error:
            raise ConnectionError(0, f"it speaks no WebSocket ({type(error).__name__})") from None


def _encoded(message: str | bytes) -> bytes:
    return message.encode() if isinstance(message, str) else message
