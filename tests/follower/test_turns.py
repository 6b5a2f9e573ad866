"""When our own process stood still, and when it was only busy."""

from __future__ import annotations

import pytest

from forcemove.follower.turns import TurnClock


@pytest.mark.parametrize(
    ("passed", "is_looking", "channels", "stood_still"),
    [
        (5, False, 0, False),
        (5.1, False, 10, True),
        (6, True, 0, False),
        (20.1, True, 0, True),
        (25, False, 10_000, False),
        (25.1, False, 10_000, True),
        (-1, False, 10_000, True),
    ],
)
def test_a_turn_that_comes_late_is_a_standstill_unless_there_was_much_to_do(
    passed: float, is_looking: bool, channels: int, stood_still: bool
) -> None:
    now = 100.0
    turns = TurnClock(lambda: now)
    assert not turns.begin(is_looking=is_looking)
    turns.on_work(channels)
    now += passed
    assert turns.begin() == stood_still
