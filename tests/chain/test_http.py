"""What an HTTP status, and what comes with it, says of an endpoint. Hole 51."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from http.server import HTTPServer
from threading import Thread
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote

import pytest
from websockets.datastructures import Headers
from websockets.http11 import Response
from websockets.sync.server import serve

from forcemove import Chain, connect
from forcemove.chain.errors import EndpointFailed, NodeBusy, NotAnEthereumEndpoint, WrongChain
from tests.chain.server import CHAIN_ID, answer_chain_id, answering, serving
from tests.expected import raising

ERROR = b'{"jsonrpc": "2.0", "id": null, "error": {"code": -32005, "message": "query exceeds max block range"}}'
REVERTED = b'{"jsonrpc": "2.0", "id": null, "error": {"code": 3, "message": "execution reverted", "data": "0x"}}'
PAGE = b"<html>sorry</html>"


class Clock:
    """Of the requests; it goes on only where they wait."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr("forcemove.chain.rpc.time", made)
    monkeypatch.setattr("forcemove.chain.rpc.pause", made.sleep)
    monkeypatch.setattr("forcemove.chain.limits.time", SimpleNamespace(monotonic=made.monotonic))
    return made


class Node:
    """That says of each request but those for its chain's id what `says` makes of it."""

    def __init__(self, says: Callable[[list[Any]], tuple[int, bytes]]) -> None:
        self.says = says
        self.asked: list[list[Any]] = []

    def answer(self, body: bytes) -> tuple[int, bytes]:
        request = json.loads(body)
        if request["method"] == "eth_chainId":
            return answer_chain_id(body)
        self.asked.append(request["params"])
        return self.says(request["params"])

    @contextmanager
    def chain(self, **headers: str) -> Iterator[Chain]:
        with serving(self.answer, None, **headers) as url, connect(url) as chain:
            yield chain


def result(value: object) -> tuple[int, bytes]:
    return 200, json.dumps({"jsonrpc": "2.0", "id": 0, "result": value}).encode()


# ---------------------------------------------------------------------------------------------- what is not another
# node


@pytest.mark.parametrize(("status", "body"), [(400, ERROR), (413, ERROR), (500, ERROR), (413, PAGE), (400, PAGE)])
def test_a_range_that_is_refused_with_a_status_is_halved(status: int, body: bytes) -> None:
    def says(params: list[Any]) -> tuple[int, bytes]:
        first, last = (int(params[0][end], 16) for end in ("fromBlock", "toBlock"))
        return (status, body) if last - first > 4 else result([])

    node = Node(says)
    with node.chain() as chain:
        assert chain.logs(bytes(20), (), 0, 9) == []
    assert [(each["fromBlock"], each["toBlock"]) for (each,) in node.asked] == [
        ("0x0", "0x9"),
        ("0x0", "0x4"),
        ("0x5", "0x9"),
    ]


@pytest.mark.parametrize("status", [400, 403, 500])
def test_a_json_rpc_error_with_a_status_is_that_error(status: int) -> None:
    with Node(lambda _: (status, ERROR)).chain() as chain, pytest.raises(EndpointFailed) as raised:
        chain.block_number()
    assert raised.value == EndpointFailed("eth_blockNumber", "query exceeds max block range")


@pytest.mark.parametrize("body", [PAGE, b"", b"{}", b"[]", b'{"error": "no"}', result("0x1")[1]])
def test_another_status_without_an_error_is_no_answer(body: bytes) -> None:
    with Node(lambda _: (404, body)).chain() as chain, pytest.raises(NotAnEthereumEndpoint):
        chain.block_number()


def test_a_node_that_restarts_is_asked_once_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """At first nobody listens."""
    with HTTPServer(("127.0.0.1", 0), answering(answer_chain_id), bind_and_activate=False) as server:
        server.server_bind()

        def begin(_: float) -> None:
            server.server_activate()
            Thread(target=server.handle_request, daemon=True).start()

        monkeypatch.setattr("forcemove.chain.http.time", SimpleNamespace(sleep=begin))
        with connect(f"http://127.0.0.1:{server.server_port}") as chain:
            assert chain.chain_id == CHAIN_ID


