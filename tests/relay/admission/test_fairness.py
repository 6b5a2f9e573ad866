"""The fair queue: addresses take turns, and one that floods takes room and time from itself alone."""

from __future__ import annotations

from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forcemove.relay.fairness import FairQueue


def fill(queue: FairQueue[str, str], address: str, number: int, work: int = 1) -> None:
    for each in range(number):
        queue.add(address, f"{address}{each}", work)


def test_threat_59_addresses_take_turns_however_much_one_has_added() -> None:
    queue: FairQueue[str, str] = FairQueue(most=10_000, turn=2)
    fill(queue, "a", 1_000)
    fill(queue, "b", 3)
    assert queue.take(7) == ["a0", "a1", "b0", "b1", "a2", "a3", "b2"]
    assert queue.take(2) == ["a4", "a5"]


def test_a_turn_goes_on_where_it_was_cut_off() -> None:
    queue: FairQueue[str, str] = FairQueue(most=10_000, turn=3)
    fill(queue, "a", 10)
    fill(queue, "b", 10)
    assert [item for _ in range(7) for item in queue.take(1)] == ["a0", "a1", "a2", "b0", "b1", "b2", "a3"]


def test_who_counts_for_many_has_a_longer_turn() -> None:
    queue: FairQueue[str, str] = FairQueue(most=10_000, turn=1)
    fill(queue, "a", 10)
    for number in range(10):
        queue.add("b", f"b{number}", 1, weight=3)
    assert queue.take(9) == ["a0", "b0", "b1", "b2", "a1", "b3", "b4", "b5", "a2"]


def test_threat_59_what_an_address_has_taken_too_much_it_owes() -> None:
    """Large items are no way to a larger share, also where the address has nothing else in the queue meanwhile."""
    queue: FairQueue[str, str] = FairQueue(most=10_000, turn=10)
    shares = {"large": 0, "small": 0}
    for number in count():
        if number == 100:
            break
        queue.add("large", "large", 100)
        fill(queue, "small", 20, work=10)
        for item in queue.take(20):
            shares["large" if item == "large" else "small"] += 100 if item == "large" else 10
    assert 0.5 < shares["large"] / shares["small"] < 1.5


def test_a_debt_is_forgotten_when_it_is_paid() -> None:
    queue: FairQueue[str, str] = FairQueue(most=10_000, turn=10)
    queue.add("a", "a", 100)
    assert queue.take(1) == ["a"]
    fill(queue, "b", 50, work=10)
    queue.take(500)
    assert list(queue._lines) == []


def test_threat_59_who_has_nothing_in_the_queue_finds_room_whatever_the_others_add() -> None:
    queue: FairQueue[int, int] = FairQueue(most=1_000, turn=10)
    for _ in range(1_000):
        for address in range(50):
            if queue.has_room(address):
                queue.add(address, address, 1)
    assert queue.work < 1_000
    assert not any(queue.has_room(address) for address in range(50))
    assert queue.has_room(50)


def test_room_comes_back_when_something_is_taken() -> None:
    queue: FairQueue[str, str] = FairQueue(most=10, turn=1)
    fill(queue, "a", 5)
    assert not queue.has_room("a")
    queue.take(2)
    assert queue.has_room("a")


@pytest.mark.parametrize("most", [0, 1, 5])
def test_at_least_one_is_taken(most: int) -> None:
    queue: FairQueue[str, str] = FairQueue(most=10, turn=1)
    assert queue.take(most) == []
    queue.add("a", "large", 1_000)
    assert queue.take(most) == ["large"]
    assert (len(queue), queue.work) == (0, 0)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(1, 50)) | st.integers(0, 60)))
def test_every_item_is_taken_once_and_in_the_order_of_its_address(story: list[tuple[int, int] | int]) -> None:
    queue: FairQueue[int, tuple[int, int]] = FairQueue(most=10_000, turn=7)
    added: dict[int, list[int]] = {}
    taken: dict[int, list[int]] = {}
    for number, event in enumerate([*story, 10**6]):
        if isinstance(event, int):
            for address, item in queue.take(event):
                taken.setdefault(address, []).append(item)
        else:
            address, work = event
            queue.add(address, (address, number), work)
            added.setdefault(address, []).append(number)
    assert taken == added
    assert (len(queue), queue.work) == (0, 0)
