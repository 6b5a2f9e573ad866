"""The pause before something is tried again."""

from __future__ import annotations

from collections.abc import Iterator
from unittest.mock import patch

import pytest

from forcemove.backoff import Backoff, asked_pause, doubled, spread


@pytest.fixture
def whole() -> Iterator[None]:
    """By chance all of a pause is waited."""
    with patch("random.uniform", lambda _, most: most):
        yield


@pytest.mark.parametrize(("times", "seconds"), [(0, 0.5), (1, 1.0), (3, 4.0), (4, 5.0), (10**6, 5.0)])
def test_a_pause_doubles_up_to_the_longest(times: int, seconds: float) -> None:
    assert doubled(0.5, times, 5.0) == seconds


def test_a_pause_without_a_longest_is_a_number_however_often_it_doubles() -> None:
    assert doubled(60.0, 10**6) > doubled(60.0, 10)


def test_a_half_to_all_of_a_pause_is_waited() -> None:
    waited = [spread(8.0) for _ in range(200)]
    assert min(waited) >= 4
    assert max(waited) <= 8
    assert len(set(waited)) > 100


@pytest.mark.usefixtures("whole")
def test_pauses_grow_and_begin_again() -> None:
    backoff = Backoff(1.0, 5.0)
    assert [backoff.next_pause() for _ in range(5)] == [1, 2, 4, 5, 5]
    backoff.reset()
    assert backoff.next_pause() == 1


@pytest.mark.usefixtures("whole")
def test_what_will_not_pass_soon_is_tried_more_seldom_until_it_has_passed() -> None:
    backoff = Backoff(0.5, 2.0)
    backoff.lengthen(3.0, 10.0)
    assert [backoff.next_pause() for _ in range(3)] == [3, 6, 10]
    backoff.lengthen(3.0, 10.0)
    assert backoff.next_pause() == 10
    backoff.reset()
    assert [backoff.next_pause() for _ in range(4)] == [0.5, 1, 2, 2]


@pytest.mark.parametrize(
    ("retry_after", "seconds"),
    [
        ("0", 0.0),
        ("7", 7.0),
        ("86400", 30.0),
        ("9" * 400, 30.0),
        ("Sun, 06 Nov 1994 08:49:44 GMT", 7.0),
        ("Sun, 06 Nov 1994 08:49:30 GMT", 0.0),
        ("Sun, 06 Nov 2094 08:49:44 GMT", 30.0),
        ("", 1.0),
        ("soon", 1.0),
        ("-5", 1.0),
        ("nan", 1.0),
        ("\u0663", 1.0),
        ("Sun, 99 Nov 1994 08:49:44 GMT", 1.0),
    ],
)
def test_a_server_says_how_long_to_wait(retry_after: str, seconds: float) -> None:
    with patch("time.time", lambda: 784_111_777.0):  # 08:49:37 on that day
        assert asked_pause(retry_after, usual=1.0, longest=30.0) == seconds
