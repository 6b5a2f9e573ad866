"""An endpoint that fails, lags, leaves out logs or forgets transactions costs a tower time, and no answer: row 43 of
the list of attacks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec import structs

from forcemove.chain import codec
from forcemove.chain.errors import EndpointFailed, Unreachable
from forcemove.chain.rpc import Reverted
from forcemove.follower.errors import BehindItself, LogsLeftOut
from forcemove.protocol.hashing import keccak256
from forcemove.protocol.words import Status
from forcemove.workers.outbox import JournalledTxStore
from forcemove_games.tic_tac_toe import GAME
from tests.scenarios.story import ALICE, Playground, Story
from tests.simulation.chain import MemoryChain
from tests.simulation.faults import Endpoint
from tests.watchtower.keeper import ETHER, Keeper, newest, stale

Make = Callable[[int], "Watch"]


class Watch:
    """A tower that asks these endpoints of one node."""

    def __init__(self, story: Story, folder: Path, count: int) -> None:
        node = story.chain.node  # type: ignore[attr-defined]
        self.endpoints = [Endpoint(node, f"memory {number}") for number in range(count)]
        self.keeper = Keeper.of(story, folder, *(MemoryChain(each) for each in self.endpoints))
        self.keeper.give_newest(story)

    def poll(self, times: int = 20) -> None:
        for _ in range(times):
            self.keeper.tower.poll()


@pytest.fixture
def story() -> Story:
    made = Playground.on(MemoryChain()).story(GAME)
    made.play_until(6)
    return made


@pytest.fixture
def make(story: Story, tmp_path: Path) -> Iterator[Make]:
    made: list[Watch] = []

    def watch(count: int) -> Watch:
        made.append(Watch(story, tmp_path, count))
        return made[-1]

    yield watch
    for each in made:
        each.keeper.close()


def test_threat_56_a_challenge_whose_log_is_left_out_is_answered(story: Story, make: Make) -> None:
    """Hole 29: the status alone shows it."""
    watch = make(1)
    watch.endpoints[0].replace("eth_getLogs", lambda _: [])
    story.challenge(1, *stale(story))
    watch.poll(2)
    assert LogsLeftOut in {type(each) for each in watch.keeper.troubles}
    assert story.record == (6, False)


def test_threat_43_another_endpoint_shows_what_the_first_leaves_out(story: Story, make: Make) -> None:
    watch = make(2)
    watch.endpoints[0].replace("eth_getLogs", lambda _: [])
    story.challenge(1, *stale(story))
    watch.poll(4)
    assert story.record == (6, False)


@pytest.mark.parametrize("number", [0, 1])
def test_threat_43_an_endpoint_that_is_away_is_passed_by(story: Story, make: Make, number: int) -> None:
    watch = make(2)
    watch.endpoints[number].answer = _away
    story.challenge(1, *stale(story))
    watch.poll(6)
    assert story.record == (6, False)


@pytest.mark.parametrize("method", ["eth_sendRawTransaction", "eth_estimateGas", "eth_getTransactionReceipt"])
def test_threat_43_an_endpoint_that_takes_no_transactions_is_passed_by(story: Story, make: Make, method: str) -> None:
    watch = make(2)
    endpoint = watch.endpoints[0]
    endpoint.answer = _refusing(endpoint, method)
    story.challenge(1, *stale(story))
    watch.poll(8)
    assert story.record == (6, False)
    assert watch.keeper.sent == 1
    assert 0 < watch.keeper.tower.left(ALICE.address) < ETHER


def test_threat_43_an_endpoint_that_forgets_what_it_was_sent_is_sent_it_again(story: Story, make: Make) -> None:
    watch, node = make(1), story.chain.node  # type: ignore[attr-defined]
    story.challenge(1, *stale(story))
    node.is_mining = False
    watch.poll(1)
    node.waiting.clear()
    watch.poll(1)
    node.is_mining = True
    node.mine()
    watch.poll(2)
    assert story.record == (6, False)
    assert watch.keeper.sent == 1


def test_threat_43_an_endpoint_that_lags_is_not_believed(story: Story, make: Make) -> None:
    """It shows the chain as it was before the challenge, and then as it is."""
    watch, node = make(1), story.chain.node  # type: ignore[attr-defined]
    story.challenge(1, *stale(story))
    story.mine(2)
    watch.keeper.rest()
    challenged_at = len(node.blocks) - 1
    watch.endpoints[0].answer = _lagging(watch.endpoints[0], challenged_at - 3)
    watch.poll(2)
    assert BehindItself in {type(each) for each in watch.keeper.troubles}
    watch.endpoints[0].be_honest()
    watch.poll(2)
    assert story.record == (6, False)


def test_threat_54_a_clock_that_one_endpoint_invents_costs_no_more_than_an_answer(
    story: Story, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would be over in a few blocks, which do not take the answer; then all that an answer may cost was offered."""
    seconds, clock = [0.0], SimpleNamespace(time=lambda: seconds[0], monotonic=lambda: seconds[0])
    monkeypatch.setattr("forcemove.sender.sender.time", clock)
    watch, node = make(2), story.chain.node  # type: ignore[attr-defined]
    watch.poll(2)
    ends, asked = story.chain.now() + 40, "0x" + codec.function("wordsOf").selector.hex()

    def answer(method: str, *params: Any) -> Any:
        if method != "eth_call" or not params[0]["data"].startswith(asked):
            return node.ask(method, *params)
        count = (len(params[0]["data"]) - len(asked)) // 64 - 2
        words = [32, count, *[Status(3, ends, 1).pack()] * count]
        return "0x" + b"".join(each.to_bytes(32) for each in words).hex()

    watch.endpoints[1].answer, node.is_mining = answer, False
    monkeypatch.setattr(node, "_take", lambda: ())
    for _ in range(5):
        watch.poll(3)
        seconds[0] += 12
        watch.keeper.now += 12
        node.next_time += 12
        node.mine()
    (pending,) = JournalledTxStore(watch.keeper.journal, watch.keeper.tower._name).all()
    assert pending.newest.max_fee <= 3 * pending.versions[0].max_fee


