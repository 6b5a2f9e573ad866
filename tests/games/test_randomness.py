"""Drawing fairly from bytes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from channel.errors import InvalidValue
from games.randomness import Randomness, choose


def bytes_in_turn(values: Iterator[int]) -> Randomness:
    return lambda count: bytes(next(values) for _ in range(count))


def test_over_all_bytes_every_option_comes_up_equally_often() -> None:
    source = bytes_in_turn(iter([*range(256), 0]))
    assert Counter(choose("abc", source) for _ in range(255)) == {"a": 85, "b": 85, "c": 85}


def test_a_byte_that_would_favour_the_first_option_is_drawn_again() -> None:
    assert choose("abc", bytes_in_turn(iter([255, 1]))) == "b"


@pytest.mark.parametrize("count", [0, 257])
def test_none_and_too_many_options_are_refused(count: int) -> None:
    with pytest.raises(InvalidValue):
        choose(range(count), bytes)
