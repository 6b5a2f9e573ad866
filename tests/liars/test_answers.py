"""What an endpoint answers is what was asked for, or it is that endpoint's failure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from forcemove import ETHER, Adjudicator, MalformedBytes, keccak256
from forcemove.chain import answers, chain, codec
from forcemove.chain.errors import EndpointFailed, NotAnEthereumEndpoint
from tests.chain.world import MINER, World, make_world
from tests.protocol.builders import BOB
from tests.simulation.chain import MemoryChain
from tests.simulation.faults import Endpoint


class Seen:
    """A world, and its adjudicator as an endpoint shows it that changes answers."""

    def __init__(self) -> None:
        self.world: World = make_world(MemoryChain())
        node = self.world.chain
        assert isinstance(node, MemoryChain)
        self.endpoint = Endpoint(node.node)
        self.chain = MemoryChain(self.endpoint)
        self.adjudicator = Adjudicator(self.chain, self.world.adjudicator.address)
        self.fixed = self.world.channel()
        self.world.fund(self.fixed)

    @property
    def id(self) -> bytes:
        return self.world.id_of(self.fixed)

    def logs(self, first: int = 0, last: int | None = None) -> int:
        """How many of the channel there are."""
        return len(self.adjudicator.logs(self.id, first, last))


@pytest.fixture
def seen() -> Seen:
    return Seen()


def changed(**fields: Any) -> Callable[[Any], Any]:
    """All of a list's objects, with these fields."""
    return lambda found: [{**each, **fields} for each in found]


def test_a_log_that_claims_all_bytes_there_are_is_the_endpoints_failure(seen: Seen) -> None:
    """Hole 25: Python cannot read this many at once, and raises OverflowError."""
    topics = [keccak256(b"ChallengeRegistered(bytes32,uint48,bytes)"), seen.id]
    data = b"".join(word.to_bytes(32) for word in (1, 64, 2**256 - 1))
    seen.endpoint.replace("eth_getLogs", changed(topics=topics, data=data))

    with pytest.raises(MalformedBytes):
        codec.decode_log(seen.chain.logs(seen.adjudicator.address, (), 0)[0])
    with pytest.raises(NotAnEthereumEndpoint):
        seen.logs()


@pytest.mark.parametrize(
    "fields",
    [
        {"address": BOB.address},
        {"topics": []},
        {"topics": [bytes(32)]},
        {"topics": [bytes(32), bytes(32)]},
        {"blockNumber": 2},
        {"blockNumber": 2**64},
        {"blockNumber": None},
        {"removed": True},
        {"blockHash": bytes(31)},
        {"data": "0x1"},
        {"data": None},
        {"logIndex": -1},
    ],
    ids=str,
)
def test_a_log_that_nobody_asked_for_is_the_endpoints_failure(seen: Seen, fields: dict[str, Any]) -> None:
    last = seen.chain.block_number()
    assert seen.logs(last, last) == 1
    seen.endpoint.replace("eth_getLogs", changed(**fields))

    with pytest.raises(NotAnEthereumEndpoint):
        seen.logs(last, last)


@pytest.mark.parametrize(
    "made_of", [lambda found: found[::-1], lambda found: found[:1] * 2, lambda _: {}, lambda _: "0x"]
)
def test_logs_come_in_their_order(seen: Seen, made_of: Callable[[Any], Any]) -> None:
    assert seen.logs() == 2
    seen.endpoint.replace("eth_getLogs", made_of)

    with pytest.raises(NotAnEthereumEndpoint):
        seen.logs()


def test_refusals_of_ranges_are_bounded(seen: Seen) -> None:
    """It refuses a range of blocks and takes the half of it, but then only a half of that, and so on."""

    def answer(method: str, *params: Any) -> Any:
        if seen.endpoint.counts[method] % 2:
            raise EndpointFailed(method, "too many blocks")
        return []

    seen.endpoint.answer = answer

    with pytest.raises(EndpointFailed):
        seen.logs(0, 2**200)
    assert seen.endpoint.counts["eth_getLogs"] <= 130


def test_a_range_is_halved_and_read_on_in_what_the_node_takes(seen: Seen) -> None:
    """A limit of a node is met some times, and not for each part of the range again."""
    before = seen.endpoint.answer

    def answer(method: str, *params: Any) -> Any:
        if method == "eth_getLogs" and int(params[0]["toBlock"], 16) - int(params[0]["fromBlock"], 16) >= 100:
            raise EndpointFailed(method, "at most 100 blocks")
        return before(method, *params)

    seen.endpoint.answer = answer
    assert seen.logs(0, 10_000) == 2
    assert seen.endpoint.counts["eth_getLogs"] < 150


def test_more_logs_than_are_read_at_once_are_refused(seen: Seen, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("forcemove.chain.reading._MOST_LOGS", 1)

    with pytest.raises(EndpointFailed):
        seen.logs()


@pytest.mark.parametrize(
    "fields",
    [
        {"transactionHash": bytes(32)},
        {"transactionHash": None},
        {"status": 2},
        {"status": None},
        {"blockNumber": 2**48},
        {"gasUsed": 2**64},
        {"effectiveGasPrice": 2**200},
        {"blockHash": b""},
        {"logs": None},
        {"contractAddress": "0x12"},
    ],
    ids=str,
)
def test_a_receipt_is_of_the_transaction_that_was_asked_about(seen: Seen, fields: dict[str, Any]) -> None:
    seen.endpoint.replace("eth_getTransactionReceipt", lambda found: {**found, **fields})

    with pytest.raises(NotAnEthereumEndpoint):
        seen.chain.send(chain.Call(BOB.address, b"", 1), MINER)


@pytest.mark.parametrize(
    "fields",
    [
        {"number": 0},
        {"number": None},
        {"hash": None},
        {"hash": bytes(31)},
        {"parentHash": "0x"},
        {"timestamp": 2**48},
        {"timestamp": "soon"},
        {"baseFeePerGas": 2**200},
    ],
    ids=str,
)
def test_a_header_is_of_the_block_that_was_asked_for(seen: Seen, fields: dict[str, Any]) -> None:
    number = seen.chain.block_number()
    newest = seen.chain.header()
    assert newest == seen.chain.header(number)
    assert newest == answers.BlockHeader(
        number, seen.chain.block_hash(number), seen.chain.block_hash(number - 1), seen.chain.now(), 10**9
    )
    seen.endpoint.replace("eth_getBlockByNumber", lambda found: {**found, **fields})

    with pytest.raises(NotAnEthereumEndpoint):
        seen.chain.header(number)


@pytest.mark.parametrize("data", [b"", bytes(32), bytes(64), bytes(96), bytes(128), b"\xff" * 96, b"\xff" * 4096])
def test_what_a_call_returns_is_of_its_types(seen: Seen, data: bytes) -> None:
    seen.endpoint.replace("eth_call", lambda _: data)

    for read in (
        lambda: seen.adjudicator.words([seen.id]),
        lambda: seen.adjudicator.holdings_of_list([(seen.id, ETHER, 0)] * 3),
    ):
        with pytest.raises(NotAnEthereumEndpoint):
            read()


@pytest.mark.parametrize("data", [b"", bytes(31)])
def test_a_word_is_whole(seen: Seen, data: bytes) -> None:
    seen.endpoint.replace("eth_call", lambda _: data)

    for read in (
        lambda: seen.adjudicator.status_of(seen.id, ETHER),
        lambda: seen.adjudicator.holdings_of(seen.id, ETHER, 0),
    ):
        with pytest.raises(NotAnEthereumEndpoint):
            read()
