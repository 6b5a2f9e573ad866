"""What is due by time is found without a walk over all channels, and nothing is missed by that: neither where a time
becomes an earlier one, nor where a clock jumps, nor where a channel is released and driven again.

The property is checked against the walk that a node made each second before there were heaps: whatever it would have
found at a channel, in any weather, the heaps find in the same step.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forcemove import ChallengeWanted, ManagedChannel, Phase
from forcemove.follower.endpoint_quorum import EndpointQuorum
from forcemove.node.ready_set import ReadySet, TimeHeap
from tests.node.test_node import House
from tests.sampled import with_sample
from tests.scenarios.story import DURATION, Playground
from tests.simulation.chain import MemoryChain
from tests.simulation.grounds import MemoryGround
from tests.simulation.table import Table

IDS = [b"a", b"b", b"c", b"d"]
TIMES = st.one_of(st.none(), st.floats(0, 100), st.just(math.inf))
CHANGES = st.tuples(st.just("put"), st.sampled_from(IDS), TIMES)
LOOKS = st.tuples(st.just("look"), st.just(b""), st.floats(0, 100))


@given(st.lists(st.one_of(CHANGES, LOOKS), max_size=60))
def test_the_heap_finds_what_a_walk_finds(happens: list[tuple[str, bytes, float | None]]) -> None:
    heap, times, now = TimeHeap(), dict[bytes, float](), -math.inf
    for what, id_, at in happens:
        if what == "put":
            heap.put(id_, at)
            times.pop(id_, None)
            times |= {} if at is None else {id_: at}
        else:
            assert at is not None
            due = {each for each, time in times.items() if time <= at or at < now}
            now = at
            assert set(heap.take(now)) == due
            times = {each: time for each, time in times.items() if each not in due}
        assert heap.next == min(times.values(), default=math.inf)


def test_a_heap_does_not_keep_what_does_not_count_any_more() -> None:
    heap = TimeHeap()
    for at in range(10_000):
        heap.put(b"a", float(at))
    assert len(heap._heap) < 100
    assert heap.take(9_999.0) == [b"a"]


# ------------------------------------------------------------------------------------------------------ whole channels


class Walk:
    """Looks at all channels in each step, as nodes did, and says what was not found. `looks`: how many were made;
    `found`: how often anything was due by time."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.missed: list[str] = []
        self.looks = self.found = 0
        take = ReadySet.take

        def walking(ready: ReadySet, channels: Mapping[bytes, ManagedChannel]) -> Iterable[ManagedChannel]:
            chosen, now = list(take(ready, channels)), ready._clock()
            self.looks += 1
            for each in channels.values():
                due = list(_due(each, now))
                self.found += any(each in ("silence", "time") for each in due)
                self.missed += due if each not in chosen else []
            return chosen

        monkeypatch.setattr(ReadySet, "take", walking)


def _due(managed: ManagedChannel, now: float) -> Iterable[str]:
    """What a walk would do for a channel now."""
    resync = copy.copy(managed.client._resync)
    resync._clock = lambda: now
    if managed._is_silence_due(now) and resync.is_silent(managed.client._waiting_for):
        yield "silence"
    if managed._is_silence_due(now) and managed.recorder.has_entries:
        yield "entries"
    if managed._is_due_on_chain:
        yield "time"
    if managed.is_unsettled:
        yield "work"
    if managed.executor.has_received or getattr(managed.executor._messenger, "_inbox", None):
        yield "messages"


@pytest.fixture
def walk(monkeypatch: pytest.MonkeyPatch) -> Walk:
    return Walk(monkeypatch)


@pytest.mark.parametrize("seed", with_sample(range(200), range(6)))
def test_in_any_weather_nothing_is_missed_that_a_walk_finds(walk: Walk, tmp_path: Path, seed: int) -> None:
    """Endpoints, disks, clocks and counterparties fail, and processes die and begin again."""
    chain = MemoryChain()
    playground = Playground.on(chain)
    table = Table(MemoryGround(chain), playground, tmp_path, seed)
    try:
        table.storm()
        table.clear_up()
        table.require_paid()
    finally:
        table.close()
    assert walk.missed == []
    assert walk.looks


def test_a_challenge_brings_a_time_and_a_clock_that_jumps_misses_none(walk: Walk, tmp_path: Path) -> None:
    """Alice's clock jumps back and ahead, and her channel is released and driven again, while a challenge runs."""
    chain = MemoryChain()
    house = House(Playground.on(chain), tmp_path, 3)
    house.play(until=5)
    alice, bob = house.processes
    challenged = house.assemblies[0].agreement.channel_id
    bob.now = alice.now = 1_000.0
    house.play()
    bob.node.channels[challenged].feed(ChallengeWanted())
    house.play()
    for now in (1_000.0, 500.0, 504.0, 505.1, 700.0, 0.0, 5.1, 10_000.0):
        alice.now = bob.now = now
        house.play()
    bob.node.release_channel(challenged)
    bob.drive(0)
    house.play()
    chain.travel_to(chain.now() + DURATION + 1)
    house.play()
    assert bob.node.channels[challenged].phase is Phase.CLOSED
    assert walk.missed == []
    assert walk.found
    house.close()


def test_a_chains_time_that_jumps_back_misses_no_deadline(
    walk: Walk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By what its endpoints say now; it is the same deadline when it comes."""
    read, shift = EndpointQuorum.time, [0]
    monkeypatch.setattr(EndpointQuorum, "time", property(lambda self: read.__get__(self) + shift[0]))
    house = House(Playground.on(MemoryChain()), tmp_path, 1)
    house.play(until=5)
    (alice,), (bob,) = (each.node.channels.values() for each in house.processes)
    bob.feed(ChallengeWanted())
    house.play()
    assert alice.phase is Phase.CHALLENGED
    found = walk.found
    for shift[0] in (-100, 0, DURATION):
        for process in house.processes:
            process.node.step()
    assert walk.found == found + 2
    assert walk.missed == []
    house.close()