@pytest.mark.parametrize("seed", range(10))
def test_threat_43_an_endpoint_that_often_fails_costs_time_only(story: Story, make: Make, seed: int) -> None:
    """Before a request is carried out, or after it."""
    watch, random = make(1), Random(seed)
    honest = watch.endpoints[0].answer

    def often_failing(method: str, *params: Any) -> Any:
        if random.random() < 0.15:
            raise Unreachable("memory", "before")
        found = honest(method, *params)
        if random.random() < 0.15:
            raise Unreachable("memory", "after")
        return found

    watch.endpoints[0].answer = often_failing
    story.challenge(1, *stale(story))
    before = story.chain.balance(watch.keeper.key.address)
    watch.poll(60)
    assert story.record == (6, False)
    watch.endpoints[0].be_honest()
    watch.poll(3)
    cost = before - story.chain.balance(watch.keeper.key.address)
    assert 0 < cost == ETHER - watch.keeper.tower.left(ALICE.address)
    assert watch.keeper.sent == 1


def test_a_client_that_says_wrongly_where_its_logs_begin_is_defended(story: Story, tmp_path: Path) -> None:
    keeper = Keeper.of(story, tmp_path)
    story.challenge(1, *stale(story))
    story.mine(5)
    keeper.give(structs.replace(newest(story), from_block=story.chain.block_number() + 100))
    story.mine()
    keeper.rest()
    story.mine()
    keeper.rest()
    assert story.record == (6, False)
    keeper.close()


def test_a_tower_costs_the_same_requests_for_many_channels(tmp_path: Path) -> None:
    playground = Playground.on(MemoryChain())
    stories = [playground.story(GAME) for _ in range(8)]
    for each in stories:
        each.play_until(4)
    counts = []
    for count in (1, 8):
        endpoint = Endpoint(playground.chain.node)  # type: ignore[attr-defined]
        keeper = Keeper.of(stories[0], tmp_path, MemoryChain(endpoint), name=str(count))
        for each in stories[:count]:
            keeper.give_newest(each)
        keeper.rest()
        stories[0].mine()
        endpoint.counts.clear()
        keeper.tower.poll()
        counts.append(dict(endpoint.counts))
        keeper.close()
    assert counts[0] == counts[1]
    assert sum(counts[0].values()) <= 4


def _away(method: str, *params: object) -> object:
    raise Unreachable("memory", "nobody is there")


def _refusing(endpoint: Endpoint, refused: str) -> Callable[..., object]:
    def answer(method: str, *params: object) -> object:
        if method == refused:
            raise Unreachable("memory", "not now") if method.startswith("eth_send") else EndpointFailed(method, "no")
        return endpoint.node.ask(method, *params)

    return answer


def _lagging(endpoint: Endpoint, height: int) -> Callable[..., object]:
    def answer(method: str, *params: object) -> object:
        if method == "eth_getBlockByNumber" and params[0] == "latest":
            return endpoint.node.ask(method, hex(height), False)
        return endpoint.node.ask(method, *params)

    return answer


def test_threat_43_an_endpoint_that_says_that_an_answer_would_fail_is_passed_by(story: Story, make: Make) -> None:
    """It is behind the one that the challenge was read from, or it lies."""
    watch = make(2)
    endpoint = watch.endpoints[0]

    def behind(method: str, *params: Any) -> Any:
        if method == "eth_call" and params[1] == "pending":
            raise Reverted(keccak256(b"NoChallenge(bytes32)")[:4] + bytes(32))
        return endpoint.node.ask(method, *params)

    endpoint.answer = behind
    story.challenge(1, *stale(story))
    watch.poll(4)
    story.mine()
    watch.poll(4)
    assert story.record == (6, False)
    assert [type(each.error) for each in watch.keeper.told] == [type(None)]
