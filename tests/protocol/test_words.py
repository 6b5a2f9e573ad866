"""The words in storage, and the modes."""

from __future__ import annotations

import pytest

from forcemove import InvalidValue
from forcemove.protocol.types import ETHER
from forcemove.protocol.words import EMPTY_STATUS, Holdings, Mode, Status, holdings_in, late_key, word_key, words_of

CLOSED, RECORDED, FULL, SURPLUS = 1 << 255, 1 << 254, 1 << 253, 1 << 252


def test_the_word_is_4_flags_32_34_and_186_bits() -> None:
    word = Status(0x11111111, 0x222222222, 0x333).pack()
    assert f"{word:0256b}" == f"0100{0x11111111:032b}{0x222222222:034b}{0x333:0186b}"


@pytest.mark.parametrize("word", [0, RECORDED | 1, RECORDED | 1 << 186, RECORDED | 1 << 220, RECORDED | 2**252 - 1])
def test_a_word_is_unpacked_and_packed(word: int) -> None:
    assert Status.unpack(word).pack() == word


def test_flags_are_not_the_records() -> None:
    status = Status(7, 8, 9)
    for flags in (FULL, FULL | SURPLUS):
        assert Status.unpack(status.pack() | flags) == status


@pytest.mark.parametrize("word", [1, FULL, CLOSED, CLOSED | 5, 2**253 - 1])
def test_without_its_flag_a_word_has_no_record(word: int) -> None:
    assert Status.unpack(word) == EMPTY_STATUS


@pytest.mark.parametrize("values", [(2**32, 0, 0), (0, 2**34, 0), (0, 0, 2**186), (-1, 0, 0)])
def test_the_parts_have_their_widths(values: tuple[int, int, int]) -> None:
    with pytest.raises(InvalidValue):
        Status(*values)


@pytest.mark.parametrize(
    ("word", "late", "holdings"),
    [
        (0, 0, Holdings()),
        (7, 0, Holdings(7)),
        (FULL | 7, 0, Holdings(7, payout_begun=True)),  # bit 253 without a record
        (CLOSED, 0, Holdings(0, payout_begun=True, closed=True)),
        (CLOSED | 3, 0, Holdings(3, payout_begun=True, closed=True)),
        (RECORDED | 1, 7, Holdings(7)),
        (RECORDED | 1, FULL | 7, Holdings(7, payout_begun=True)),
        (RECORDED | FULL | 1, 0, Holdings(20, full=True)),
        (RECORDED | FULL | SURPLUS | 1, 7, Holdings(27, full=True)),
    ],
)
def test_holdings_are_in_both_words(word: int, late: int, holdings: Holdings) -> None:
    assert holdings_in(word, late, 20) == holdings


@pytest.mark.parametrize(
    ("status", "holdings", "words"),
    [
        (EMPTY_STATUS, Holdings(), (0, 0)),
        (EMPTY_STATUS, Holdings(7), (7, 0)),
        (EMPTY_STATUS, Holdings(7, payout_begun=True), (1 << 253 | 7, 0)),
        (EMPTY_STATUS, Holdings(payout_begun=True, closed=True), (1 << 255, 0)),
        (Status(3, 0, 9), Holdings(), (Status(3, 0, 9).pack(), 0)),
        (Status(3, 0, 9), Holdings(4, payout_begun=True), (Status(3, 0, 9).pack(), 1 << 253 | 4)),
        (Status(3, 5, 9), Holdings(10, full=True), (Status(3, 5, 9).pack() | 1 << 253, 0)),
        (Status(3, 5, 9), Holdings(12, full=True), (Status(3, 5, 9).pack() | 3 << 252, 2)),
    ],
)
def test_a_record_and_holdings_have_their_words(status: Status, holdings: Holdings, words: tuple[int, int]) -> None:
    assert words_of(status, holdings, 10) == words
    assert (Status.unpack(words[0]), holdings_in(*words, 10)) == (status, holdings)


def test_each_asset_of_each_channel_has_two_words() -> None:
    places = [(id_, asset) for id_ in (b"\1" * 32, b"\2" * 32) for asset in (ETHER, b"\3" * 20)]
    assert len({key(*place) for place in places for key in (word_key, late_key)}) == 8


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
