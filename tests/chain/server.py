"""Real HTTP servers that answer as a test wants: nodes that are none, nodes with limits, and ways to nodes."""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.policy import HTTP
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

CHAIN_ID = 7
_SECONDS = 60.0


@contextmanager
def serving(
    answer: Callable[[bytes], tuple[int, bytes]], tls: ssl.SSLContext | None = None, **headers: str
) -> Iterator[str]:
    """`answer` makes a status and a body of each request's body; what is yielded is the address, with a secret path.
    `tls`: with a certificate, where TLS is spoken. `headers`: of every answer, with _ for -."""

    with _running(answering(answer, **headers), tls) as address:
        yield f"{'https' if tls else 'http'}://{address}/secret-key"


def answering(answer: Callable[[bytes], tuple[int, bytes]], **headers: str) -> type[BaseHTTPRequestHandler]:
    """What handles the requests of a server; the parameters are those of `serving`."""

    class Handler(_Handler):
        def do_POST(self) -> None:  # the name that http.server wants
            status, body = answer(self.body())
            self.answer(status, body, **headers)

    return Handler


def answer_chain_id(body: bytes) -> tuple[int, bytes]:
    """The answer of a node that is asked for its chain's id."""
    return 200, json.dumps({"jsonrpc": "2.0", "id": json.loads(body)["id"], "result": hex(CHAIN_ID)}).encode()


class _Server(ThreadingHTTPServer):
    def handle_error(self, *_: object) -> None:
        """Keep quiet of clients that go away."""


class _Handler(BaseHTTPRequestHandler):
    def body(self) -> bytes:
        """Of the request."""
        return self.rfile.read(int(self.headers["Content-Length"]))

    def answer(self, status: int, body: bytes, **headers: str) -> None:
        """The request."""
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Keep quiet."""


@contextmanager
def _running(handler: type[BaseHTTPRequestHandler], tls: ssl.SSLContext | None = None) -> Iterator[str]:
    """Its host and port."""
    server = _Server(("127.0.0.1", 0), handler)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield f"127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


@dataclass
class Gate:
    """Stands before a node that tells its chain's id."""

    address: str = ""
    """Host and port."""
    heads: list[bytes] = field(default_factory=list)
    """Of the requests that came."""
    connections: int = 0
    """How many were made."""


@contextmanager
def gate(*, lasting: int = 1000, moved_to: str | None = None, together: int = 1) -> Iterator[Gate]:
    """Each connection is closed without a word after this many answers. `moved_to`: where it sends those who ask.
    `together`: nobody is answered before this many have asked."""
    made, all_have_asked = Gate(), threading.Barrier(together)

    class Handler(_Handler):
        protocol_version = "HTTP/1.1"  # connections last

        def setup(self) -> None:
            super().setup()
            made.connections += 1
            self.left = lasting

        def do_POST(self) -> None:
            made.heads.append(f"{self.requestline}\r\n".encode() + self.headers.as_bytes(policy=HTTP))
            all_have_asked.wait(_SECONDS)
            status, body = answer_chain_id(self.body())
            if moved_to is None:
                self.answer(status, body)
            else:
                self.answer(308, body, Location=moved_to)
            self.left -= 1
            self.close_connection = self.left == 0

    with _running(Handler) as made.address:
        yield made