# ------------------------------------------------------------------------------------------------- who asks us to wait


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize("body", [PAGE, ERROR])
def test_a_short_wait_is_waited(clock: Clock, status: int, body: bytes) -> None:
    node = Node(lambda _: (status, body) if len(node.asked) == 1 else result("0x9"))
    with node.chain(Retry_After="3") as chain:
        assert chain.block_number() == 9
    assert (len(node.asked), clock.now) == (2, 3)


def test_who_answers_after_a_wait_may_be_of_another_chain(clock: Clock) -> None:
    chain_ids = [CHAIN_ID, CHAIN_ID + 1]

    def answer(body: bytes) -> tuple[int, bytes]:
        if json.loads(body)["method"] == "eth_chainId":
            return result(hex(chain_ids.pop(0)))
        return (503, PAGE) if clock.now == 0 else result("0x9")

    with serving(answer) as url, connect(url, expected_chain_id=CHAIN_ID) as chain, pytest.raises(WrongChain):
        chain.block_number()
    assert clock.now == 1


@pytest.mark.parametrize(("asked", "seconds"), [("20", 20), ("86400", 30)])
def test_a_long_wait_is_told_and_nobody_is_asked_meanwhile(clock: Clock, asked: str, seconds: float) -> None:
    node = Node(lambda _: (429, PAGE) if len(node.asked) == 1 else result("0x9"))
    with node.chain(Retry_After=asked) as chain:
        for _ in range(3):
            with raising(NodeBusy(chain.endpoint, seconds)):
                chain.block_number()
        assert len(node.asked) == 1
        clock.now += seconds
        assert chain.block_number() == 9


def test_who_asks_for_a_short_wait_again_and_again_is_told(clock: Clock) -> None:
    node = Node(lambda _: (429, PAGE))
    with node.chain() as chain, pytest.raises(NodeBusy):
        chain.block_number()
    assert (len(node.asked), clock.now) == (3, 2)


def test_how_often_an_endpoint_may_be_asked_is_learned_from_its_refusals(clock: Clock) -> None:
    """It answers five requests a second, and five at once after a while."""
    rate, left, at, refused = 5.0, 5.0, 0.0, list[float]()

    def says(_: list[Any]) -> tuple[int, bytes]:
        nonlocal left, at
        left, at = min(left + (clock.now - at) * rate, 5.0), clock.now
        if left < 1:
            refused.append(clock.now)
            return 429, PAGE
        left -= 1
        return result("0x9")

    node = Node(says)
    with node.chain() as chain:
        for _ in range(200):
            chain.block_number()
        assert len(refused) <= 12
        assert clock.now <= 80
        rate, began = 10.0**9, clock.now
        for _ in range(400):
            chain.block_number()
        assert clock.now - began <= 45
        before = clock.now
        chain.block_number()
        assert clock.now == before


@pytest.mark.usefixtures("clock")
def test_a_websocket_that_is_refused_for_now_is_busy() -> None:
    def refuse(*_: object) -> Response:
        return Response(HTTPStatus.TOO_MANY_REQUESTS, "Too Many Requests", Headers({"Retry-After": "20"}), b"")

    with serve(lambda _: None, "127.0.0.1", 0, process_request=refuse) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        port = server.socket.getsockname()[1]
        chain = connect(f"ws://127.0.0.1:{port}", expected_chain_id=CHAIN_ID)
        with pytest.raises(NodeBusy) as raised:
            chain.block_number()
        server.shutdown()
    assert raised.value.seconds == 20


# ------------------------------------------------------------------------------------------------- who has no "pending"


