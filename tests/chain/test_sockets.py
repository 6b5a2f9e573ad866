"""Hosts with several addresses, of which one leads nowhere: as that of IPv6 does in many places."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import suppress
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.server import ServerConnection, serve

from forcemove import connect
from forcemove.chain.errors import NotAnEthereumEndpoint, Unreachable
from tests.chain.server import CHAIN_ID, answer_chain_id, serving

HOST = "node.example"


@pytest.fixture(autouse=True)
def addresses(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """Of the host: one that takes no connection, and ours."""
    find = socket.getaddrinfo
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full, socket.create_connection(full.getsockname()):
        nowhere: list[Any] = [full.getsockname()]

        def found(host: str, *rest: Any, **options: Any) -> list[Any]:
            ours = find("127.0.0.1" if host == HOST else host, *rest, **options)
            return [(*ours[0][:4], each) for each in nowhere] + ours if host == HOST else ours

        monkeypatch.setattr(socket, "getaddrinfo", found)
        yield nowhere


@pytest.fixture(params=["http", "ws"])
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    """Of a node at the host."""
    if request.param == "http":
        with serving(answer_chain_id) as made:
            yield f"http://{HOST}:{urlsplit(made).port}"
        return

    def handle(connection: ServerConnection) -> None:
        with suppress(ConnectionClosed, ConnectionError):
            for body in connection:
                connection.send(answer_chain_id(str(body).encode())[1], text=True)

    with serve(handle, "127.0.0.1", 0) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"ws://{HOST}:{server.socket.getsockname()[1]}"
        server.shutdown()


def test_an_address_that_takes_no_connection_leaves_time_for_the_next_one(url: str) -> None:
    with connect(url, timeout=4) as chain:
        assert chain.identify() == CHAIN_ID


def test_where_no_address_takes_a_connection_that_is_said(url: str, addresses: list[Any]) -> None:
    port = urlsplit(url).port
    with pytest.raises(Unreachable, match="in time"):
        connect(url.replace(f":{port}", f":{addresses[0][1]}"), timeout=1)


@pytest.mark.parametrize("scheme", ["http", "ws"])
def test_what_is_not_the_name_of_a_host_is_told(scheme: str) -> None:
    with pytest.raises(Unreachable, match="not the name of a host"):
        connect(f"{scheme}://{'a' * 64}.example")


def test_a_redirection_is_not_followed() -> None:
    def move(connection: ServerConnection, _: object) -> object:
        response = connection.respond(308, "elsewhere")
        response.headers["Location"] = "/elsewhere"
        return response

    with serve(lambda _: None, "127.0.0.1", 0, process_request=move) as server:  # type: ignore[arg-type]
        Thread(target=server.serve_forever, daemon=True).start()
        with pytest.raises(NotAnEthereumEndpoint, match="308"):
            connect(f"ws://{HOST}:{server.socket.getsockname()[1]}", timeout=4)
        server.shutdown()
