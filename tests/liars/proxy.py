"""A real HTTP server in front of a node, that passes requests on and lies: in what it answers, or in how.

with lying(anvil.endpoint, LIES["eth_getLogs: left out"]) as url, connect(url) as chain: ...
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import requests

from forcemove.chain.errors import EndpointFailed, Unreachable
from forcemove.chain.rpc import Rpc

__all__ = ["Ask", "Misbehaves", "NodeError", "Tell", "lying", "through"]

Ask = Callable[..., Any]
"""How the node itself answers: a method and its parameters. Raises what stands for its errors."""
Tell = Callable[..., Any]
"""How a liar answers: `Ask`, a method and its parameters."""
_SECONDS = 30.0


class NodeError(Exception):
    """The node refused; `error` is that of its answer, and is passed on as it is."""

    def __init__(self, error: object) -> None:
        super().__init__(str(error))
        self.error = error


class Misbehaves(Exception):
    """Raised by a liar where it is not an answer that is wrong. `serve` does it: given the handler of the connection,
    and an event that is set when the test is over."""

    def __init__(self, serve: Callable[[BaseHTTPRequestHandler, threading.Event], None]) -> None:
        super().__init__()
        self.serve = serve


@contextmanager
def lying(node_url: str, tell: Tell) -> Iterator[str]:
    """The address of a liar before the node. It serves as many connections as come, until the end."""
    is_over = threading.Event()

    class Handler(_Handler):
        def setup(self) -> None:
            super().setup()
            self.session = requests.Session()

        def handle(self) -> None:
            with suppress(ConnectionError):  # who asked has gone
                super().handle()

        def finish(self) -> None:
            self.session.close()
            with suppress(OSError):
                super().finish()

        def do_POST(self) -> None:  # the name that http.server wants
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            try:
                said = list(map(self.said, asked)) if isinstance(asked, list) else self.said(asked)
            except Misbehaves as misbehaviour:  # to a whole batch, too
                self.close_connection = True
                with suppress(OSError):
                    misbehaviour.serve(self, is_over)
                return
            self.answer(200, json.dumps(said).encode())

        def said(self, asked: Any) -> dict[str, Any]:
            frame = {"jsonrpc": "2.0", "id": asked["id"]}
            try:
                frame |= _result(tell(partial(_ask, self.session, node_url), asked["method"], *asked["params"]))
            except NodeError as refused:
                frame["error"] = refused.error
            except EndpointFailed as refused:
                frame["error"] = {"code": -32000, "message": refused.reason}
            return frame

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        is_over.set()
        server.shutdown()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # connections last
    wbufsize = -1

    def answer(self, status: int, body: bytes, **headers: str) -> None:
        """The request."""
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        with suppress(OSError):  # who asked may have gone
            self.wfile.write(body)
            self.wfile.flush()

    def log_message(self, *_: object) -> None:
        """Keep quiet."""


def _result(told: Any) -> dict[str, Any]:
    """`Ellipsis` stands for no result at all."""
    return {} if told is ... else {"result": told}


def _ask(session: requests.Session, node_url: str, method: str, *params: Any) -> Any:
    request: Any = {"jsonrpc": "2.0", "id": 1, "method": method, "params": list(params)}
    answer = session.post(node_url, json=request, timeout=_SECONDS).json()
    if "error" in answer:
        raise NodeError(answer["error"])
    return answer["result"]


def through(rpc: Rpc, tell: Tell) -> Ask:
    """The same before a node in this process, for `tests.simulation.faults.Endpoint.answer`. What is done to a
    connection is `Unreachable` there, and no result at all is null."""

    def answer(method: str, *params: Any) -> Any:
        try:
            told = tell(rpc.ask, method, *params)
        except Misbehaves:
            raise Unreachable("liar", "it misbehaves") from None
        return None if told is ... else told

    return answer
