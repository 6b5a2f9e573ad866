"""Tic-tac-toe in Python and in bytecode: one verdict, one error, the same values, on the whole space."""

from __future__ import annotations

from games.tic_tac_toe import GAME
from tests.parity.calls import Bench, Call
from tests.parity.tic_tac_toe_space import FIRST_TURN, moves, run_parity


def test_every_legal_move_is_accepted_by_both_whoever_is_x() -> None:
    bench = Bench(GAME.contract, GAME)
    for turn_num in (FIRST_TURN, FIRST_TURN + 1):
        for from_, to in moves(turn_num):
            bench.require_accepted(Call(from_, to))
    # 16,167 marks, and after each of 958 ends of a round an offer and an agreement.
    assert bench.cases == 2 * (16_167 + 2 * 958)


def test_every_illegal_neighbour_of_every_move_has_one_verdict() -> None:
    cases, _ = run_parity()
    assert cases > 1_000_000
