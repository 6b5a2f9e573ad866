"""Whatever an endpoint does to a connection, a request ends in its time, in bounded memory, with a typed error."""

from __future__ import annotations

import sys
import time
import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest

from forcemove.chain.errors import EndpointFailed, NodeBusy, NotAnEthereumEndpoint, Unreachable
from forcemove.chain.local import connect
from tests.liars.misbehaviour import MISBEHAVIOUR, SLOW
from tests.liars.proxy import Misbehaves, lying

CHAIN_ID = 31_337
SECONDS = 0.6
FAILURES = (Unreachable, NotAnEthereumEndpoint, EndpointFailed, NodeBusy)
MOST_MEMORY = 80 * 2**20


def misbehave(name: str) -> Any:
    def tell(*_: object) -> Any:
        raise Misbehaves(MISBEHAVIOUR[name])

    return tell


@pytest.mark.parametrize("name", MISBEHAVIOUR)
def test_a_request_ends_in_its_time(name: str) -> None:
    """Hole 26."""
    with lying("", misbehave(name)) as url, connect(url, expected_chain_id=CHAIN_ID, timeout=SECONDS) as chain:
        began = time.monotonic()
        with pytest.raises(FAILURES):
            chain.block_number()
        took = time.monotonic() - began
    assert took < (SECONDS + 5 if name in SLOW else 20)


@pytest.mark.parametrize("name", [each for each in MISBEHAVIOUR if each not in SLOW])
def test_memory_is_bounded(name: str) -> None:
    with lying("", misbehave(name)) as url, connect(url, expected_chain_id=CHAIN_ID) as chain:
        with pytest.raises(FAILURES):
            chain.block_number()  # what the liar itself prepares is kept
        tracemalloc.start()
        try:
            with pytest.raises(FAILURES):
                chain.block_number()
            assert tracemalloc.get_traced_memory()[1] < MOST_MEMORY
        finally:
            tracemalloc.stop()


@pytest.fixture
def recursion_limit() -> Iterator[None]:
    """As Python sets it: without a bound of our own the parser would raise, and not end the process."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(1_000)
    yield
    sys.setrecursionlimit(before)


@pytest.mark.usefixtures("recursion_limit")
@pytest.mark.parametrize("name", ["nested", "nested in an answer"])
def test_brackets_are_told_without_being_read(name: str) -> None:
    """Hole 26: where Python's recursion limit was raised the parser ended the process."""
    with lying("", misbehave(name)) as url, pytest.raises(NotAnEthereumEndpoint, match="deeper"):
        connect(url)


def test_what_is_packed_is_not_read() -> None:
    with lying("", misbehave("gzip bomb")) as url, pytest.raises(NotAnEthereumEndpoint, match="packed"):
        connect(url)


def test_a_range_of_logs_that_is_too_large_is_halved() -> None:
    """An honest node may have more to say of a range than is read."""
    asked: list[tuple[int, int]] = []

    def tell(_: object, __: str, request: Any) -> Any:
        asked.append((int(request["fromBlock"], 16), int(request["toBlock"], 16)))
        return [" " * 17 * 2**20] if asked[-1][1] - asked[-1][0] > 4 else []

    with lying("", tell) as url:
        chain = connect(url, expected_chain_id=CHAIN_ID)
        chain.rpc._identified_until = float("inf")  # the liar has no other answer
        assert chain.logs(bytes(20), (), 0, 9) == []
    assert asked == [(0, 9), (0, 4), (5, 9)]
