"""An endpoint's estimate advises; our own table decides: hole 51."""

from __future__ import annotations

from typing import Any

import pytest

from forcemove import ForcemoveError, local_keys
from forcemove.chain.chain import Chain
from forcemove.chain.errors import CallRefused, EndpointFailed, Unreachable
from forcemove.chain.prices import MAX_TX_GAS
from forcemove.sender.sender import Sender
from forcemove.sender.transactions import Confirmed, TxFailed, TxOutcome, TxRequest
from tests.chain.world import place
from tests.simulation.chain import MemoryChain
from tests.simulation.faults import Endpoint
from tests.simulation.tx_store import MemoryTxStore

KEY, PAYEE = local_keys()[0], local_keys()[2]
ROW, ETHER = 50_000, 10**18


class Estimating(MemoryChain):
    """With the estimates of a node."""

    gas_for = Chain.gas_for


class Desk:
    """A sender with one endpoint, whose estimates fail as `failure` says."""

    def __init__(self, failure: ForcemoveError | None = None) -> None:
        self.chain, self.kept = MemoryChain(), MemoryTxStore()
        self.asked: list[int] = []
        self.outcomes: list[TxOutcome] = []
        endpoint = Endpoint(self.chain.node)

        def answer(method: str, *params: Any) -> Any:
            if method == "eth_estimateGas":
                self.asked.append(int(params[0]["gas"], 16))
                if failure is not None:
                    raise failure
            return self.chain.node.ask(method, *params)

        endpoint.answer = answer
        self.sender = Sender(Estimating(endpoint), KEY, self.kept)

    def send(self, to: bytes = PAYEE.address, gas: int | None = ROW) -> None:
        self.chain.node.is_mining = False
        self.sender.submit(TxRequest(b"conclude", to, b"", 0, ETHER, gas=gas))
        for _ in range(2):
            self.outcomes += self.sender.look()
            self.chain.node.mine()


@pytest.mark.parametrize(("row", "most"), [(ROW, ROW * 3 // 2), (MAX_TX_GAS, MAX_TX_GAS), (None, MAX_TX_GAS)])
def test_hole_51_an_estimate_is_asked_for_within_what_a_transaction_may_have(row: int | None, most: int) -> None:
    """Hardhat 2 begins with a whole block's gas, and refuses that itself."""
    desk = Desk()
    desk.send(gas=row)
    assert desk.asked == [most]


@pytest.mark.parametrize("failure", [EndpointFailed("eth_estimateGas", "no"), Unreachable("memory", "it hangs")])
def test_hole_51_what_no_endpoint_estimates_is_sent_by_our_own_row(failure: ForcemoveError) -> None:
    """It concludes or pays out, and nothing hurries: it used to wait until an estimate came."""
    desk = Desk(failure)
    desk.send()
    assert [type(each) for each in desk.outcomes] == [Confirmed]
    (mined,) = desk.chain.node.blocks[-2].transactions
    assert mined.gas == ROW * 3 // 2


def test_hole_51_what_the_chain_itself_refuses_is_not_sent() -> None:
    desk = Desk(EndpointFailed("eth_estimateGas", "no"))
    desk.send(to=place(desk.chain, bytes.fromhex("60006000fd")))
    (failed,) = desk.outcomes
    assert isinstance(failed, TxFailed)
    assert isinstance(failed.error, CallRefused)
    assert desk.kept.all() == []
