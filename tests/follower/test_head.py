"""The head as a client knows it: when it is read, and when what was read will do."""

from __future__ import annotations

import pytest

from forcemove.chain.chain import Call
from forcemove.chain.errors import EndpointFailed
from forcemove.chain.local import EmbeddedChain, local_keys
from forcemove.follower.head import HeadReader, read_head


class Watch:
    """A clock to be moved by hand."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(scope="module")
def chain() -> EmbeddedChain:
    return EmbeddedChain()


def mine(chain: EmbeddedChain) -> None:
    chain.send(Call(local_keys()[1].address, b"", 0), local_keys()[0])


def test_the_head_is_the_newest_block_and_the_time_of_the_next(chain: EmbeddedChain) -> None:
    mine(chain)
    head = read_head(chain)
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
    assert read_head(chain).next_time == chain.now()


def test_what_is_fresh_is_not_read_again(chain: EmbeddedChain) -> None:
    watch = Watch()
    reader = HeadReader(watch)
    first = reader.read(chain)
    mine(chain)
    watch.now += 0.9
    assert reader.read(chain) is first
    assert reader.last_time == first.next_time


@pytest.mark.parametrize("seconds", [1.0, 3600.0, -0.1])
def test_after_a_second_and_where_the_clock_jumps_it_is_read_again(chain: EmbeddedChain, seconds: float) -> None:
    watch = Watch()
    reader = HeadReader(watch)
    first = reader.read(chain)
    mine(chain)
    watch.now += seconds
    assert reader.read(chain).number == first.number + 1


def test_what_has_expired_is_read_again_and_still_known(chain: EmbeddedChain) -> None:
    reader = HeadReader(Watch())
    assert reader.last_time == 0
    first = reader.read(chain)
    mine(chain)
    reader.expire()
    assert reader.last_time == first.next_time
    assert reader.read(chain).number == first.number + 1
    assert reader.last_time > first.next_time


def test_a_head_that_cannot_be_read_anew_is_not_replaced_by_an_old_one(
    chain: EmbeddedChain, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = HeadReader(Watch())
    first = reader.read(chain)

    def fails(method: str, *_: object) -> object:
        raise EndpointFailed(method, "no")

    monkeypatch.setattr(chain.rpc, "ask", fails)
    reader.expire()
    for _ in range(2):
        with pytest.raises(EndpointFailed):
            reader.read(chain)
    assert reader.last_time == first.next_time
