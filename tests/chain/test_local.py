"""Local chains and ways to others: clocks, bad endpoints, and that nothing is left running."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest

from forcemove.chain import errors, rpc
from forcemove.chain.anvil import find_anvil
from forcemove.chain.chain import Call, Chain
from forcemove.chain.endpoint_name import shown_endpoint
from forcemove.chain.http import HttpConnections
from forcemove.chain.json_rpc import JsonRpcTransport
from forcemove.chain.local import LOCAL_BALANCE, AnvilChain, EmbeddedChain, connect, local_keys, open_chain
from forcemove.errors import InvalidValue
from tests.chain.server import CHAIN_ID, gate, serving
from tests.protocol.builders import BOB


@pytest.fixture(params=["eth-tester", "anvil"])
def local(request: pytest.FixtureRequest) -> Chain:
    if request.param == "anvil":
        chain: Chain = request.getfixturevalue("anvil")
        return chain
    return EmbeddedChain()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


# -------------------------------------------------------------------------------------------------------------- clocks


@pytest.mark.parametrize("seconds", [1, 2, 86_400])
def test_the_next_transaction_lands_at_exactly_that_time(local: Chain, seconds: int) -> None:
    key = local_keys()[1]
    local.send(Call(BOB.address, b"", 1), key)
    # anvil's clock runs: a fresh landmark lies ahead of it.
    local.travel_to(local.now() + 100)
    local.send(Call(BOB.address, b"", 1), key)
    landmark = local.now()

    local.travel_to(landmark + seconds)
    local.send(Call(BOB.address, b"", 1), key)

    assert local.now() == landmark + seconds


def test_nobody_travels_back(local: Chain) -> None:
    now = local.now()

    with pytest.raises(errors.CannotTravel):
        local.travel_to(now)


def test_the_known_accounts_have_ether(local: Chain) -> None:
    assert local.balance(local_keys()[9].address) == LOCAL_BALANCE


def test_real_time_is_not_moved(anvil: AnvilChain) -> None:
    node = connect(anvil.endpoint)

    assert not node.can_travel
    with pytest.raises(errors.CannotTravel):
        node.travel_to(node.now() + 1000)


# ----------------------------------------------------------------------------------------------------------- endpoints


def test_nobody_at_the_port() -> None:
    with pytest.raises(errors.Unreachable) as caught:
        connect(f"http://127.0.0.1:{free_port()}/secret-key")

    assert "secret" not in str(caught.value)
    assert caught.value.reason == "Connection refused"


@pytest.mark.parametrize("endpoint", ["ftp://localhost", "nowhere.ipc", "", "http://*.example", "ws://127.0.0.1:1"])
def test_what_is_no_address_of_a_node(endpoint: str) -> None:
    with pytest.raises(errors.Unreachable):
        connect(endpoint)


@pytest.mark.parametrize(
    "endpoint",
    ["127.0.0.1:8545", "node.example:443/secret", "http://[::1", "http://a:65536/secret", "ws://a:0", "http://"],
)
def test_what_can_never_be_an_address_is_refused_before_anybody_waits(endpoint: str) -> None:
    with pytest.raises(InvalidValue) as caught:
        connect(endpoint, expected_chain_id=1)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (200, b"<html>hello</html>"),
        (200, b""),
        (200, b"[]"),
        (200, b"null"),
        (200, b'{"jsonrpc": "2.0", "id": 0, "result": null}'),
        (200, b'{"jsonrpc": "2.0", "id": 0, "result": {"a": 1}}'),
        (200, b'{"jsonrpc": "2.0", "id": 0, "result": "0xzz"}'),
        (200, b'{"jsonrpc": "2.0", "id": 0, "error": {"code": -32601, "message": "method not found"}}'),
        (200, b'{"jsonrpc": "2.0", "id": 0, "error": "no"}'),
        (401, b"who are you?"),
        (404, b"not here"),
        (500, b""),
    ],
)
def test_an_answer_that_no_node_gives(status: int, body: bytes) -> None:
    with serving(lambda _: (status, body)) as endpoint, pytest.raises(errors.NotAnEthereumEndpoint) as caught:
        connect(endpoint)

    assert "secret" not in str(caught.value)


def test_a_connection_that_was_closed_meanwhile_is_made_again() -> None:
    with gate(lasting=1) as made, connect(f"http://{made.address}") as chain:
        for _ in range(3):
            assert chain.rpc.number("eth_chainId") == CHAIN_ID
    assert made.connections == len(made.heads) == 4


def test_one_connection_serves_all_requests() -> None:
    with gate() as made, connect(f"http://{made.address}") as chain:
        for _ in range(3):
            chain.rpc.number("eth_chainId")
    assert (made.connections, len(made.heads)) == (1, 4)


def transport_to(address: str) -> JsonRpcTransport:
    url = f"http://{address}"
    return JsonRpcTransport(HttpConnections(url, 60.0), url)


def test_each_of_many_threads_has_a_connection_that_is_kept(caplog: pytest.LogCaptureFixture) -> None:
    asking = 40
    with gate(together=asking) as made, closing(transport_to(made.address)) as transport:
        with ThreadPoolExecutor(asking) as pool:
            for _ in range(2):
                answers = list(pool.map(lambda _: transport.exchange("eth_chainId", []), range(asking)))
                assert answers == [hex(CHAIN_ID)] * asking
        assert (made.connections, len(made.heads)) == (asking, 2 * asking)
    assert caplog.messages == []


def test_a_name_and_a_password_are_sent() -> None:
    with gate() as made, connect(f"http://ann:secret@{made.address}/way?key=1"):
        pass
    assert made.heads[0].startswith(b"POST /way?key=1 HTTP/1.1\r\n")
    assert b"Authorization: Basic YW5uOnNlY3JldA==\r\n" in made.heads[0]


def test_the_proxy_of_the_environment_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "")
    with gate() as made:
        monkeypatch.setenv("HTTP_PROXY", f"http://{made.address}")
        with connect("http://node.invalid/way") as chain:
            assert chain.chain_id == CHAIN_ID
    assert made.heads[0].startswith(b"POST http://node.invalid/way HTTP/1.1\r\n")


def test_a_redirection_is_not_followed() -> None:
    with gate(moved_to="http://127.0.0.1:1/") as made, pytest.raises(errors.NotAnEthereumEndpoint, match="308"):
        connect(f"http://{made.address}")
    assert len(made.heads) == 1


def test_a_machine_that_takes_no_connection_is_waited_for_once() -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full, socket.create_connection(full.getsockname()):
        began = time.monotonic()
        with pytest.raises(errors.Unreachable):
            connect(f"http://127.0.0.1:{full.getsockname()[1]}", timeout=1)
        assert 1 <= time.monotonic() - began < 3


def test_another_chain_than_expected(anvil: AnvilChain) -> None:
    chain = connect(anvil.endpoint, expected_chain_id=5)
    for _ in range(2):
        with pytest.raises(errors.WrongChain) as caught:
            chain.block_number()

    assert (caught.value.expected, caught.value.found) == (5, 31_337)
    assert chain.chain_id == 5


def test_a_node_that_is_away_at_the_start_is_waited_for() -> None:
    with (
        connect(f"http://127.0.0.1:{free_port()}", expected_chain_id=31_337) as chain,
        pytest.raises(errors.Unreachable),
    ):
        chain.now()


def test_a_node_that_comes_later_is_found(tmp_path: Path) -> None:
    path = str(tmp_path / "anvil.ipc")
    with connect(path, expected_chain_id=31_337) as chain:
        with pytest.raises(errors.Unreachable):
            chain.now()
        with AnvilChain("--ipc", path) as anvil:
            assert chain.now() == anvil.now()
        with pytest.raises(errors.Unreachable):
            chain.now()


def naming(
    asked: list[str], chain_id: Callable[[], int], status: Callable[[], int] = lambda: 200
) -> Callable[[bytes], tuple[int, bytes]]:
    """An endpoint that names its chain and answers everything else with 0. `asked`: is given the methods."""

    def answer(body: bytes) -> tuple[int, bytes]:
        request = json.loads(body)
        asked.append(request["method"])
        result = hex(chain_id() if request["method"] == "eth_chainId" else 0)
        return status(), json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}).encode()

    return answer


@pytest.mark.parametrize(("status", "error"), [(502, errors.NotAnEthereumEndpoint), (503, errors.NodeBusy)])
def test_the_chain_is_asked_for_once_and_again_after_a_failure(
    monkeypatch: pytest.MonkeyPatch, status: int, error: type[Exception]
) -> None:
    """Behind the address may be another node then."""
    monkeypatch.setattr("forcemove.chain.json_rpc._USUAL_WAIT", 0.0)
    asked: list[str] = []
    chain_id, is_away = CHAIN_ID, False
    answer = naming(asked, lambda: chain_id, lambda: status if is_away else 200)
    with serving(answer) as endpoint, connect(endpoint, expected_chain_id=CHAIN_ID) as chain:
        assert asked == []
        for _ in range(3):
            chain.block_number()
        assert asked == ["eth_chainId"] + ["eth_blockNumber"] * 3

        is_away = True
        with pytest.raises(error):
            chain.block_number()
        is_away, chain_id = False, CHAIN_ID + 1
        with pytest.raises(errors.WrongChain):
            chain.block_number()
        chain_id = CHAIN_ID
        assert chain.block_number() == 0


def test_threat_97_the_chain_is_asked_for_again_after_a_while_and_before_anything_is_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """No request has failed, and yet the address leads to another chain now."""
    asked: list[str] = []
    chain_id = CHAIN_ID
    answer = naming(asked, lambda: chain_id)
    with serving(answer) as endpoint, connect(endpoint) as chain:
        chain.block_number()
        chain_id = CHAIN_ID + 1
        assert chain.block_number() == 0
        with pytest.raises(errors.WrongChain):
            chain.rpc.ask("eth_sendRawTransaction", "0x")
        assert "eth_sendRawTransaction" not in asked
        chain_id = CHAIN_ID
        assert chain.block_number() == 0
        monkeypatch.setattr(rpc, "_IDENTIFIED_SECONDS", 0.0)
    with serving(answer) as endpoint, connect(endpoint) as chain:
        chain.block_number()
        chain_id = CHAIN_ID + 1
        with pytest.raises(errors.WrongChain):
            chain.block_number()


ZERO, ONE, NEXT, OTHER = (bytes([each]) * 32 for each in range(4))


@pytest.mark.parametrize(
    ("parents", "named"),
    [
        ([(ONE, ZERO)] * 6, [1, 1, 2, 2, 2, 2]),
        ([(ONE, ZERO)] * 3 + [(NEXT, ONE)] * 3, [1, 1, 2, 2, 2, 2]),
        ([(ONE, ZERO)] * 3 + [(OTHER, ZERO)] * 3, [1, 1, 2, 2, 3, 3]),
        ([(ONE, ZERO), (OTHER, ZERO)] * 3, [1, 1, 2, 2, 3, 3]),
    ],
    ids=["one stays", "one follows", "another chain", "none follows"],
)
def test_threat_97_an_endpoint_is_asked_for_its_chain_until_its_blocks_follow_those_from_before(
    monkeypatch: pytest.MonkeyPatch, parents: list[tuple[bytes, bytes]], named: list[int]
) -> None:
    """One block is seen each four seconds. `named`: how often it has named its chain then."""
    now, asked, found = 0.0, list[str](), list[int]()
    monkeypatch.setattr(rpc, "time", SimpleNamespace(monotonic=lambda: now, sleep=time.sleep))
    with serving(naming(asked, lambda: CHAIN_ID)) as endpoint, connect(endpoint, expected_chain_id=CHAIN_ID) as chain:
        for block in parents:
            chain.block_number()
            chain.rpc.on_block(*block)
            found.append(asked.count("eth_chainId"))
            now += 4.0
    assert found == named


@pytest.mark.parametrize("scheme", ["http", "ws"])
def test_to_ask_a_node_imports_nothing_heavy(anvil: AnvilChain, scheme: str) -> None:
    program = (
        "import sys\n"
        "from forcemove.chain.local import connect\n"
        f"connect({anvil.endpoint.replace('http', scheme)!r}).block_number()\n"
        "print(sorted({'web3', 'eth_abi', 'eth_account', 'eth_tester'} & set(sys.modules)))\n"
    )
    said = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)  # noqa: S603
    assert said.stdout == "[]\n"


def test_a_websocket_is_as_good(anvil: AnvilChain) -> None:
    with connect(anvil.endpoint.replace("http", "ws")) as chain:
        assert chain.block_number() == anvil.block_number()
        chain.send(Call(BOB.address, b"", 1), local_keys()[1])
        assert chain.block_number() == anvil.block_number()


def test_a_socket_of_the_machine_is_as_good(tmp_path: Path) -> None:
    path = str(tmp_path / "anvil.ipc")
    with AnvilChain("--ipc", path) as anvil, connect(path) as chain:
        assert chain.block_number() == anvil.block_number()
        asked = [("eth_getBlockByNumber", (each, False)) for each in ("latest", "0x0")] + [("eth_chainId", ())]
        assert chain.rpc.request_some(asked) == [chain.rpc.ask(method, *params) for method, params in asked]


@pytest.mark.parametrize(
    ("endpoint", "shown"),
    [
        ("https://user:word@node.example:8545/v3/secret?key=secret", "https://node.example:8545"),
        ("http://127.0.0.1:8545", "http://127.0.0.1:8545"),
        ("/tmp/node.ipc", "/tmp/node.ipc"),  # noqa: S108  # a name, not a file
    ],
)
def test_secrets_in_an_endpoint_are_not_shown(endpoint: str, shown: str) -> None:
    assert shown_endpoint(endpoint) == shown


def test_a_chain_by_its_name() -> None:
    assert isinstance(open_chain("eth-tester"), EmbeddedChain)


# --------------------------------------------------------------------------------------------------------------- anvil


def test_anvil_ends_with_its_chain() -> None:
    with AnvilChain() as chain:
        endpoint = chain.endpoint
        assert isinstance(connect(endpoint).chain_id, int)

    with pytest.raises(errors.Unreachable):
        connect(endpoint)


def test_a_node_that_goes_away_is_unreachable() -> None:
    with AnvilChain() as chain:
        chain.close()

        with pytest.raises(errors.Unreachable):
            chain.now()


def test_a_missing_anvil_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("forcemove.chain.anvil.CONTRACTS", tmp_path)

    with pytest.raises(errors.AnvilMissing):
        find_anvil()


def test_an_anvil_that_does_not_start_says_why(tmp_path: Path) -> None:
    broken = tmp_path / "anvil"
    broken.write_text("#!/bin/sh\necho out of luck\n")

    with pytest.raises(errors.AnvilFailed, match="Permission denied"):
        AnvilChain(binary=str(broken))
    broken.chmod(0o700)
    with pytest.raises(errors.AnvilFailed, match="out of luck"):
        AnvilChain(binary=str(broken))