def test_who_refuses_pending_is_asked_at_latest_and_that_is_remembered(clock: Clock) -> None:
    def says(params: list[Any]) -> tuple[int, bytes]:
        return (400, ERROR) if "pending" in params else result("0x9")

    node = Node(says)
    with node.chain() as chain:
        for _ in range(3):
            assert chain.nonce_of(bytes(20), block="pending") == 9
        assert [params[1] for params in node.asked] == ["pending", "latest", "latest", "latest"]
        clock.now += 61
        chain.nonce_of(bytes(20), block="pending")
    assert [params[1] for params in node.asked[4:]] == ["pending", "latest"]


@pytest.mark.parametrize("method", ["eth_call", "eth_estimateGas"])
def test_a_call_that_would_fail_only_at_latest_is_not_said_to_fail(method: str) -> None:
    """The newest block may be older than what the call waits for."""
    node = Node(lambda params: (200, ERROR if "pending" in params else REVERTED))
    with node.chain() as chain, pytest.raises(EndpointFailed):
        chain.rpc.request(method, {}, "pending")


@pytest.mark.parametrize("method", ["eth_call", "eth_estimateGas"])
def test_a_call_that_is_refused_says_nothing_of_other_questions(method: str) -> None:
    """Hardhat 2 refuses it for its gas, and has a pending block all the same."""
    node = Node(lambda params: (200, ERROR) if params == [{}, "pending"] else result("0x9"))
    with node.chain() as chain:
        assert chain.rpc.request(method, {}, "pending") == "0x9"
        chain.nonce_of(bytes(20), block="pending")
    assert [params[1] for params in node.asked] == ["pending", "latest", "pending"]


def test_what_is_refused_at_latest_too_is_not_the_tags_fault() -> None:
    node = Node(lambda _: (200, ERROR))
    with node.chain() as chain:
        for _ in range(2):
            with pytest.raises(EndpointFailed):
                chain.nonce_of(bytes(20), block="pending")
    assert [params[1] for params in node.asked] == ["pending", "latest"] * 2


# --------------------------------------------------------------------------------------------------- a node's own words


def encoded(word: str) -> str:
    return "".join(f"%{ord(each):02X}" for each in word)


@pytest.mark.parametrize("words", ["{}", "key {} of /v3/{}?token={}", "{}" * 200])
@pytest.mark.parametrize("form", [str, str.upper, quote, lambda word: quote(word, "").lower(), encoded])
def test_no_secret_of_the_url_is_told_that_a_node_repeats(words: str, form: Callable[[str], str]) -> None:
    """A path, a parameter, a user and a password, in whatever encoding it repeats them."""
    secrets = ("Nkey/of-a-project", "token5678", "user", "p@ss")
    said = " ".join(words.replace("{}", form(each)) for each in secrets)
    error = json.dumps({"jsonrpc": "2.0", "id": 0, "error": {"code": -32000, "message": said}}).encode()
    node = Node(lambda params: (200, error) if params else result(said))
    with serving(node.answer) as url:
        place = url.removeprefix("http://").partition("/")[0]
        chain = connect(f"http://user:p%40ss@{place}/v3/Nkey%2Fof-a-project?token=token5678")
        asks: tuple[Callable[[], object], ...] = (lambda: chain.nonce_of(bytes(20)), chain.block_number)
        for ask in asks:
            with pytest.raises((EndpointFailed, NotAnEthereumEndpoint)) as raised:
                ask()
            shown = str(raised.value).lower()
            assert not [each for each in secrets if each.lower() in shown or form(each).lower() in shown]


def test_no_part_of_a_secret_is_told_where_words_are_cut() -> None:
    error = {"code": -32000, "message": "x" * 494 + "secret-key"}
    node = Node(lambda _: (200, json.dumps({"jsonrpc": "2.0", "id": 0, "error": error}).encode()))
    with node.chain() as chain, pytest.raises(EndpointFailed) as raised:
        chain.block_number()
    assert "secret" not in str(raised.value)


def test_a_nodes_other_words_are_told() -> None:
    with Node(lambda _: (200, ERROR)).chain() as chain, pytest.raises(EndpointFailed, match="query exceeds max block"):
        chain.block_number()
