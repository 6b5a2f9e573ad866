"""What strangers send to a port that speaks HTTP."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

__all__ = ["RUBBISH", "lines_after", "send"]

_HEAD = b" HTTP/1.1\r\nHost: x\r\n"
RUBBISH = {
    "TLS": bytes.fromhex("16030100f8010000f40303") + bytes(200),
    "binary": bytes(range(256)) * 4,
    "no request": b"hello there\r\n\r\n",
    "another version": b"GET / HTTP/9.9\r\n\r\n",
    "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "no header": b"GET / HTTP/1.1\r\nHost x\r\n\r\n",
    "a null byte": b"GET / HTTP/1.1\r\nHost: a\x00b\r\n\r\n",
    "no address": b"GET http://[::1" + _HEAD + b"\r\n",
    "a long line": b"GET /" + b"a" * 20_000 + _HEAD + b"\r\n",
    "a long header": b"GET /" + _HEAD + b"X: " + b"a" * 20_000 + b"\r\n\r\n",
    "a length below 0": b"POST /" + _HEAD + b"Content-Length: -5\r\n\r\n",
    "chunks without lengths": b"POST /" + _HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n",
    "cut off": b"POST /" + _HEAD + b"Content-Length: 500\r\n\r\nabc",
}
_SECONDS = 20.0


def send(port: int, data: bytes) -> None:
    """Send it, and nothing more, and wait until the service has closed the connection."""
    with socket.create_connection(("127.0.0.1", port), _SECONDS) as connection, suppress(ConnectionError):
        connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(65_536):
            pass


def lines_after(port: int, log: Callable[[], str]) -> list[dict[str, Any]]:
    """The lines of a service's log, as objects, that follow a request of another version of HTTP, sent again until
    there is one: something else may have been told in the same second."""
    before, deadline = len(log()), time.monotonic() + _SECONDS
    while not log()[before:].endswith("\n"):
        assert time.monotonic() < deadline, "nothing was logged"
        send(port, RUBBISH["another version"])
    return [json.loads(line) for line in log()[before:].splitlines()]
