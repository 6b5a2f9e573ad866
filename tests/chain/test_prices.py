"""Which fork's prices a chain has, by asking it, and the table against what was measured."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from forcemove import EmbeddedChain
from forcemove.chain import errors
from forcemove.chain.chain import Chain
from forcemove.chain.local import AnvilChain
from forcemove.chain.prices import AMSTERDAM, OSAKA, Prices, dearest, prices_by_slot
from forcemove.chain.rpc import Reverted
from scripts.measuring.bench import chain_of_fork
from tests.simulation.chain import MemoryChain
from tests.simulation.faults import Endpoint

GAS = Path(__file__).parents[1] / "gas"
ROOM = 1.01
"""What the table says of a small channel is no more than this many times what was measured."""


@pytest.fixture(scope="module")
def amsterdam() -> Iterator[Chain]:
    with chain_of_fork("amsterdam") as chain:
        yield chain


def test_each_chain_says_which_prices_it_has(anvil: AnvilChain, amsterdam: Chain) -> None:
    for chain in (MemoryChain(), EmbeddedChain(), anvil):
        assert chain.ask_prices() == chain.prices == OSAKA
    assert amsterdam.prices == OSAKA
    assert amsterdam.ask_prices() == amsterdam.prices == AMSTERDAM


def test_an_anvil_of_an_older_fork_has_the_prices_of_osaka() -> None:
    with AnvilChain("--hardfork", "cancun") as chain:
        assert chain.ask_prices() == OSAKA


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Seconds of the clock, which the test moves."""
    found = [10_000.0]
    monkeypatch.setattr("forcemove.chain.reading.time.monotonic", lambda: found[0])
    return found


def test_a_chain_is_asked_again_after_ten_minutes_since_a_fork_may_have_come(now: list[float]) -> None:
    asked = Endpoint(MemoryChain().node)
    chain = MemoryChain(asked)
    for _ in range(3):
        assert chain.ask_prices() == OSAKA
    assert asked.counts["eth_call"] == 1
    asked.replace("eth_call", lambda _: (100_000).to_bytes(32))
    assert chain.ask_prices() == OSAKA
    now[0] += 601
    assert chain.ask_prices() == AMSTERDAM
    assert asked.counts["eth_call"] == 2


def failing(error: Exception) -> Callable[[Any], Any]:
    def fail(_: Any) -> Any:
        raise error

    return fail


@pytest.mark.parametrize("error", [errors.EndpointFailed("eth_call", "no creation"), Reverted(b"")])
def test_a_node_that_cannot_say_changes_nothing(now: list[float], error: Exception) -> None:
    asked = Endpoint(MemoryChain().node)
    chain = MemoryChain(asked)
    asked.replace("eth_call", lambda _: (100_000).to_bytes(32))
    assert chain.ask_prices() == AMSTERDAM
    asked.replace("eth_call", failing(error))
    now[0] += 601
    assert chain.ask_prices() == AMSTERDAM


@pytest.mark.parametrize("answer", [b"", bytes(20), b"\xff" * 20, bytes(32), b"\xff" * 32, b"\xff" * 10_000])
def test_what_the_code_cannot_have_returned_changes_nothing(answer: bytes) -> None:
    asked = Endpoint(MemoryChain().node)
    asked.replace("eth_call", lambda _: answer)
    assert MemoryChain(asked).ask_prices() == OSAKA
    assert prices_by_slot(answer) is None


def test_one_endpoint_that_says_that_slots_are_dear_is_enough() -> None:
    assert dearest([OSAKA, AMSTERDAM, OSAKA]) == AMSTERDAM
    assert dearest([OSAKA]) == dearest([]) == OSAKA
    assert prices_by_slot((22_108).to_bytes(32)) == OSAKA
    assert prices_by_slot((97_920).to_bytes(32)) == AMSTERDAM


@pytest.mark.parametrize(
    ("prices", "snapshot", "ending"), [(OSAKA, "snapshot.json", ""), (AMSTERDAM, "amsterdam.json", "_amsterdam_gas")]
)
def test_the_table_says_what_was_measured(prices: Prices, snapshot: str, ending: str) -> None:
    rows = json.loads((GAS / snapshot).read_text("utf-8"))["rows"]
    said = {
        "deposit_first": prices.usual_deposit,
        "conclude_and_pay": prices.usual_conclude,
        "challenge_two_states": prices.usual_dispute,
    }
    for name, gas in said.items():
        measured = rows[f"{name}{ending}"]["value"]
        assert measured <= gas <= ROOM * measured
