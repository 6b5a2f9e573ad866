"""Several questions in one exchange: what an endpoint of HTTP makes of a batch, and what we make of that."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from forcemove import Chain, connect
from forcemove.chain import asking, errors, rpc
from tests.chain.server import CHAIN_ID, serving
from tests.chain.test_http import PAGE, Clock, clock

__all__ = ["clock"]

Said = tuple[int, bytes]
REFUSED = json.dumps({"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "too many"}}).encode()


class Node:
    """That answers each request with its first parameter. `most`: requests in a batch; `says`: what it says of a larger
    one. `exchanges`: how many requests each had, without those for the chain's id alone."""

    def __init__(self, most: int = 10**9, says: Callable[[], Said] = lambda: (200, REFUSED)) -> None:
        self.most, self.says = most, says
        self.chain_id = CHAIN_ID
        self.exchanges: list[int] = []
        self.answer_one: Callable[[str, Sequence[Any]], dict[str, Any]] = lambda _, params: {"result": params[0]}

    def answer(self, body: bytes) -> Said:
        asked = json.loads(body)
        requests = asked if isinstance(asked, list) else [asked]
        if [each["method"] for each in requests] == ["eth_chainId"]:
            return 200, json.dumps(self._said(asked)).encode()
        self.exchanges.append(len(requests))
        if len(requests) > self.most:
            return self.says()
        said = [self._said(each) for each in reversed(requests)]
        return 200, json.dumps(said if isinstance(asked, list) else said[0]).encode()

    def _said(self, request: dict[str, Any]) -> dict[str, Any]:
        is_id = request["method"] == "eth_chainId"
        said = {"result": hex(self.chain_id)} if is_id else self.answer_one(request["method"], request["params"])
        return {"jsonrpc": "2.0", "id": request["id"]} | said

    @contextmanager
    def chain(self) -> Iterator[Chain]:
        with serving(self.answer) as url, connect(url) as chain:
            self.exchanges.clear()
            yield chain


def ask(chain: Chain, count: int, method: str = "eth_getBalance", block: str = "pending") -> list[object]:
    def steps() -> asking.Steps[list[object]]:
        return list((yield [asking.RpcRequest(method, (number, block)) for number in range(count)]))

    return asking.ask_now(chain.rpc, steps())


def test_what_is_asked_together_goes_out_together_and_comes_back_in_any_order() -> None:
    node = Node()
    with node.chain() as chain:
        assert ask(chain, 120) == list(range(120))
        assert node.exchanges == [50, 50, 20]


@pytest.mark.parametrize(
    "said",
    [
        (200, REFUSED),
        (400, REFUSED),
        (413, REFUSED),
        (500, REFUSED),
        (200, b"[" + REFUSED + b"]"),
        (200, b"[" + REFUSED.replace(b"null", b"0") + b"]"),  # as geth has it
    ],
)
def test_what_is_too_much_is_halved_and_that_is_kept(said: Said) -> None:
    node = Node(12, lambda: said)
    with node.chain() as chain:
        assert ask(chain, 30) == list(range(30))
        assert node.exchanges == [30, 10, 10, 10]
        node.exchanges.clear()
        assert ask(chain, 8) == list(range(8))
        assert node.exchanges == [8]


def test_more_is_tried_again_after_twenty_batches() -> None:
    node = Node(12)
    with node.chain() as chain:
        ask(chain, 30)
        ask(chain, 24 * 10)
        node.most, before = 10**9, len(node.exchanges)
        ask(chain, 100 * 12)
        assert max(node.exchanges[before:]) > 12


@pytest.mark.parametrize(
    "says",
    [
        lambda: (200, PAGE),
        lambda: (403, PAGE),
        lambda: (200, b"[]"),
        lambda: (200, b"[1]"),
        lambda: (200, b'[{"id": [0]}, {"id": {}}]'),
    ],
)
def test_who_makes_no_sense_of_batches_is_asked_for_one_thing_at_a_time(says: Callable[[], Said]) -> None:
    node = Node(1, says)
    with node.chain() as chain:
        assert ask(chain, 10) == list(range(10))
        assert node.exchanges == [10] + [1] * 10


