"""What an endpoint is asked to form an opinion, and what of its answers makes none. Rows 54 and 55 of the list of
attacks."""

from __future__ import annotations

from typing import Any

import pytest

from forcemove.chain import asking, errors, local, reverts
from forcemove.sender.observations import Observer, Question, TxStatus
from forcemove.sender.opinions import Opinion, form_opinion
from forcemove.sender.transactions import PendingTx, TxRequest, Version
from tests.simulation.chain import MemoryChain
from tests.simulation.faults import Endpoint

ACCOUNT = local.local_keys()[0].address
WANTED = [TxRequest(name, bytes(20), b"", 0, 10**18, gas=21_000) for name in (b"one", b"two", b"three")]
QUESTION = Question(ACCOUNT, (), WANTED, 1, reverts.NO_ERRORS, 40)


def ask(chain: MemoryChain) -> Opinion:
    return asking.ask_now(chain.rpc, form_opinion(chain, QUESTION, Observer()))


def endpoint() -> Endpoint:
    return Endpoint(MemoryChain().node)


@pytest.mark.parametrize("number", [2**48 + 1, 2**64, 2**255])
def test_threat_54_what_no_chain_counts_to_is_no_opinion(number: int) -> None:
    asked = endpoint()
    chain = MemoryChain(asked)
    asked.replace("eth_getTransactionCount", lambda _: number)
    with pytest.raises(errors.NotAnEthereumEndpoint):
        ask(chain)


def test_threat_55_who_has_failed_at_one_transaction_is_asked_about_no_other() -> None:
    asked = endpoint()
    chain, honest = MemoryChain(asked), asked.answer

    def answer(method: str, *params: Any) -> Any:
        if method == "eth_call":
            raise errors.Unreachable("memory", "too long")
        return honest(method, *params)

    asked.answer = answer
    opinion = ask(chain)
    assert {type(each) for each in opinion.gas.values()} == {errors.Unreachable}
    assert (len(opinion.gas), asked.counts["eth_call"]) == (3, 2)  # the estimate, and the call alone


def test_threat_55_what_an_endpoint_has_said_before_it_fails_counts() -> None:
    asked = endpoint()
    chain, honest = MemoryChain(asked), asked.answer
    versions = [Version(bytes([nonce]) * 32, b"", 1, 1, False, 0) for nonce in range(3)]
    pending = [(PendingTx(WANTED[0], nonce, 21_000, 0, (each,)), None) for nonce, each in enumerate(versions)]

    def answer(method: str, *params: Any) -> Any:
        if method == "eth_getTransactionReceipt":
            if asked.counts[method] > 2:
                raise errors.Unreachable("memory", "too long")
            gas = {"gasUsed": 21_000, "effectiveGasPrice": 1, "status": 1, "logs": []}
            return {"transactionHash": params[0], "blockNumber": 0, "blockHash": bytes(32), **gas}
        return 3 if method == "eth_getTransactionCount" else honest(method, *params)

    asked.answer = answer
    question = Question(ACCOUNT, pending, (), 1, reverts.NO_ERRORS, 40)
    opinion = asking.ask_now(chain.rpc, form_opinion(chain, question, Observer()))
    shown = [opinion.shows(nonce) for nonce in range(3)]
    assert shown == [TxStatus.MINED, TxStatus.MINED, TxStatus.UNCLEAR]
    assert opinion.failure is None
