"""Several questions in one exchange over a WebSocket: what a node makes of a batch, and what we make of that."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Thread
from typing import Any
from unittest import mock

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.server import ServerConnection, serve

from forcemove import Chain, connect
from forcemove.chain.errors import EndpointFailed, NotAnEthereumEndpoint, Unreachable
from forcemove.chain.local import AnvilChain
from forcemove.chain.websocket import WebSocketConnection
from tests.chain import test_batching
from tests.chain.test_batching import REFUSED, ask

NOTICE = b'{"jsonrpc": "2.0", "method": "eth_subscription", "params": {}}'


class Node(test_batching.Node):
    """The same over a WebSocket: of what it says only the text is sent. Notices come between the answers."""

    @contextmanager
    def chain(self) -> Iterator[Chain]:
        def handle(connection: ServerConnection) -> None:
            with suppress(ConnectionClosed, ConnectionError):
                for body in connection:
                    connection.send(NOTICE)
                    connection.send(self.answer(body if isinstance(body, bytes) else body.encode())[1])

        with serve(handle, "127.0.0.1", 0) as server:
            Thread(target=server.serve_forever, daemon=True).start()
            with connect(f"ws://127.0.0.1:{server.socket.getsockname()[1]}") as chain:
                self.exchanges.clear()
                yield chain
            server.shutdown()


def test_what_is_asked_together_goes_out_together_and_comes_back_in_any_order() -> None:
    node = Node()
    with node.chain() as chain:
        assert ask(chain, 120) == list(range(120))
        assert node.exchanges == [50, 50, 20]


def test_what_is_too_much_is_halved_and_that_is_kept() -> None:
    node = Node(12, lambda: (200, REFUSED))
    with node.chain() as chain:
        assert ask(chain, 30) == list(range(30))
        assert node.exchanges == [30, 10, 10, 10]
        node.exchanges.clear()
        assert ask(chain, 8) == list(range(8))
        assert node.exchanges == [8]


@pytest.mark.parametrize("said", [b"[]", b"[1]", b"7", b"<html>"])
def test_who_makes_no_sense_of_batches_is_asked_for_one_thing_at_a_time(said: bytes) -> None:
    node = Node(1, lambda: (200, said))
    with node.chain() as chain:
        assert ask(chain, 10) == list(range(10))
        assert node.exchanges == [10] + [1] * 10


def test_who_closes_the_connection_on_a_batch_is_asked_for_one_thing_at_a_time() -> None:
    def says() -> test_batching.Said:
        raise ConnectionError

    node = Node(1, says)
    with node.chain() as chain:
        assert [type(each) for each in ask(chain, 10)] == [Unreachable] * 10
        assert ask(chain, 10) == list(range(10))


def test_an_answer_that_is_no_object_is_no_answer() -> None:
    node = Node()
    with node.chain() as chain:
        with mock.patch.object(node, "answer", return_value=(200, b"[7]")), pytest.raises(NotAnEthereumEndpoint):
            chain.rpc.ask("eth_getBalance", 1)
        assert chain.rpc.ask("eth_getBalance", 1) == 1


def test_an_error_that_names_no_request_is_the_answer_to_ours() -> None:
    """A server that has not read the request so far as its id: it is busy, or the request is too large."""
    node = Node()
    with node.chain() as chain:
        with mock.patch.object(node, "answer", return_value=(200, REFUSED)), pytest.raises(EndpointFailed):
            chain.rpc.ask("eth_getBalance", 1)
        assert chain.rpc.ask("eth_getBalance", 1) == 1


def test_anvil_answers_a_batch_as_it_answers_each_of_it() -> None:
    sent = list[bytes]()
    exchange = WebSocketConnection._exchange

    def counting(connection: WebSocketConnection, request: bytes, *rest: Any) -> Any:
        sent.append(request)
        return exchange(connection, request, *rest)

    with AnvilChain() as anvil, connect(anvil.endpoint.replace("http", "ws")) as chain:
        asked = [("eth_getBlockByNumber", (each, False)) for each in ("latest", "0x0")] + [("eth_chainId", ())]
        with mock.patch.object(WebSocketConnection, "_exchange", counting):
            together = chain.rpc.request_some(asked)
        assert [each[:1] for each in sent if b"eth_getBlock" in each] == [b"["]
        assert together == [chain.rpc.ask(method, *params) for method, params in asked]
