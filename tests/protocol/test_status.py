"""The status word and the modes."""

from __future__ import annotations

import pytest

from forcemove import UINT256_MAX, InvalidValue
from forcemove.protocol.status import EMPTY_STATUS, Mode, Status


def test_the_word_is_48_48_and_160_bits() -> None:
    word = Status(0x111111111111, 0x222222222222, 0x3333333333333333333333333333333333333333).pack()
    assert word == int("1" * 12 + "2" * 12 + "3" * 40, 16)


@pytest.mark.parametrize("word", [0, 1, 1 << 160, 1 << 208, UINT256_MAX])
def test_a_word_is_unpacked_and_packed(word: int) -> None:
    assert Status.unpack(word).pack() == word


@pytest.mark.parametrize("values", [(2**48, 0, 0), (0, 2**48, 0), (0, 0, 2**160), (-1, 0, 0)])
def test_the_parts_have_their_widths(values: tuple[int, int, int]) -> None:
    with pytest.raises(InvalidValue):
        Status(*values)


@pytest.mark.parametrize("word", [-1, 2**256])
def test_a_word_has_256_bits(word: int) -> None:
    with pytest.raises(InvalidValue):
        Status.unpack(word)


def test_only_zero_is_empty() -> None:
    assert EMPTY_STATUS.is_empty
    assert not Status(0, 0, 1).is_empty
    assert not Status(0, 1, 0).is_empty
    assert not Status(1, 0, 0).is_empty


@pytest.mark.parametrize(
    ("finalizes_at", "now", "mode"),
    [
        (0, 0, Mode.OPEN),
        (0, 10**9, Mode.OPEN),
        (100, 99, Mode.CHALLENGE),
        (100, 100, Mode.FINALIZED),
        (100, 101, Mode.FINALIZED),
    ],
)
def test_at_exactly_the_deadline_it_is_too_late_and_time_to_pay(finalizes_at: int, now: int, mode: Mode) -> None:
    assert Status(5, finalizes_at, 7).mode(now) is mode
