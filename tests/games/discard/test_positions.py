"""Positions of Discard as bytes: each has one encoding, and what a type does not use is zero."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from forcemove import UINT48_MAX, UINT256_MAX, InvalidValue, word
from forcemove_games.discard.position import Core, CoreWord, Position, PositionType, decode, initial
from forcemove_games.discard.tails import DECK_LENGTH, PROOF_LENGTH, MoveShares, ShuffledDeck
from forcemove_games.two_player import MalformedPosition, WrongPositionLength
from tests.expected import raising
from tests.games.discard.hands import by_type, states

ID = b"\xc0" * 32
LONGEST = 5_456
"""Bytes of a position with a deck and the proof of its shuffle."""
LENGTHS = {
    PositionType.READY: 608,
    PositionType.KEYED_FIRST: 608 + 64,
    PositionType.KEYED: 608 + 64,
    PositionType.SHUFFLED_FIRST: LONGEST,
    PositionType.SHUFFLED: LONGEST,
    PositionType.DEALT_FIRST: 608 + 1_568 + 64 + 6 * 288,
    PositionType.DEALT: 608 + 64 + 6 * 288,
}
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
        assert Position(position.core, position.tail) == position


@pytest.mark.parametrize("kind", LENGTHS)
def test_the_length_follows_from_the_type(kind: PositionType) -> None:
    assert {len(state.app_data) for state in by_type()[kind]} == {LENGTHS[kind]}


def test_the_length_of_a_move_follows_from_its_cards() -> None:
    for kind in (PositionType.PLAYING, PositionType.OVER):
        for state in by_type()[kind]:
            core = decode(state.app_data).core
            touched = bool(core.shared) + bool(core.laid)
            assert len(state.app_data) == 608 + bool(touched) * 64 + touched * 544
    for kind in (PositionType.SHOWING, PositionType.TIED):
        for state in by_type()[kind]:
            count = decode(state.app_data).core.laid
            assert len(state.app_data) == 608 + bool(count) * 64 + count * 576


@each_type
def test_any_other_length_is_refused(kind: PositionType) -> None:
    data = by_type()[kind][0].app_data
    for other in (data[:-1], data + b"\0", data[:-32], data + bytes(32)):
        with raising(WrongPositionLength(max(len(data), 608), len(other))):
            decode(other)
    with pytest.raises(WrongPositionLength):
        decode(b"")


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


def test_what_follows_must_fit_the_core() -> None:
    shuffled = ShuffledDeck(bytes(DECK_LENGTH), bytes(PROOF_LENGTH))
    ready, playing = Core(PositionType.READY, 3, ID), Core(PositionType.PLAYING, 3, ID, laid=1)
    assert initial(ID, 3) == Position(ready)
    (laid,) = [decode(state.app_data).tail for state in by_type()[PositionType.PLAYING] if _lays_alone(state.app_data)][
        :1
    ]
    assert isinstance(laid, MoveShares)
    assert Position(playing, laid).tail == laid
    for core, tail in (
        (ready, shuffled),
        (playing, None),
        (playing, laid._replace(shared=laid.laid, laid=None)),
        (playing, laid._replace(proof=laid.proof._replace(challenge=2**256))),
    ):
        with pytest.raises(InvalidValue):
            Position(core, tail)


def _lays_alone(app_data: bytes) -> bool:
    core = decode(app_data).core
    return bool(core.laid) and not core.shared
