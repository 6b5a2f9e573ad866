"""A look is a cycle with a budget: what defends is shown within two, and each leaves less undone than the one before,
whatever there is of channels, blocks, logs and ends, and however slow the endpoint is. Holes 37, 42, 43 and 44."""

from __future__ import annotations

import tracemalloc
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from eth_abi.abi import encode

from forcemove.chain import chain, codec, errors, worker
from forcemove.errors import PassingError
from forcemove.follower import log_reader
from forcemove.follower.followed_channel import FollowedChannel
from forcemove.protocol.logs import Log
from forcemove.protocol.types import ETHER
from forcemove.protocol.words import Status
from tests.follower.paper import PaperNode, PaperReader, agreement

CHALLENGED = 20_000
"""The number of the channel that somebody challenges."""


def until(reader: PaperReader, is_so: Callable[[], bool], most: int = 10_000) -> int:
    """Look at most this many times until it is so. Returns how often."""
    for looks in range(most):
        if is_so():
            return looks
        reader.look()
    assert is_so()
    return most


def test_channels_that_end_together_hold_up_no_answer() -> None:
    """200 between two looks, then one is challenged; every question takes a tenth of a second."""
    node = PaperNode(1_000)
    reader = PaperReader(node)
    reader.follow(range(200), 980, payees=True)
    reader.follow([CHALLENGED], 980)
    until(reader, lambda: not any(reader.open))
    node.seconds = 0.1
    node.close(range(200))
    reader.look()
    id_, began = node.challenge(CHALLENGED), node.time
    reader.look()
    assert reader.shows_clock(id_)
    assert node.time - began < 6
    until(reader, lambda: not any(reader.open), most=6)
    assert reader.is_settled(id_)


@pytest.mark.parametrize(
    ("blocks", "most", "seconds", "batch", "bound", "is_older"),
    [
        pytest.param(3_000, 10, 0.1, 1, 60, False, id="narrow"),
        pytest.param(3_000, 10, 0.1, 1, 60, True, id="narrow, older"),
        pytest.param(3_000, 10, 0.1, 50, 60, False, id="narrow with batches"),
        pytest.param(100_000, 500, 1.0, 1, 300, False, id="slow"),
        pytest.param(100_000, 500, 1.0, 1, 300, True, id="slow, older"),
        pytest.param(100_000, 500, 1.0, 50, 300, False, id="slow with batches"),
        pytest.param(100_000, 500, 1.0, 50, 300, True, id="slow with batches, older"),
    ],
)
def test_who_is_far_behind_catches_up_while_a_challenge_is_seen(
    blocks: int, most: int, seconds: float, batch: int, bound: float, is_older: bool
) -> None:
    """A block comes each 12 seconds meanwhile. What an endpoint refuses is not asked again and again. Without batches
    200 ranges take 200 seconds, to which comes what else is asked in each cycle. New blocks of what is behind are read
    with the older ones."""
    node = PaperNode(200_000)
    node.most_blocks, node.most_at_once = most, batch
    reader = PaperReader(node, pending_every=5)
    reader.follow([1, CHALLENGED], node.height - (blocks if is_older else 20))
    if not is_older:
        until(reader, lambda: not any(reader.open))
        node.mine(blocks)
    node.seconds, id_ = seconds, node.challenge(CHALLENGED)
    for _ in range(2):
        reader.look()
    assert reader.shows_clock(id_)
    at = node.height
    while not reader.is_settled(id_):
        if node.time > 12 * (node.height - at):
            node.mine()
        reader.look()
    assert node.time < bound
    assert node.asked["eth_getLogs"] < 1.1 * blocks / most + 30


