"""A line in memory."""

from __future__ import annotations

import pytest

from forcemove.arena.network import MemoryMessenger


@pytest.mark.parametrize("count", [2, 3])
def test_what_one_says_all_others_hear_once_and_in_order(count: int) -> None:
    first, *others = MemoryMessenger.table(count)
    first.send(b"a")
    first.send(b"b")
    for other in others:
        assert other.receive() == (b"a", b"b")
        assert other.receive() == ()
    assert first.receive() == ()
