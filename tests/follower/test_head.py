"""The head as a client knows it."""

from __future__ import annotations

import pytest

from forcemove.chain.asking import ask_now
from forcemove.chain.chain import Call
from forcemove.chain.errors import EndpointFailed
from forcemove.chain.local import EmbeddedChain, local_keys
from forcemove.follower.head import read_head


@pytest.fixture(scope="module")
def chain() -> EmbeddedChain:
    return EmbeddedChain()


def mine(chain: EmbeddedChain) -> None:
    chain.send(Call(local_keys()[1].address, b"", 0), local_keys()[0])


def test_the_head_is_the_newest_block_and_the_time_of_the_next(chain: EmbeddedChain) -> None:
    mine(chain)
    head = ask_now(chain.rpc, read_head(chain))
    assert (head.number, head.hash) == (chain.block_number(), chain.block_hash(chain.block_number()))
    assert head.next_time == chain.next_time() > chain.now()


def test_a_node_without_pending_blocks_gives_the_time_of_the_newest(
    chain: EmbeddedChain, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask = chain.rpc.ask

    def without_pending(method: str, *params: object) -> object:
        if "pending" in params:
            raise EndpointFailed(method, "there is no block pending")
        return ask(method, *params)

    monkeypatch.setattr(chain.rpc, "ask", without_pending)
    assert ask_now(chain.rpc, read_head(chain)).next_time == chain.now()
