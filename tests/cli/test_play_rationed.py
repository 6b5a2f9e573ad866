"""A whole game with a dispute, through an endpoint as providers sell them: it asks us to wait again and again, refuses
ranges of blocks with a status, and knows no pending block; or it answers only a few requests a second. Hole 56."""

from __future__ import annotations

from itertools import count, cycle
from threading import Lock
from time import monotonic
from typing import Any

import pytest

from tests.cli.tables import World
from tests.cli.test_play_disputes import Match, one_goes_back_to_an_old_state, one_is_slow_and_answers_on_the_chain
from tests.liars.misbehaviour import whole
from tests.liars.proxy import Misbehaves, NodeError, Tell, lying
from tests.sampled import sampled

_EVERY = 7
"""Requests of which one is not answered at once."""
_BLOCKS = 3
"""That may be asked for at once."""
_RANGE = b'{"jsonrpc": "2.0", "id": 1, "error": {"code": -32602, "message": "the range of blocks is too large"}}'
_OTHER_RATES: tuple[tuple[int, dict[str, str]], ...] = ((5, {"Retry_After": "1"}), (6, {}), (8, {}))
_TAG = {"code": -32602, "message": "invalid block tag"}


def rationing() -> Tell:
    """What such an endpoint does."""
    requests, refusals = count(1), cycle((400, 413))

    def tell(ask: Any, method: str, *params: Any) -> Any:
        if next(requests) % _EVERY == 0:
            raise Misbehaves(whole(lambda: b"slow down", 429, Retry_After="1"))
        if "pending" in params:
            raise NodeError(_TAG)
        if method == "eth_getLogs" and int(params[0]["toBlock"], 16) - int(params[0]["fromBlock"], 16) >= _BLOCKS:
            raise Misbehaves(whole(lambda: _RANGE, next(refusals)))
        return ask(method, *params)

    return tell


def metering(rate: int, **headers: str) -> Tell:
    """Answers this many requests a second, and as many at once after a while; the others are refused."""
    lock, bucket = Lock(), {"left": float(rate), "at": monotonic()}

    def is_allowed() -> bool:
        with lock:
            now = monotonic()
            left = min(bucket["left"] + (now - bucket["at"]) * rate, rate)
            bucket.update(left=left - 1 if left >= 1 else left, at=now)
            return left >= 1

    def tell(ask: Any, method: str, *params: Any) -> Any:
        if not is_allowed():
            raise Misbehaves(whole(lambda: b"slow down", 429, **headers))
        return ask(method, *params)

    return tell


@pytest.mark.parametrize(
    ("rate", "headers"), [(5, {}), *(pytest.param(*each, marks=pytest.mark.long) for each in _OTHER_RATES)]
)
def test_a_game_is_played_disputed_and_paid_at_a_few_requests_a_second(
    world: World, rate: int, headers: dict[str, str]
) -> None:
    with lying(world.node.endpoint, metering(rate, **headers)) as url:
        world.endpoints = [url]
        one_goes_back_to_an_old_state(Match(world, "rock-paper-scissors"))


@pytest.mark.parametrize("story", sampled([one_is_slow_and_answers_on_the_chain, one_goes_back_to_an_old_state], 2))
def test_a_game_is_played_disputed_and_paid(world: World, story: Any) -> None:
    with lying(world.node.endpoint, rationing()) as url:
        world.endpoints = [url]
        story(Match(world, "rock-paper-scissors"))
