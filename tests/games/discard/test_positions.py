"""Positions of Discard as bytes: each has one encoding, and what a type does not use is zero."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from forcemove import UINT48_MAX, UINT256_MAX, InvalidValue, word
from forcemove_games.discard.errors import WrongEvidenceLength
from forcemove_games.discard.evidence import decode_evidence, encode_evidence, evidence_of
from forcemove_games.discard.position import (
    DECK_LENGTH,
    Core,
    CoreWord,
    Position,
    PositionType,
    decode,
    initial,
)
from forcemove_games.two_player import MalformedPosition, WrongPositionLength
from tests.expected import raising
from tests.games.discard.hands import by_type, states

ID = b"\xc0" * 32
WITH_DECK = (PositionType.SHUFFLED_FIRST, PositionType.SHUFFLED, PositionType.DEALT_FIRST)
PROOFS = {
    PositionType.READY: 0,
    PositionType.KEYED_FIRST: 64,
    PositionType.KEYED: 64,
    PositionType.SHUFFLED_FIRST: 3_280,
    PositionType.SHUFFLED: 3_280,
    PositionType.DEALT_FIRST: 64 + 6 * 288,
    PositionType.DEALT: 64 + 6 * 288,
}
"""Bytes of the evidence."""
USED_FROM = {
    **dict.fromkeys(range(CoreWord.KEYS, CoreWord.KEYS + 4), PositionType.KEYED_FIRST),
    **dict.fromkeys(range(CoreWord.ROOT, CoreWord.TOP + 1), PositionType.DEALT),
    **dict.fromkeys(range(CoreWord.DENIED, CoreWord.LAID + 1), PositionType.PLAYING),
}
each_type = pytest.mark.parametrize("kind", PositionType)


def test_every_position_of_whole_hands_has_its_bytes_back() -> None:
    assert set(by_type()) == set(PositionType)
    for state in states():
        position = decode(state.app_data)
        assert position.encode() == state.app_data
        assert encode_evidence(evidence_of(state)) == state.evidence


@each_type
def test_the_length_follows_from_the_type(kind: PositionType) -> None:
    length = 608 + (1_568 if kind in WITH_DECK else 0)
    assert {len(state.app_data) for state in by_type()[kind]} == {length}


@pytest.mark.parametrize("kind", PROOFS)
def test_the_length_of_the_evidence_follows_from_the_type(kind: PositionType) -> None:
    assert {len(state.evidence) for state in by_type()[kind]} == {PROOFS[kind]}


def test_the_length_of_the_evidence_of_a_move_follows_from_its_cards() -> None:
    for kind in (PositionType.PLAYING, PositionType.OVER):
        for state in by_type()[kind]:
            core = decode(state.app_data).core
            touched = bool(core.shared) + bool(core.laid)
            assert len(state.evidence) == bool(touched) * 64 + touched * 544
    for kind in (PositionType.SHOWING, PositionType.TIED):
        for state in by_type()[kind]:
            count = decode(state.app_data).core.laid
            assert len(state.evidence) == bool(count) * 64 + count * 576


@each_type
def test_any_other_length_is_refused(kind: PositionType) -> None:
    data = by_type()[kind][0].app_data
    for other in (data[:-1], data + b"\0", data[:-32], data + bytes(32)):
        with raising(WrongPositionLength(max(len(data), 608), len(other))):
            decode(other)
    with pytest.raises(WrongPositionLength):
        decode(b"")


@each_type
def test_evidence_of_any_other_length_is_refused(kind: PositionType) -> None:
    state = by_type()[kind][0]
    core, data = decode(state.app_data).core, state.evidence
    for other in {data[:-1], data + b"\0", data[:-32], data + bytes(32), b""} - {data}:
        with raising(WrongEvidenceLength(len(data), len(other))):
            decode_evidence(core, other)


def test_there_are_eleven_types() -> None:
    for number in (11, UINT256_MAX):
        with raising(MalformedPosition(0, number)):
            decode(word(number) + bytes(18 * 32))


@each_type
@pytest.mark.parametrize("place", USED_FROM)
def test_words_that_a_type_does_not_use_are_zero(kind: PositionType, place: int) -> None:
    if kind >= USED_FROM[place]:
        return
    data = by_type()[kind][0].app_data
    changed = data[: 32 * place] + word(1) + data[32 * place + 32 :]
    with raising(MalformedPosition(place, 1)):
        decode(changed)


@pytest.mark.parametrize(
    ("place", "highest"),
    [
        (CoreWord.HAND, UINT48_MAX),
        (CoreWord.HELD, 2**24 - 1),
        (CoreWord.HELD + 1, 2**24 - 1),
        (CoreWord.DRAWN, 24),
        (CoreWord.TOP, 23),
        (CoreWord.DENIED, 2**24 - 1),
        (CoreWord.DENIED + 1, 2**24 - 1),
        (CoreWord.PENDING, 24),
        (CoreWord.PASSES, 2),
    ],
)
def test_words_have_bounds(place: int, highest: int) -> None:
    core = Core(PositionType.PLAYING, 3, ID).encode()
    allowed = core[: 32 * place] + word(highest) + core[32 * place + 32 :]
    assert decode(allowed).core.words[place] == highest
    for other in (highest + 1, UINT256_MAX):
        with raising(MalformedPosition(place, other)):
            decode(core[: 32 * place] + word(other) + core[32 * place + 32 :])


@pytest.mark.parametrize(("kind", "highest"), [(PositionType.PLAYING, 24), (PositionType.TIED, 4)])
def test_indices_and_counts_have_bounds(kind: PositionType, highest: int) -> None:
    with raising(MalformedPosition(CoreWord.LAID, highest + 1)):
        Core(kind, 3, ID, laid=highest + 1)
    assert Core(kind, 3, ID, laid=highest).laid == highest


def test_what_is_no_core_at_all_is_an_invalid_value() -> None:
    core = Core(PositionType.READY, 3, ID)
    for change in (
        {"position_type": 0},
        {"channel_id": b""},
        {"root": "0" * 32},
        {"stake": -1},
        {"stake": True},
        {"hand": 2**256},
        {"keys": ((0, 0), (0, -1))},
    ):
        with pytest.raises(InvalidValue):
            replace(core, **change)


def test_a_deck_is_there_while_it_is_shuffled_and_dealt_and_no_longer() -> None:
    deck = bytes(DECK_LENGTH)
    ready, shuffled = Core(PositionType.READY, 3, ID), Core(PositionType.SHUFFLED, 3, ID)
    assert initial(ID, 3) == Position(ready)
    assert Position(shuffled, deck).encode() == shuffled.encode() + deck
    for core, other in ((ready, deck), (shuffled, b""), (shuffled, deck[1:])):
        with pytest.raises(InvalidValue):
            Position(core, other)
