"""Real HTTP servers that answer as a test wants: nodes that are none, nodes with limits, and ways to nodes."""

from __future__ import annotations

import json
import socketserver
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

CHAIN_ID = 7
_SECONDS = 60.0


@contextmanager
def serving(answer: Callable[[bytes], tuple[int, bytes]]) -> Iterator[str]:
    """`answer` makes a status and a body of each request's body; what is yielded is the address, with a secret path."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:  # the name that http.server wants
            status, body = answer(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Keep quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/secret-key"
    finally:
        server.shutdown()
        server.server_close()


@dataclass
class Gate:
    """Stands before a node that tells its chain's id."""

    address: str
    """Host and port."""
    heads: list[bytes] = field(default_factory=list)
    """Of the requests that came."""
    connections: int = 0
    """How many were made."""


@contextmanager
def gate(*, lasting: int = 1000, status: str = "200 OK", together: int = 1) -> Iterator[Gate]:
    """Each connection is closed without a word after so many answers. `together`: nobody is answered before so many
    have asked."""
    all_have_asked = threading.Barrier(together)

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            made.connections += 1
            for _ in range(lasting):
                head = self._head()
                if not head:
                    return
                made.heads.append(b"".join(head))
                length = next(int(line[15:]) for line in head if line.startswith(b"Content-Length:"))
                all_have_asked.wait(_SECONDS)
                id_ = json.loads(self.rfile.read(length))["id"]
                body = json.dumps({"jsonrpc": "2.0", "id": id_, "result": hex(CHAIN_ID)})
                self.wfile.write(f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())

        def _head(self) -> list[bytes]:
            lines = []
            while (line := self.rfile.readline()).strip():
                lines.append(line)
            return lines

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True

    with Server(("127.0.0.1", 0), Handler) as server:
        made = Gate(f"127.0.0.1:{server.server_address[1]}")
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield made
        server.shutdown()
