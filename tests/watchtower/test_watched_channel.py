"""What a tower makes of endpoints that do not agree, and of one that hangs: it defends what any of them shows. Rows
46 and 54 of the list of attacks."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from forcemove.chain.errors import Unreachable
from forcemove.protocol.machine.inputs import Clock, ViewsDiffer
from forcemove.protocol.machine.record import Record
from forcemove.protocol.types import ETHER
from forcemove.protocol.words import Status
from forcemove.watchtower.watched_channel import WatchedChannel
from forcemove_games.tic_tac_toe import GAME
from tests.scenarios.story import DURATION, Playground, Story
from tests.simulation.chain import MemoryChain
from tests.simulation.faults import Endpoint
from tests.watchtower.keeper import SETTINGS, Keeper, stale


@pytest.fixture
def story() -> Story:
    made = Playground.on(MemoryChain()).story(GAME)
    made.play_until(6)
    return made


@pytest.fixture
def keeper(story: Story, tmp_path: Path) -> Iterator[Keeper]:
    made = Keeper.of(story, tmp_path)
    made.give_newest(story)
    yield made
    made.close()


@pytest.fixture
def guarded(keeper: Keeper) -> WatchedChannel:
    (found,) = keeper.watched
    return found


@pytest.fixture
def clock(story: Story) -> Clock:
    """A challenge that only one endpoint shows, by its status alone."""
    story.challenge(1, *stale(story))
    return Clock(story.assembly.adjudicator.status_of(story.agreement.channel_id, ETHER), None)


def test_threat_54_a_clock_that_only_one_shows_is_answered(guarded: WatchedChannel, clock: Clock) -> None:
    began = clock.status.finalizes_at - DURATION
    assert list(guarded.due(began, began, 0)) == []
    guarded.on_chain_update(None, ViewsDiffer(True, (clock,)))
    assert [each.deadline for each in guarded.due(began, began, 0)] == [clock.status.finalizes_at]


def test_threat_54_who_shows_an_old_time_makes_no_head_start_longer(guarded: WatchedChannel, clock: Clock) -> None:
    began = clock.status.finalizes_at - DURATION
    guarded.on_chain_update(None, ViewsDiffer(True, (clock,)))
    assert list(guarded.due(began, began + 9, 10)) == []
    assert list(guarded.due(began, began + 10, 10)) != []


def test_threat_54_a_clock_that_is_new_is_answered_at_once(guarded: WatchedChannel, clock: Clock) -> None:
    differ = ViewsDiffer(True, (clock,))
    guarded.retry_from = 7
    guarded.on_chain_update(None, differ)
    assert guarded.retry_from == 0
    guarded.retry_from = 7
    guarded.on_chain_update(None, differ)
    assert guarded.retry_from == 7


def test_what_has_paid_out_is_over_whatever_time_an_endpoint_shows(guarded: WatchedChannel) -> None:
    """Who has read a conclusion was ahead of those by whose time deadlines are judged."""
    guarded.on_chain_update(Record(Status(6, 100, 1), payout_begun=True), None)
    assert guarded.is_over(90)
    assert list(guarded.due(90, 100, 0)) == []


@pytest.mark.parametrize("is_denied", [False, True])
def test_threat_54_a_channel_is_kept_while_an_endpoint_denies_its_end(
    keeper: Keeper, guarded: WatchedChannel, clock: Clock, is_denied: bool
) -> None:
    guarded.record = Record(payout_begun=True, closed=True)
    guarded.on_chain_update(None, ViewsDiffer(is_denied, () if is_denied else (clock,)))
    assert not any(keeper.guard._is_buried(guarded, number, 0) for number in (0, 100, 200))
    guarded.on_chain_update(None, ViewsDiffer())
    assert [keeper.guard._is_buried(guarded, number, 0) for number in (0, 100)] == [False, True]


@pytest.mark.parametrize("liar", [0, 1])
def test_threat_54_the_head_start_ends_by_the_latest_time_that_is_shown(
    story: Story, tmp_path: Path, liar: int
) -> None:
    node = story.chain.node  # type: ignore[attr-defined]
    endpoints = [Endpoint(node, str(number)) for number in range(2)]
    settings = replace(SETTINGS, head_start=DURATION)
    keeper = Keeper.of(story, tmp_path, *map(MemoryChain, endpoints), name="other", settings=settings)
    keeper.give_newest(story)
    endpoints[liar].replace("eth_getBlockByNumber", lambda each: {**each, "timestamp": each["timestamp"] - DURATION})
    story.challenge(1, *stale(story))
    for seconds, record in ((-10, (3, True)), (10, (6, False))):
        story.chain.travel_to(story.finalizes_at - DURATION // 2 + seconds)
        story.mine()
        for _ in range(4):
            keeper.tower.poll()
        assert story.record == record
    keeper.close()


@pytest.mark.parametrize("hanging", [0, 1])
def test_threat_46_an_endpoint_that_hangs_keeps_no_tower_from_answering(
    story: Story, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hanging: int
) -> None:
    monkeypatch.setattr("forcemove.workers.polling._WAIT_SECONDS", 0.1)
    ended = threading.Event()
    node = story.chain.node  # type: ignore[attr-defined]
    endpoints = [Endpoint(node, str(number)) for number in range(2)]
    keeper = Keeper.of(story, tmp_path, *map(MemoryChain, endpoints), name="other")
    keeper.give_newest(story)

    def hang(*_: Any) -> Any:
        ended.wait()
        raise Unreachable("hanging", "it is over")

    endpoints[hanging].answer = hang
    endpoints[hanging].is_here = False
    story.challenge(1, *stale(story))
    polling = threading.Thread(target=lambda: [keeper.tower.poll() for _ in range(4)], daemon=True)
    polling.start()
    polling.join(20)
    has_hung, record = polling.is_alive(), story.record
    ended.set()
    polling.join(60)
    keeper.close()
    assert (has_hung, record) == (False, (6, False))


def test_threat_55_whatever_breaks_at_one_channel_ends_no_tower(
    keeper: Keeper, guarded: WatchedChannel, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> object:
        raise RecursionError("an answer that nobody thought of")

    monkeypatch.setattr(WatchedChannel, "due", fail)
    for _ in range(2):
        keeper.tower.poll()
    assert {type(each) for each in keeper.troubles} == {RecursionError}


def test_threat_55_what_breaks_at_one_channel_is_told_anew_and_costs_no_other(
    keeper: Keeper, guarded: WatchedChannel, story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was told once is not told again by itself."""
    see, fails = WatchedChannel.on_chain_update, [True]

    def failing(self: WatchedChannel, *news: Any) -> None:
        if fails:
            fails.pop()
            raise RecursionError("an answer that nobody thought of")
        see(self, *news)

    monkeypatch.setattr(WatchedChannel, "on_chain_update", failing)
    story.challenge(1, *stale(story))
    for _ in range(4):
        keeper.tower.poll()
    assert {type(each) for each in keeper.troubles} == {RecursionError}
    assert story.record == (6, False)
