"""Tic-tac-toe in Python and in bytecode: one verdict, one error, the same values, on the whole space."""

from __future__ import annotations

from math import ceil

import pytest

from tests.parity.tic_tac_toe_space import compare_all, compare_share

MOVES = 2 * (16_167 + 2 * 958)
"""16,167 marks, and after each of 958 ends of a round an offer and an agreement; either participant is X."""


def test_one_move_in_four_is_accepted_by_both_and_one_in_200_has_illegal_neighbours_of_one_verdict() -> None:
    parity = compare_share(0, 4, neighbours_of_one_in=50)
    assert parity.moves == 2 * ceil(MOVES / 2 / 4)
    assert parity.cases > 18_000


@pytest.mark.long
def test_every_move_is_accepted_by_both_and_every_illegal_neighbour_has_one_verdict() -> None:
    parity = compare_all()
    assert parity.moves == MOVES
    assert parity.cases > 1_000_000
