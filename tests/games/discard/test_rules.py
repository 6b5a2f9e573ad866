"""The rules of Discard in a channel, through the twin of the contract."""

from __future__ import annotations

from itertools import pairwise

import pytest

from forcemove.protocol.types import VariablePart
from forcemove_games.discard import position, rules, table
from tests.games.discard.dealer import BALANCE, STAKE
from tests.games.discard.hands import NAMES, games, states
from tests.games.states import ID


@pytest.mark.parametrize("name", NAMES)
def test_every_move_of_whole_hands_is_legal(name: str) -> None:
    for from_, to in pairwise(games()[name]):
        assert rules.valid_transition(ID, from_, to, 2)


def test_hands_end_by_wins_and_by_ties_and_play_every_row_of_the_table() -> None:
    rows = {
        (position.decode(from_.app_data).position_type, position.decode(to.app_data).position_type)
        for played in games().values()
        for from_, to in pairwise(played)
    }
    assert rows == {(row.from_type, row.to_type) for row in table.TABLE}


def test_who_is_to_move_has_lost_nothing_before_the_first_deal_and_one_stake_from_then_on() -> None:
    for played in games().values():
        settled = BALANCE, BALANCE
        for state in played:
            kind = position.decode(state.app_data).position_type
            waits = (state.turn_num + 1) % 2
            if kind in (position.PositionType.OVER, position.PositionType.TIED, position.PositionType.READY):
                settled = amounts(state)
            if kind is position.PositionType.TIED or kind < position.PositionType.DEALT_FIRST:
                assert amounts(state) == settled
            elif kind is not position.PositionType.OVER:
                assert amounts(state)[waits] == settled[waits] - STAKE


def amounts(state: VariablePart) -> tuple[int, int]:
    first, second = (allocation.amount for allocation in state.outcome)
    return first, second


def test_there_are_hands_of_every_length() -> None:
    assert max(position.decode(state.app_data).core.laid for state in states()) == 24
