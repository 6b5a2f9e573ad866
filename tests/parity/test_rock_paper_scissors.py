"""Rock-paper-scissors in Python and in bytecode: one verdict, one error, the same values, on the whole table."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import pytest

from forcemove import Move, VariablePart
from forcemove.testing.calls import Bench, TransitionCall
from forcemove_games.commitment import Opening
from forcemove_games.rock_paper_scissors import GAME, rules
from forcemove_games.rock_paper_scissors.position import Weapon, initial
from tests.games.states import ID, STAKE, state
from tests.parity.rock_paper_scissors_space import run_parity


@pytest.mark.parametrize("turn_num", [3, 4])
@pytest.mark.parametrize(("a_play", "b_play"), list(product(Weapon, Weapon)))
def test_a_whole_round_is_accepted_by_both_for_each_of_the_nine_pairs(
    a_play: Weapon, b_play: Weapon, turn_num: int
) -> None:
    bench, opening = Bench(GAME.artifact, GAME), Opening.fresh(a_play)
    steps: tuple[Callable[[VariablePart], Move], ...] = (
        lambda at: rules.propose(at, opening),
        rules.reject,
        lambda at: rules.propose(at, opening),
        lambda at: rules.accept(at, b_play),
        lambda at: rules.reveal(at, opening),
        rules.next_round,
    )
    at = state(initial(ID, STAKE), turn_num=turn_num)
    for step in steps:
        successor = step(at).after(at)
        bench.require_accepted(TransitionCall(at, successor))
        at = successor


def test_every_pair_of_positions_and_every_field_of_it_has_one_verdict() -> None:
    cases, _ = run_parity()
    assert cases > 100_000
