"""Tic-tac-toe in Python and in bytecode: one verdict, one error, the same values, on the whole space."""

from __future__ import annotations

from tests.parity.tic_tac_toe_space import compare_all


def test_every_move_is_accepted_by_both_and_every_illegal_neighbour_has_one_verdict() -> None:
    parity = compare_all()
    # 16,167 marks, and after each of 958 ends of a round an offer and an agreement; either participant is X.
    assert parity.moves == 2 * (16_167 + 2 * 958)
    assert parity.cases > 1_000_000
