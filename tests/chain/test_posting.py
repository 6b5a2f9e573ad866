"""What carries a page's questions to a node makes the same of every answer as what carries a machine's."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from forcemove.chain.errors import EndpointFailed, NotAnEthereumEndpoint, Unreachable
from forcemove.chain.http import HttpConnections
from forcemove.chain.json_rpc import JsonRpcTransport
from forcemove.chain.posting import PostConnection, ProviderTransport
from forcemove.chain.rpc import BatchTransport, Reverted
from forcemove.errors import ForcemoveError
from tests.chain.server import serving

DATA = "0x08c379a0" + "00" * 31 + "20" + "00" * 32
ERRORS: list[Any] = [
    {"code": -32000, "message": "header not found"},
    {"code": 3, "message": "execution reverted", "data": DATA},
    {"code": -32000, "message": "execution reverted"},
    {"code": 429, "message": "slow down, secret-key"},
    {"message": 7},
    {},
    "no",
]
BODIES = [
    *(json.dumps({"jsonrpc": "2.0", "id": 0, "error": each}).encode() for each in ERRORS),
    b'{"jsonrpc": "2.0", "id": 0, "result": "0x1"}',
    b'{"jsonrpc": "2.0", "id": 0, "result": null}',
    b"<html>",
    b"\xff",
    b"7",
    b"[" * 100_000,
]
STATUSES = [200, 400, 403, 413, 429, 500, 503]


def said(transport: BatchTransport, ask: Callable[[BatchTransport], object]) -> object:
    """What is answered, or the error, so that it can be compared."""
    try:
        found = ask(transport)
    except (ForcemoveError, Reverted) as error:
        return type(error), str(error)
    if not isinstance(found, list):
        return found
    return [(type(each), str(each)) if isinstance(each, Exception) else each for each in found]


def both_say(url: str, ask: Callable[[BatchTransport], object]) -> object:
    """What both transports make of an endpoint's answer, which is the same."""
    ours = said(JsonRpcTransport(PostConnection(url), url), ask)
    machine = JsonRpcTransport(HttpConnections(url, 10), url)
    assert ours == said(machine, ask)
    machine.close()
    return ours


@pytest.mark.parametrize("status", STATUSES)
@pytest.mark.parametrize("body", BODIES, ids=lambda body: body[:50].decode("latin-1"))
@pytest.mark.parametrize("method", ["eth_call", "eth_getBalance"])
def test_one_request_is_answered_the_same(status: int, body: bytes, method: str) -> None:
    with serving(lambda _: (status, body), retry_after="7") as url:
        assert "secret-key" not in str(both_say(url, lambda transport: transport.exchange(method, ["0x0", "latest"])))


def test_a_batch_is_answered_the_same() -> None:
    def answer(asked: bytes) -> tuple[int, bytes]:
        found = zip(json.loads(asked), [{"result": "0x1"}, *({"error": each} for each in ERRORS)], strict=False)
        return 200, json.dumps([{"jsonrpc": "2.0", "id": each["id"]} | said for each, said in found][::-1]).encode()

    requests: Sequence[tuple[str, Sequence[Any]]] = [("eth_call", [str(number)]) for number in range(len(ERRORS) + 1)]
    with serving(answer) as url:
        found = both_say(url, lambda transport: transport.exchange_some(requests))
    assert isinstance(found, list)
    assert found[0] == "0x1"
    assert found[2] == (Reverted, DATA[2:])


@pytest.mark.parametrize("status", STATUSES)
@pytest.mark.parametrize("body", [*BODIES, b"[]", b'[{"id": 0, "result": 1}]', b"[7, null]"])
def test_what_is_no_answer_to_a_batch_is_the_same(status: int, body: bytes) -> None:
    with serving(lambda _: (status, body)) as url:
        both_say(url, lambda transport: transport.exchange_some([("eth_call", []), ("eth_chainId", [])]))


def test_nobody_is_there() -> None:
    with serving(lambda _: (200, b"")) as url:
        pass
    with pytest.raises(Unreachable) as raised:
        JsonRpcTransport(PostConnection(url), url).exchange("eth_chainId", [])
    assert "secret-key" not in str(raised.value)


def through_wallet(answer: str | Exception, method: str = "eth_call") -> object:
    """What is made of what a wallet says."""

    async def ask(asked: str, params: str) -> str:
        assert (asked, json.loads(params)) == (method, ["0x0", "latest"])
        if isinstance(answer, Exception):
            raise answer
        return answer

    return ProviderTransport(ask, "wallet").exchange(method, ["0x0", "latest"])


def test_a_wallets_node_answers_and_refuses_as_others_do() -> None:
    assert through_wallet('{"result": "0x1"}') == "0x1"
    with pytest.raises(Reverted) as reverted:
        through_wallet(json.dumps({"error": {"code": 3, "message": "execution reverted", "data": DATA}}))
    assert reverted.value.data == bytes.fromhex(DATA[2:])
    with pytest.raises(EndpointFailed):
        through_wallet('{"error": {"code": 4200, "message": "there is no such method"}}')


@pytest.mark.parametrize("said", ["", "7", "{}", '{"error": "no"}', '{"error": {"code": "7", "message": "no"}}'])
def test_what_a_wallet_says_may_make_no_sense(said: str) -> None:
    with pytest.raises(NotAnEthereumEndpoint):
        through_wallet(said)


def test_there_is_no_wallet() -> None:
    with pytest.raises(Unreachable):
        through_wallet(RuntimeError("there is no wallet"))
