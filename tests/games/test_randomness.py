"""Drawing fairly from bytes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from hashlib import shake_256

import pytest

from forcemove.errors import InvalidValue
from forcemove_games.randomness import Randomness, choose, seeded


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


SECRET = bytes(range(32))


def test_a_seeded_source_gives_the_same_bytes_again() -> None:
    first, again = seeded(SECRET, b"table 1"), seeded(SECRET, b"table 1")
    drawn = [first(length) for length in (32, 1, 256)]
    assert drawn == [again(length) for length in (32, 1, 256)]
    assert drawn[1] == shake_256(b"forcemove/randomness/1:" + SECRET + bytes(7) + b"\x01table 1").digest(1)


def test_no_two_draws_labels_or_secrets_share_bytes() -> None:
    sources = [seeded(secret, label) for secret in (SECRET, bytes(32)) for label in (b"", b"table 1", b"table 10")]
    assert len({source(32) for source in sources for _ in range(100)}) == 600


@pytest.mark.parametrize("secret", [b"", bytes(31), SECRET + b"\n"])
def test_a_secret_has_32_bytes_and_no_other_one_is_named(secret: bytes) -> None:
    with pytest.raises(InvalidValue) as refused:
        seeded(secret, b"table 1")
    shown = f"{refused.value} {refused.value!r}"
    assert not any(len(text) > 1 and text in shown for text in (secret.hex(), repr(secret)[2:-1]))
