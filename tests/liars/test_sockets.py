"""Requests over WebSockets and IPC sockets end, too, in their time and in bounded memory."""

from __future__ import annotations

import itertools
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.server import ServerConnection, serve

from forcemove.chain.errors import EndpointFailed, NotAnEthereumEndpoint, Unreachable
from forcemove.chain.local import connect

SECONDS = 0.6
NOTICE = b'{"jsonrpc": "2.0", "method": "eth_subscription", "params": {}}'
ANSWER = b'{"jsonrpc": "2.0", "id": 0, "result": "0x7"}'
MIB = 2**20
Send = Callable[[bytes], None]
Behave = Callable[[Send, threading.Event], None]


def stay_silent(_: Send, is_over: threading.Event) -> None:
    is_over.wait()


def send_notices(send: Send, is_over: threading.Event) -> None:
    while not is_over.wait(0.1):
        send(NOTICE)


def send_many_notices(send: Send, is_over: threading.Event) -> None:
    while not is_over.is_set():
        send(NOTICE)


def send_too_much(send: Send, _: threading.Event) -> None:
    send(b" " * (17 * MIB))


def send_brackets(send: Send, _: threading.Event) -> None:
    send(b'{"a":' * 100_000 + b"}")


def send_nonsense(send: Send, _: threading.Event) -> None:
    send(b"\xff\xfe}")


BEHAVIOUR = (stay_silent, send_notices, send_many_notices, send_too_much, send_brackets, send_nonsense)


@contextmanager
def websocket(behave: Behave) -> Iterator[str]:
    is_over = threading.Event()

    def handle(connection: ServerConnection) -> None:
        with suppress(ConnectionClosed):
            assert "permessage-deflate" not in str(connection.request and connection.request.headers)
            connection.recv()
            behave(connection.send, is_over)
            connection.recv()

    with serve(handle, "127.0.0.1", 0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"ws://127.0.0.1:{server.socket.getsockname()[1]}"
        finally:
            is_over.set()


@contextmanager
def ipc(folder: Path, behave: Behave) -> Iterator[str]:
    is_over = threading.Event()
    path = str(folder / "node.ipc")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path)
        listening.listen()

        def handle(connection: socket.socket) -> None:
            with connection, suppress(OSError):
                connection.recv(2**16)
                behave(connection.sendall, is_over)
                is_over.wait()

        def accept() -> None:
            with suppress(OSError):
                while not is_over.is_set():
                    connection, _ = listening.accept()
                    threading.Thread(target=handle, args=(connection,), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        yield path
        is_over.set()
        listening.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize("behave", BEHAVIOUR)
@pytest.mark.parametrize("kind", ["websocket", "ipc"])
def test_an_exchange_ends_in_its_time(kind: str, behave: Behave, tmp_path: Path) -> None:
    """Hole 26: notices each 0.1 s held a request forever."""
    with websocket(behave) if kind == "websocket" else ipc(tmp_path, behave) as endpoint:
        began = time.monotonic()
        with pytest.raises((Unreachable, NotAnEthereumEndpoint, EndpointFailed)):
            connect(endpoint, timeout=SECONDS)
        assert time.monotonic() - began < SECONDS + 5


@pytest.mark.parametrize("kind", ["websocket", "ipc"])
def test_that_an_endpoint_is_silent_is_told(kind: str, tmp_path: Path) -> None:
    with (
        websocket(stay_silent) if kind == "websocket" else ipc(tmp_path, stay_silent) as endpoint,
        pytest.raises(Unreachable, match="in time"),
    ):
        connect(endpoint, timeout=SECONDS)


@pytest.mark.parametrize("kind", ["websocket", "ipc"])
def test_too_much_is_not_read_to_its_end(kind: str, tmp_path: Path) -> None:
    """It is refused as soon as it is too much: of logs a smaller range may be asked for then."""
    with websocket(send_too_much) if kind == "websocket" else ipc(tmp_path, send_too_much) as endpoint:
        chain = connect(endpoint, timeout=10, expected_chain_id=7)
        with pytest.raises(EndpointFailed, match="larger"):
            chain.rpc.number("eth_chainId")
        chain.close()


@pytest.mark.parametrize("kind", ["websocket", "ipc"])
def test_after_a_failure_an_endpoint_that_answers_is_good_again(kind: str, tmp_path: Path) -> None:
    """What comes late is not taken for the answer to what is asked next."""
    times = itertools.count()

    def behave(send: Send, is_over: threading.Event) -> None:
        if next(times) == 0:
            is_over.wait()
        else:
            send(ANSWER.replace(b'"id": 0', b'"id": 1'))

    with websocket(behave) if kind == "websocket" else ipc(tmp_path, behave) as endpoint:
        chain: Any = connect(endpoint, timeout=SECONDS, expected_chain_id=7)
        with pytest.raises(Unreachable):
            chain.rpc.number("eth_chainId")
        assert chain.rpc.number("eth_chainId") == 7
        chain.close()
