"""What an endpoint does to a connection instead of answering."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Callable, Mapping
from functools import cache
from http.server import BaseHTTPRequestHandler

__all__ = ["MISBEHAVIOUR", "SLOW", "whole"]

Serve = Callable[[BaseHTTPRequestHandler, threading.Event], None]
_DRIP_SECONDS = 0.3
_MIB = 2**20
_ANSWER = b'{"jsonrpc": "2.0", "id": 0, "result": "0x1"}'


def whole(body: Callable[[], bytes], status: int = 200, **headers: str) -> Serve:
    """Answers so. `headers`: with _ for -."""

    def serve(handler: BaseHTTPRequestHandler, _: threading.Event) -> None:
        content = body()
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        handler.wfile.write(content)
        handler.wfile.flush()

    return serve


def _stay_silent(_: BaseHTTPRequestHandler, is_over: threading.Event) -> None:
    is_over.wait()


def _close(handler: BaseHTTPRequestHandler, _: threading.Event) -> None:
    handler.connection.close()


def _break_off(handler: BaseHTTPRequestHandler, _: threading.Event) -> None:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n" + _ANSWER)


def _drip(data: bytes, at_once: bytes = b"") -> Serve:
    def serve(handler: BaseHTTPRequestHandler, is_over: threading.Event) -> None:
        handler.wfile.write(at_once)
        for byte in data:
            handler.wfile.write(bytes((byte,)))
            handler.wfile.flush()
            if is_over.wait(_DRIP_SECONDS):
                return

    return serve


def _pour(piece: bytes, count: int, head: bytes) -> Serve:
    def serve(handler: BaseHTTPRequestHandler, is_over: threading.Event) -> None:
        handler.wfile.write(head)
        for _ in range(count):
            if is_over.is_set():
                return
            handler.wfile.write(piece)

    return serve


@cache
def _bomb() -> bytes:
    return gzip.compress(bytes(64 * _MIB), 1)


_OK = b"HTTP/1.1 200 OK\r\n"
MISBEHAVIOUR: Mapping[str, Serve] = {
    "silent": _stay_silent,
    "closed": _close,
    "broken off": _break_off,
    "dripped head": _drip(_OK + b"Content-Length: 44\r\n\r\n" + _ANSWER),
    "dripped": _drip(_ANSWER, _OK + b"Content-Length: 44\r\n\r\n"),
    "dripped in chunks": _drip(b"1\r\n \r\n" * 10, _OK + b"Transfer-Encoding: chunked\r\n\r\n"),
    "continued forever": _drip(b"HTTP/1.1 100 Continue\r\n\r\n" * 4),
    "oversized": _pour(b" " * _MIB, 500, _OK + b"Content-Length: %d\r\n\r\n" % (500 * _MIB)),
    "oversized without a length": _pour(b" " * _MIB, 500, _OK + b"Connection: close\r\n\r\n"),
    "oversized in chunks": _pour(
        b"100000\r\n" + b" " * _MIB + b"\r\n", 500, _OK + b"Transfer-Encoding: chunked\r\n\r\n"
    ),
    "many headers": _pour(b"X-More: " + b"x" * 60_000 + b"\r\n", 10_000, _OK),
    "a header without end": _pour(b"x" * _MIB, 500, _OK + b"X-More: "),
    "gzip bomb": whole(_bomb, Content_Encoding="gzip"),
    "nested": whole(lambda: b"[" * 200_000),
    "nested in an answer": whole(lambda: b'{"jsonrpc": "2.0", "id": 0, "result": ' + b'{"a":[' * 100_000),
    "nothing in much": whole(lambda: b'{"jsonrpc": "2.0", "id": 0, "result": [' + b"{}," * (5 * _MIB) + b"{}]}"),
    "a number without end": whole(lambda: b'{"jsonrpc": "2.0", "id": 0, "result": ' + b"1" * _MIB + b"}"),
    "not JSON": whole(lambda: b"<html>"),
    "not text": whole(lambda: b"\xff\xfe\x00" * 100),
    "empty": whole(lambda: b""),
    "a list of answers": whole(lambda: b"[]"),
    "an HTTP error": whole(lambda: _ANSWER, 500),
    "an HTTP error without end": _pour(b" " * _MIB, 500, b"HTTP/1.1 500 No\r\nConnection: close\r\n\r\n"),
    "a dripped HTTP error": _drip(_ANSWER, b"HTTP/1.1 400 No\r\nContent-Length: 44\r\n\r\n"),
    "a rate limit": whole(lambda: _ANSWER, 429, Retry_After="60"),
    "a redirect": whole(lambda: _ANSWER, 308, Location="http://127.0.0.1:1/"),
}
SLOW = frozenset(
    {"silent", "a dripped HTTP error", "dripped head", "dripped", "dripped in chunks", "continued forever"}
)
"""Of these a request takes all the time that it has."""
