"""What an endpoint is asked to form an opinion, and what of its answers makes none. Rows 54 and 55 of the list of
attacks."""

from __future__ import annotations

from typing import Any

import pytest

from forcemove.chain.errors import NotAnEthereumEndpoint, Unreachable
from forcemove.chain.limits import seconds_left
from forcemove.chain.local import local_keys
from forcemove.chain.reverts import NO_ERRORS
from forcemove.sender.opinions import Observer, Question, form_opinion
from forcemove.sender.transactions import TxRequest
from tests.simulation.chain import MemoryChain
from tests.simulation.faults import Endpoint

ACCOUNT = local_keys()[0].address
WANTED = [TxRequest(name, bytes(20), b"", 0, 10**18, gas=21_000) for name in (b"one", b"two", b"three")]
QUESTION = Question(ACCOUNT, Observer(), (), WANTED, 1, NO_ERRORS)


def endpoint() -> Endpoint:
    return Endpoint(MemoryChain().node)


@pytest.mark.parametrize("number", [2**48 + 1, 2**64, 2**255])
def test_threat_54_what_no_chain_counts_to_is_no_opinion(number: int) -> None:
    asked = endpoint()
    chain = MemoryChain(asked)
    asked.replace("eth_getTransactionCount", lambda _: number)
    with pytest.raises(NotAnEthereumEndpoint):
        form_opinion(chain, QUESTION)


def test_threat_55_all_requests_for_an_opinion_share_its_time() -> None:
    asked, left = endpoint(), list[float]()
    chain, honest = MemoryChain(asked), asked.answer

    def answer(method: str, *params: Any) -> Any:
        left.append(seconds_left(asked))
        return honest(method, *params)

    asked.answer = answer
    form_opinion(chain, QUESTION)
    assert 0 < min(left) <= max(left) <= 15


def test_threat_55_who_has_failed_at_one_transaction_is_asked_about_no_other() -> None:
    asked = endpoint()
    chain, honest = MemoryChain(asked), asked.answer

    def answer(method: str, *params: Any) -> Any:
        if method == "eth_call":
            raise Unreachable("memory", "too long")
        return honest(method, *params)

    asked.answer = answer
    opinion = form_opinion(chain, QUESTION)
    assert {type(each) for each in opinion.gas.values()} == {Unreachable}
    assert (len(opinion.gas), asked.counts["eth_call"]) == (3, 2)  # the estimate, and the call alone
