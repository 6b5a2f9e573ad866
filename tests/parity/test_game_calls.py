"""Calls of any shape: participants, allocations, assets, destinations, turns, rubbish, and malformed calldata."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from forcemove import UINT48_MAX, UINT256_MAX, Allocation, Game, Outcome, VariablePart
from forcemove.testing.calls import FROM, TO, TURN_NUM, Bench, TransitionCall
from tests.games.states import BALANCE, outcome
from tests.installed import GAMES, each_game, space_of

BENCHES = {game.name: Bench(game.artifact, game) for game in GAMES}
TOKEN, OTHER_TOKEN = b"\x70" * 20, b"\x71" * 20
ASSET = 5 * 32


def first_move(game: Game) -> tuple[VariablePart, VariablePart]:
    """A legal move."""
    from_, to = space_of(game).first_move()
    return from_, to


def call_of(from_: VariablePart, to: VariablePart) -> TransitionCall:
    """A call with as many participants as there are allocations."""
    return TransitionCall(from_, to, len(from_.outcome))


@each_game
@pytest.mark.parametrize("difference", [None, -1, 1, 30, UINT256_MAX])
def test_any_other_number_of_participants_is_refused_by_both(game: Game, difference: int | None) -> None:
    from_, to = first_move(game)
    seats = len(from_.outcome)
    num_participants = 0 if difference is None else min(seats + difference, UINT256_MAX)
    BENCHES[game.name].require_refused(TransitionCall(from_, to, num_participants))


@each_game
@pytest.mark.parametrize("difference", [None, -1, 1, 62])
@pytest.mark.parametrize("side", [FROM, TO])
def test_any_other_number_of_allocations_is_refused_by_both(game: Game, difference: int | None, side: int) -> None:
    states = list(first_move(game))
    seats = len(states[side].outcome)
    count = 0 if difference is None else seats + difference
    states[side] = replace(states[side], outcome=(states[side].outcome * 64)[:count])
    BENCHES[game.name].require_refused(TransitionCall(states[FROM], states[TO], seats))


@each_game
@pytest.mark.parametrize("assets", [(bytes(20), TOKEN), (TOKEN, OTHER_TOKEN), (TOKEN, bytes(20))])
def test_two_assets_are_refused_by_both(game: Game, assets: tuple[bytes, bytes]) -> None:
    """The last allocation is of another asset than those before it."""
    most, last = assets
    seats = len(first_move(game)[FROM].outcome)
    from_, to = (replace(at, outcome=_in_assets(at.outcome, [most] * (seats - 1) + [last])) for at in first_move(game))
    BENCHES[game.name].require_refused(call_of(from_, to))


@each_game
def test_any_single_asset_is_accepted_by_both(game: Game) -> None:
    from_, to = (replace(at, outcome=_in_assets(at.outcome, [TOKEN] * len(at.outcome))) for at in first_move(game))
    BENCHES[game.name].require_accepted(call_of(from_, to))


def _in_assets(entries: Outcome, assets: Sequence[bytes]) -> Outcome:
    return tuple(replace(entry, asset=asset) for entry, asset in zip(entries, assets, strict=True))


@each_game
def test_destinations_that_change_or_trade_places_are_refused_by_both(game: Game) -> None:
    from_, to = first_move(game)
    own = [entry.destination for entry in to.outcome]
    elsewhere = b"\x99" * 32
    for destinations in ([elsewhere, *own[1:]], [*own[:-1], elsewhere], [*own[1:], own[0]]):
        moved = tuple(
            replace(entry, destination=destination) for entry, destination in zip(to.outcome, destinations, strict=True)
        )
        BENCHES[game.name].require_refused(call_of(from_, replace(to, outcome=moved)))


@each_game
@pytest.mark.parametrize("turn_num", [0, 5, 10, 11, UINT48_MAX])
def test_the_mover_is_told_by_the_turn_alone(game: Game, turn_num: int) -> None:
    from_, to = first_move(game)
    call = call_of(from_, replace(to, turn_num=turn_num))
    BENCHES[game.name].compare(call, [call.unchanged()])


# ------------------------------------------------------------------------------------------------------------ rubbish

_words = st.one_of(st.integers(0, 8), st.integers(0, 511), st.integers(0, UINT256_MAX))
_app_data = st.one_of(
    st.lists(_words, min_size=3, max_size=8).map(lambda words: b"".join(w.to_bytes(32, "big") for w in words)),
    st.binary(max_size=260),
)
_allocations = st.builds(
    Allocation,
    asset=st.sampled_from([bytes(20), bytes(20), TOKEN]),
    destination=st.sampled_from([b"\x01" * 32, b"\x01" * 32, b"\x02" * 32]),
    amount=st.one_of(st.integers(0, 9), st.integers(0, UINT256_MAX)),
)
_states = st.builds(
    VariablePart,
    outcome=st.one_of(
        st.just(outcome()), st.lists(_allocations, min_size=2, max_size=2).map(tuple), st.lists(_allocations).map(tuple)
    ),
    app_data=_app_data,
    turn_num=st.integers(0, UINT48_MAX),
    is_final=st.booleans(),
)


@each_game
@settings(max_examples=400)
@given(from_=_states, to=_states, num_participants=st.sampled_from([2, 2, 2, 2, 3]))
def test_rubbish_has_one_verdict(game: Game, from_: VariablePart, to: VariablePart, num_participants: int) -> None:
    call = TransitionCall(from_, to, num_participants)
    BENCHES[game.name].compare(call, [call.unchanged()])


# ------------------------------------------------------------------------------------- what the ABI decoder refuses


@each_game
def test_truncated_calldata_is_malformed_without_a_name(game: Game) -> None:
    calldata = call_of(*first_move(game)).exact
    assert BENCHES[game.name].ask_raw(calldata) == (True, (1).to_bytes(32, "big"))
    for length in range(0, len(calldata) - 32, 7):  # the last word is zero: the length of the evidence
        assert BENCHES[game.name].ask_raw(calldata[:length]) == (False, b"")


@each_game
@pytest.mark.parametrize(("side", "place"), [(TO, TURN_NUM), (FROM, ASSET)], ids=["turnNum", "asset"])
def test_dirty_upper_bits_of_a_typed_word_are_malformed_without_a_name(game: Game, side: int, place: int) -> None:
    call = call_of(*first_move(game))
    patch = call.patch(side, place, (2**200).to_bytes(32, "big"))
    position = int.from_bytes(patch[:2], "big") - 4
    dirty = call.exact[:position] + patch[2:] + call.exact[position + 32 :]
    assert BENCHES[game.name].ask_raw(dirty) == (False, b"")


@each_game
def test_an_amount_that_fills_a_word_is_no_reason_to_panic(game: Game) -> None:
    from_, to = first_move(game)
    for amounts in product((UINT256_MAX, BALANCE), repeat=len(from_.outcome)):
        paid = tuple(replace(entry, amount=amount) for entry, amount in zip(from_.outcome, amounts, strict=True))
        call = call_of(replace(from_, outcome=paid), replace(to, outcome=paid))
        BENCHES[game.name].compare(call, [call.unchanged()])