def test_who_closes_the_connection_on_a_batch_is_asked_for_one_thing_at_a_time() -> None:
    def says() -> Said:
        raise ConnectionError

    node = Node(1, says)
    with node.chain() as chain:
        found = ask(chain, 10)
        assert [type(each) for each in found] == [errors.Unreachable] * 10
        assert ask(chain, 10) == list(range(10))


def test_each_answer_has_its_own_error() -> None:
    said = [{"error": {"code": 3, "message": "execution reverted", "data": "0x1234"}}, {"result": None}]
    said += [{"error": {"code": -32000, "message": "no state"}}, {"error": "no"}, {}]
    node = Node()
    node.answer_one = lambda _, params: said[params[0]]
    with node.chain() as chain:
        reverted, nothing, failed, *senseless = ask(chain, 5, "eth_call", "latest")
    assert isinstance(reverted, rpc.Reverted)
    assert (reverted.data, nothing) == (b"\x12\x34", None)
    assert failed == errors.EndpointFailed("eth_call", "no state")
    assert [type(each) for each in senseless] == [errors.NotAnEthereumEndpoint] * 2


def test_what_is_refused_at_pending_alone_is_asked_for_at_latest() -> None:
    def answer(_: str, params: Sequence[Any]) -> dict[str, Any]:
        return {"error": {"code": -32602, "message": "no such tag"}} if "pending" in params else {"result": params[0]}

    node = Node()
    node.answer_one = answer
    with node.chain() as chain:
        assert ask(chain, 3) == [0, 1, 2]
        node.exchanges.clear()
        assert ask(chain, 3) == [0, 1, 2]
        assert node.exchanges == [3]


def test_a_batch_that_sends_goes_to_the_chain_that_is_expected() -> None:
    node = Node()
    with node.chain() as chain:
        ask(chain, 2)
        node.chain_id += 1
        found = ask(chain, 2, "eth_sendRawTransaction")
        assert [type(each) for each in found] == [errors.WrongChain] * 2
        assert node.exchanges == [2]


# ------------------------------------------------------------------------------------------------------------ metered


class Metered(Node):
    """Five requests a second, and five at once. `by_status`: refuses a whole exchange; else each request too much."""

    def __init__(self, clock: Clock, *, by_status: bool) -> None:
        super().__init__()
        self.clock, self.by_status = clock, by_status
        self.left, self.at, self.refused = 5.0, 0.0, 0
        self.answer_one = self.metered

    def answer(self, body: bytes) -> Said:
        asked = json.loads(body)
        if self.by_status and isinstance(asked, list) and len(asked) > self._filled():
            self.refused += 1
            return 429, PAGE
        return super().answer(body)

    def _filled(self) -> float:
        self.left, self.at = min(self.left + (self.clock.now - self.at) * 5, 5.0), self.clock.now
        return self.left

    def metered(self, _: str, params: Sequence[Any]) -> dict[str, Any]:
        if self._filled() < 1:
            self.refused += 1
            return {"error": {"code": 429, "message": "compute units per second exceeded"}}
        self.left -= 1
        return {"result": params[0]}


@pytest.mark.parametrize("by_status", [True, False])
def test_each_request_of_a_batch_counts(clock: Clock, *, by_status: bool) -> None:
    node = Metered(clock, by_status=by_status)
    with node.chain() as chain:
        found, left = list[object](), 60
        while left > 0 and clock.now < 60:
            found += (answers := [each for each in ask(chain, left) if not isinstance(each, errors.NodeBusy)])
            left -= len(answers)
            clock.now += 1
    assert len(found) == 60
    assert clock.now <= 40
    assert node.refused < 80  # most of the first batch, whose size nothing was known of
    assert max(node.exchanges[5:]) <= 20
