"""Many answers at once, through an endpoint that takes its time for each request: hole 41. Time is virtual."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest

from forcemove import PassingError, local_keys
from forcemove.chain.errors import EndpointFailed, Unreachable
from forcemove.sender.sender import Sender
from forcemove.sender.transactions import Confirmed, TxOutcome, TxRequest
from tests.simulation.chain import MemoryChain
from tests.simulation.faults import Endpoint
from tests.simulation.node import MemoryNode
from tests.simulation.tx_store import MemoryTxStore

KEY, PAYEE = local_keys()[0], local_keys()[2]
ETHER, PATIENCE, BLOCK = 10**18, 60, 2
ENOUGH = 400


class SlowEndpoint(Endpoint):
    """Takes `seconds` for each request. A block is mined every two seconds."""

    def __init__(self, node: MemoryNode, seconds: float) -> None:
        super().__init__(node)
        self.seconds, self.now, self.end = seconds, 0.0, float("inf")
        self.began = self.mined_at = node.next_time

    @contextmanager
    def deadline(self, seconds: float) -> Iterator[None]:
        end, self.end = self.end, min(self.end, self.now + seconds)
        try:
            yield
        finally:
            self.end = end

    def request(self, method: str, *params: Any) -> Any:
        return self.ask(method, *params)

    def ask(self, method: str, *params: Any) -> Any:
        if self.now >= self.end:
            raise Unreachable(self.endpoint, "too late")
        self.wait(self.seconds)
        return super().ask(method, *params)

    def wait(self, seconds: float) -> None:
        self.now += seconds
        while self.node.next_time + BLOCK <= self.began + self.now:
            self.node.next_time += BLOCK - 1
            self.node.mine()


class Crowd:
    """A sender that is asked for many answers. `requests`: what each look has asked, by method."""

    def __init__(self, seconds: float, **options: Any) -> None:
        self.options = {"bump_after": PATIENCE} | options
        self.node = MemoryChain().node
        self.node.is_mining = False
        self.endpoint = SlowEndpoint(self.node, seconds)
        self.kept = MemoryTxStore()
        self.outcomes: list[TxOutcome] = []
        self.looks: list[Counter[str]] = []
        self.restart()

    def restart(self) -> None:
        chain = MemoryChain(self.endpoint)
        self.sender = Sender(chain, KEY, self.kept, clock=lambda: self.endpoint.now, **self.options)

    def want(self, number: int, seconds: int | None = None) -> None:
        deadline = None if seconds is None else int(self.endpoint.began + self.endpoint.now) + seconds
        name = b"%d" % number
        self.sender.submit(TxRequest(name, PAYEE.address, name, 0, ETHER // 100, deadline, gas=50_000))

    def send_off(self, count: int, seconds: float) -> None:
        """So many transactions are mined before another process looks for them, more slowly."""
        for number in range(count):
            self.want(number)
        while len(self.kept.all()) < count:
            self.look(pause=0)
        self.endpoint.wait(BLOCK)
        self.endpoint.seconds = seconds
        self.restart()

    def look(self, pause: int = 1) -> None:
        before = Counter(self.endpoint.counts)
        with suppress(PassingError):
            self.outcomes += self.sender.look()
        self.looks.append(Counter(self.endpoint.counts) - before)
        self.endpoint.wait(pause)

    def look_until_idle(self) -> None:
        for _ in range(ENOUGH):
            self.look()
            if self.sender.is_idle:
                return
        raise AssertionError("it does not come to an end")

    @property
    def confirmed(self) -> set[bytes]:
        found = (each.request_id for each in self.outcomes if isinstance(each, Confirmed))
        return {each for each in found if isinstance(each, bytes)}

    def mined_at(self) -> list[float]:
        """When each of the answers was mined, in seconds."""
        return [
            block.time - self.endpoint.began
            for block in self.node.blocks
            for each in block.transactions
            if each.to == PAYEE.address
        ]


def test_hole_41_two_hundred_and_fifty_challenges_are_answered_in_time() -> None:
    """At a tenth of a second for each request; 69 of them used to be lost."""
    crowd, count = Crowd(0.1), 250
    for number in range(0, count, 25):
        for each in range(number, number + 25):
            crowd.want(each, 240)
        crowd.endpoint.wait(1)
    crowd.look_until_idle()
    assert len(crowd.confirmed) == count
    assert len(crowd.mined_at()) == count
    assert max(crowd.mined_at()) < 120
    assert sum(crowd.endpoint.counts.values()) <= 1_000
    assert max(each["eth_getTransactionReceipt"] for each in crowd.looks) <= 40
    assert max(each["eth_call"] for each in crowd.looks) <= 40
    assert max(sum(each.values()) for each in crowd.looks) <= 150


@pytest.mark.parametrize(("takes", "count", "seconds"), [(0.1, 1_000, 600), (1.0, 100, 240)])
def test_hole_41_a_thousand_challenges_and_a_slow_endpoint_cost_no_answer(
    takes: float, count: int, seconds: int
) -> None:
    crowd = Crowd(takes)
    for number in range(count):
        crowd.want(number, seconds)
    crowd.look_until_idle()
    assert len(crowd.confirmed) == len(crowd.mined_at()) == count
    assert max(crowd.mined_at()) < 0.75 * seconds


@pytest.mark.parametrize(("seconds", "count"), [(0.1, 200), (4.0, 20)])
def test_hole_41_what_a_look_has_no_time_for_is_done_by_the_next_ones(seconds: float, count: int) -> None:
    """More is on its way than a look can ask about: the sender used to do nothing more, over restarts."""
    crowd = Crowd(0.0)
    crowd.send_off(count, seconds)
    crowd.look_until_idle()
    assert len(crowd.confirmed) == count


def test_hole_41_an_answer_is_sent_at_once_though_much_is_to_be_asked() -> None:
    crowd = Crowd(0.0)
    crowd.send_off(100, 0.2)
    crowd.want(100, 240)
    crowd.look()
    assert crowd.kept.all()[-1].request.request_id == b"100"


def test_hole_41_broadcasts_for_which_there_is_no_time_are_made_by_the_next_look() -> None:
    crowd = Crowd(1.0)
    for number in range(40):
        crowd.want(number, 240)
    crowd.look()
    crowd.look()
    assert len(crowd.kept.all()) == 40
    assert 20 < len(crowd.node.waiting) + len(crowd.mined_at()) < 30
    crowd.look_until_idle()
    assert len(crowd.confirmed) == crowd.endpoint.counts["eth_sendRawTransaction"] == 40
    assert crowd.sender.take_errors() == []


def test_hole_41_a_receipt_is_asked_for_once_until_its_block_is_gone() -> None:
    crowd = Crowd(0.0, confirmations=20)
    crowd.want(1)
    crowd.look(pause=BLOCK)
    height = len(crowd.node.blocks) - 2
    for _ in range(3):
        crowd.look(pause=BLOCK)
    assert crowd.endpoint.counts["eth_getTransactionReceipt"] == 1
    (gone,) = crowd.node.revert_to(height)
    crowd.node.waiting.append(gone)
    crowd.endpoint.wait(2 * BLOCK)
    for _ in range(3):
        crowd.look(pause=BLOCK)
    assert crowd.endpoint.counts["eth_getTransactionReceipt"] == 2


def test_hole_41_requests_that_cannot_be_sent_yet_keep_no_other_from_being_asked_about() -> None:
    crowd, honest = Crowd(0.0), MemoryNode.ask

    def refusing(method: str, *params: Any) -> Any:
        if method == "eth_call" and params[0]["data"] != "0x" + b"99".hex():
            raise EndpointFailed(method, "not now")
        return honest(crowd.node, method, *params)

    crowd.endpoint.answer = refusing
    for number in range(100):
        crowd.want(number)
    for _ in range(5):
        crowd.look()
    assert crowd.confirmed == {b"99"}