@pytest.mark.parametrize("count", [1, 301])
def test_logs_of_strangers_cost_nothing_and_blind_nobody(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hole 37: 50,001 logs on the adjudicator were the end of every later reading. They are not asked for, or where all
    are asked for not decoded."""
    node = PaperNode(1_000)
    node.most_logs = 10_000 if count == 1 else 100_000
    for number in range(50_001):
        node.log(900 + number // 5_000, "Closed", number.to_bytes(32))
    reader, decoded = PaperReader(node), list[chain.RawLog]()
    reader.follow([*range(count - 1), CHALLENGED], 890)

    def decoding(log: chain.RawLog) -> Log:
        decoded.append(log)
        return codec.decode_log(log)

    monkeypatch.setattr(log_reader, "decode_log", decoding)
    node.seconds, id_ = 0.1, node.challenge(CHALLENGED)
    tracemalloc.start()
    reader.look()
    assert reader.shows_clock(id_)
    until(reader, lambda: not any(reader.open), most=4)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20 * 2**20
    assert reader.is_settled(id_)
    assert len(decoded) == 1
    assert node.asked["eth_getLogs"] < (3 if count == 1 else 40)


def test_a_block_with_more_logs_than_an_answer_is_read_by_channels() -> None:
    """The channels are halved where there is only one block; what was answered of them is kept."""
    node = PaperNode(1_000)
    node.most_logs = 20
    reader = PaperReader(node)
    reader.follow(range(600), 980)
    until(reader, lambda: not any(reader.open))
    node.close(range(600))
    node.seconds, id_ = 1.0, node.challenge(0)
    until(reader, lambda: reader.shows_clock(id_), most=2)
    until(reader, lambda: not any(reader.open), most=200)
    assert all(reader.views[agreement(each).channel_id].record.closed for each in range(1, 600))


@pytest.mark.parametrize("is_known", [False, True])
def test_a_channel_that_is_added_throws_nothing_away_and_an_invented_one_comes_last(is_known: bool) -> None:
    """Hole 44: a tower's client names a channel after each look, from the chain's beginning on, while another one is
    read. Where the adjudicator knows them they join, and are read from there on; another one waits."""
    node, id_ = PaperNode(100_000, 1.0), agreement(0).channel_id
    node.most_blocks = 500
    for number in range(1, 50) if is_known else ():
        node.statuses[agreement(number).channel_id] = Status(1, 0, 0).pack()
    node.close([0])
    reader = PaperReader(node)
    reader.follow([0], 90_000)
    reader.follow([] if is_known else [1_000], 0)
    until(reader, lambda: node.asked["eth_getLogs"] > 6)
    for looks in range(1, 200):
        reader.look()
        if reader.is_settled(id_):
            break
        reader.follow([looks], 0)
    assert reader.views[id_].record.closed
    assert node.asked["eth_getLogs"] < 10_000 / 312 + 15


def test_a_range_that_is_never_answered_holds_up_no_other() -> None:
    """The endpoint is told as failing, and all other ranges are read."""
    node = PaperNode(100_000, 0.1)
    reader = PaperReader(node)
    reader.follow([0], 80_000)
    reader.follow([1], 90_000)
    honest = node.ask

    def ask(method: str, *params: Any) -> Any:
        if method == "eth_getLogs" and int(params[0]["fromBlock"], 16) <= 82_000 <= int(params[0]["toBlock"], 16):
            raise errors.EndpointFailed(method, "the index of this block is damaged")
        return honest(method, *params)

    node.ask = ask  # type: ignore[method-assign]
    failures = [worker.wait_for(reader.follower.look()).failure for _ in range(30)]
    followed = reader.follower._followed[agreement(0).channel_id]
    assert {type(each) for each in failures[-10:]} == {errors.EndpointFailed}
    assert sum(last + 1 - first for first, last in followed.missing) < 5_000
    assert not reader.follower._followed[agreement(1).channel_id].missing


def test_a_range_that_takes_too_long_is_divided() -> None:
    """Then the endpoint has not answered in time, and each look fails until it does."""
    node = PaperNode(100_000)
    reader, honest = PaperReader(node), node.ask
    reader.follow([0], 50_000)

    def ask(method: str, *params: Any) -> Any:
        if method == "eth_getLogs" and int(params[0]["toBlock"], 16) - int(params[0]["fromBlock"], 16) > 700:
            raise errors.Unreachable("paper", "it did not answer in time")
        return honest(method, *params)

    node.ask = ask  # type: ignore[method-assign]
    failures = [worker.wait_for(reader.follower.look()).failure for _ in range(10)]
    assert [type(each) for each in failures[:3]] == [errors.Unreachable] * 3
    assert failures[-1] is None
    assert not any(reader.open)


def test_an_endpoint_that_gives_more_again_is_asked_for_more() -> None:
    node = PaperNode(100_000)
    reader = PaperReader(node)
    node.most_blocks = 10
    reader.follow([0], 99_000)
    reader.look()
    node.most_blocks, node.asked = 10**9, Counter()
    reader.follow([1], 0)
    reader.look()
    assert not any(reader.open)
    assert node.asked["eth_getLogs"] < 500


def test_new_blocks_of_what_is_behind_are_read_with_the_older_ones() -> None:
    """Another channel's new logs are shown meanwhile."""
    node = PaperNode(200_000)
    reader, id_ = PaperReader(node), agreement(0).channel_id
    node.most_blocks = 500
    reader.follow([0], node.height - 20)
    until(reader, lambda: not any(reader.open))
    reader.follow([1], 100_000)
    node.seconds = 1.0
    reader.look()
    node.close([0])
    until(reader, lambda: reader.views[id_].record.closed, most=3)
    behind = reader.follower._followed[agreement(1).channel_id]
    assert len(behind.missing) == 1
    assert behind.missing[-1][1] == node.height


def test_no_part_starves_behind_new_blocks() -> None:
    """There are new blocks in each look, and there is time for a single question behind what defends."""
    node = PaperNode(20_000)
    reader = PaperReader(node)
    reader.follow(range(3), node.height - 20, payees=True)
    until(reader, lambda: not any(reader.open))
    node.close(range(3))
    node.seconds = 5.0
    reader.follow([10], 10_000)
    for _ in range(40):
        node.mine(2)
        reader.look()
    _, holdings, credits_ = reader.open
    assert (holdings, credits_) == (0, 0)
    assert not reader.follower._followed[agreement(10).channel_id].missing


def test_deposits_of_strange_tokens_are_dropped() -> None:
    """Anybody can pay worthless ones into a channel, thousands of times."""
    node, id_ = PaperNode(1_000), agreement(0).channel_id
    node.log(990, "EtherDeposited", id_, encode(["uint256"], [2]))
    for _ in range(100):
        node.log(991, "TokenDeposited", id_, encode(["address", "uint256"], [b"\x99" * 20, 7]))
    reader = PaperReader(node)
    reader.follow([0], 980)
    until(reader, lambda: not any(reader.open), most=3)
    assert len(reader.views[id_].logs) == 1
    assert reader.is_settled(id_)


@pytest.mark.parametrize("refused", ["statuses", "everything"])
def test_what_is_refused_for_another_reason_than_its_size_is_asked_for_as_much_again(refused: str) -> None:
    node = PaperNode(1_000)
    reader, honest = PaperReader(node), node.ask
    reader.follow(range(2_000), 980)

    def ask(method: str, *params: Any) -> Any:
        if method == "eth_call" or refused == "everything":
            node.asked[method] += 1
            raise errors.EndpointFailed(method, "header not found")
        return honest(method, *params)

    node.ask = ask  # type: ignore[method-assign]
    try:
        assert isinstance(worker.wait_for(reader.follower.look()).failure, errors.EndpointFailed)
    except PassingError:
        assert refused == "everything"
    node.ask = honest  # type: ignore[method-assign]
    node.asked.clear()
    until(reader, lambda: not any(reader.open), most=3)
    assert node.asked["eth_call"] == 3


def test_four_requests_a_block_serve_a_thousand_channels() -> None:
    node = PaperNode(1_000)
    reader = PaperReader(node)
    reader.follow(range(1_000), 980)
    until(reader, lambda: not any(reader.open))
    for _ in range(3):
        node.mine()
        node.asked.clear()
        reader.look()
        assert node.asked == {"eth_getBlockByNumber": 2, "eth_call": 1, "eth_getLogs": 1}


def test_a_block_in_which_nothing_happens_looks_at_no_channel(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then one is followed later than the others, and challenged; the endpoint leaves out the log of it."""
    node, looked_at = PaperNode(1_000), list[str]()
    reader = PaperReader(node)
    reader.follow(range(100), 980)
    until(reader, lambda: not any(reader.open))
    node.mine()
    reader.look()
    for name in ("is_live", "is_sound", "is_quiet"):
        honest: Any = getattr(FollowedChannel, name)

        def counting(self: FollowedChannel, name: str = name, honest: Any = honest) -> bool:
            looked_at.append(name)
            return bool(honest.fget(self))

        monkeypatch.setattr(FollowedChannel, name, property(counting))
    for _ in range(3):
        node.mine()
        assert reader.look().is_new
    assert not looked_at
    reader.follow([CHALLENGED], 980)
    node.mine()
    reader.look()
    assert reader.follower._followed[agreement(CHALLENGED).channel_id].status == 0
    until(reader, lambda: not any(reader.open))
    node.challenge(CHALLENGED - 1)
    assert reader.look().views == {}
    id_ = node.challenge(CHALLENGED)
    node.logs.clear()
    reader.look()
    assert reader.shows_clock(id_)


def test_a_status_that_was_refused_is_taken_in_again_though_it_is_the_same() -> None:
    node = PaperNode(1_000)
    reader, honest = PaperReader(node), node.ask
    reader.follow(range(2), 980)
    id_ = node.challenge(1)
    until(reader, lambda: not any(reader.open))

    def refuse(method: str, *params: Any) -> Any:
        if method == "eth_call":
            raise errors.EndpointFailed(method, "no state")
        return honest(method, *params)

    node.ask = refuse  # type: ignore[method-assign]
    node.mine()
    assert worker.wait_for(reader.follower.look()).views[id_].status is None
    node.ask = honest  # type: ignore[method-assign]
    node.mine()
    assert reader.look().views[id_].status == Status.unpack(node.statuses[id_])


def test_threat_43_a_channel_whose_end_was_invented_is_still_looked_at() -> None:
    """It was shown twice, so that reading it again was of no use; then somebody challenges it."""
    node, id_ = PaperNode(1_000), agreement(0).channel_id
    reader = PaperReader(node)
    reader.follow([0], 980)
    until(reader, lambda: not any(reader.open))
    node.mine()
    node.log(node.height, "Closed", id_)
    reader.look()
    assert not reader.is_settled(id_)
    node.logs.clear()
    node.challenge(0)
    reader.look()
    assert reader.shows_clock(id_)
    assert reader.is_settled(id_)


# ------------------------------------------------------------------------------------------------ channels of others


def statuses_asked(node: PaperNode, reader: PaperReader) -> int:
    before = node.asked["eth_call"]
    reader.look()
    return node.asked["eth_call"] - before


@pytest.mark.parametrize("followed", [0, 3])
def test_statuses_of_watched_channels_are_read_once_a_block_with_those_of_all_others(followed: int) -> None:
    node, watched = PaperNode(1_000), [agreement(number).channel_id for number in (7, 8)]
    reader = PaperReader(node)
    reader.follow(range(followed), 980)
    until(reader, lambda: not any(reader.open))
    reader.follower.watch(dict.fromkeys(watched, ETHER))
    assert (statuses_asked(node, reader), statuses_asked(node, reader)) == (1, 0)
    assert reader.follower.shown().statuses == dict.fromkeys(watched, 0)
    node.challenge(7)
    assert (statuses_asked(node, reader), statuses_asked(node, reader)) == (1, 0)
    assert reader.follower.shown().statuses == {id_: node.statuses.get(id_, 0) for id_ in watched}
    reader.follower.watch({watched[0]: ETHER})
    reader.look()
    assert reader.follower.shown().statuses.keys() == {watched[0]}


def test_the_last_status_of_a_watched_channel_stays_where_a_node_refuses_to_tell(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    node, id_ = PaperNode(1_000), agreement(7).channel_id
    reader = PaperReader(node)
    reader.follower.watch({id_: ETHER})
    node.challenge(7)
    reader.look()

    def refuse(*_: object) -> bytes:
        raise errors.EndpointFailed("eth_call", "no state")

    monkeypatch.setattr(node, "_call", refuse)
    node.mine()
    assert worker.wait_for(reader.follower.look()).failure is not None
    assert reader.follower.shown().statuses == {id_: node.statuses[id_]}
