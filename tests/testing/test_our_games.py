"""Our own games under the kit that other people's games use."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from itertools import product
from math import inf
from pathlib import Path

import pytest

from forcemove import Game, Move, Outcome, VariablePart
from forcemove.testing import calls, channels, properties, walk
from forcemove.testing.space import Bounds, StateSpace
from forcemove_games.commitment import Opening
from forcemove_games.rock_paper_scissors import GAME as ROCK_PAPER_SCISSORS
from forcemove_games.rock_paper_scissors import position as rock_paper_scissors_position
from forcemove_games.rock_paper_scissors import rules as rock_paper_scissors
from forcemove_games.rock_paper_scissors.position import Weapon
from forcemove_games.tic_tac_toe import GAME as TIC_TAC_TOE
from forcemove_games.tic_tac_toe import position as tic_tac_toe_position
from forcemove_games.tic_tac_toe import rules as tic_tac_toe
from tests.installed import GAMES
from tests.sampled import sampled

ROOT = Path(__file__).parents[2]

STAKE = 3
"""All that a participant has: anyone who has lost a round cannot pay for another."""
SALT = b"\x5a" * 32


@dataclass(frozen=True)
class Case:
    """A game, and what a walk through it needs."""

    game: Game
    moves: Callable[[VariablePart], Iterable[Move]]
    is_settled: Callable[[VariablePart], bool]
    states: int
    """How many the walk meets."""
    made: int
    """How many moves it makes."""

    @property
    def space(self) -> StateSpace:
        """All of it, however long that takes, between as few as can play."""
        amounts = (STAKE,) * min(self.game.seats)
        begin = walk.first_state(self.game.initial_app_data(walk.terms_of(amounts, STAKE)), amounts)
        return StateSpace(begin, self.moves, Bounds(seconds=inf))


@cache
def _marks(state: VariablePart) -> Iterable[Move]:
    """Each walk asks about each of its states more than once, and there are three."""
    kind = tic_tac_toe_position.PositionType
    if tic_tac_toe_position.decode(state.app_data).position_type in (kind.VICTORY, kind.DRAW, kind.PLAY_AGAIN_ME_FIRST):
        return (tic_tac_toe.play_again(state),)
    return tuple(tic_tac_toe.legal_moves(state))


def _is_between_boards(state: VariablePart) -> bool:
    kind = tic_tac_toe_position.PositionType
    return tic_tac_toe_position.decode(state.app_data).position_type not in (kind.X_PLAYING, kind.O_PLAYING)


def _hands(state: VariablePart) -> Iterable[Move]:
    """With each weapon that A may have hidden; one round, since rounds are counted without end."""
    if rock_paper_scissors_position.decode(state.app_data).round_num > 0:
        return []
    moves = (move for weapon in Weapon for move in rock_paper_scissors.legal_moves(state, Opening(weapon, SALT)))
    return {move.app_data: move for move in moves}.values()


def _is_between_hands(state: VariablePart) -> bool:
    kind = rock_paper_scissors_position.PositionType
    position = rock_paper_scissors_position.decode(state.app_data)
    return position.position_type in (kind.START, kind.REVEAL)


CASES = [
    Case(TIC_TAC_TOE, _marks, _is_between_boards, states=10_962, made=34_254),
    Case(ROCK_PAPER_SCISSORS, _hands, _is_between_hands, states=25, made=33),
]
ELSEWHERE = {"discard": "tests/parity/test_discard.py"}
"""Games that are not a `Case`, and the file of tests that walks through them."""
ASKED = (
    "require_both_alike",
    "require_legal_moves",
    "require_successors",
    "require_no_gain_by_leaving",
    "require_results",
)
each_case = pytest.mark.parametrize("case", CASES, ids=[case.game.name for case in CASES])


def test_every_game_is_walked_here_or_elsewhere() -> None:
    assert sorted([case.game.name for case in CASES] + [*ELSEWHERE]) == sorted(game.name for game in GAMES)
    for path in ELSEWHERE.values():
        text = (ROOT / path).read_text("utf-8")
        assert [asked for asked in ASKED if f"{asked}(" not in text] == [], path


@each_case
def test_every_legal_move_is_legal(case: Case) -> None:
    assert properties.require_legal_moves(case.game, case.space) == case.made


@each_case
def test_every_legal_state_has_a_legal_successor(case: Case) -> None:
    assert properties.require_successors(case.space, case.is_settled) == case.states


@each_case
def test_each_round_has_a_result_of_what_changed_hands(case: Case) -> None:
    assert properties.require_results(case.game, case.space.begin, case.is_settled) > 20


@each_case
def test_nobody_gains_by_walking_away(case: Case) -> None:
    properties.require_no_gain_by_leaving(case.space, case.is_settled)


@pytest.mark.parametrize("case", CASES[1:], ids=lambda case: case.game.name)
def test_bytecode_and_twin_are_alike(case: Case) -> None:
    """Of tic-tac-toe there is more in `tests/parity`, on the whole space."""
    bench = calls.Bench(case.game.artifact, case.game)
    assert properties.require_both_alike(bench, case.space) > 1_000


PLAYS = (channels.play_honestly, channels.play_silence, channels.play_forced, channels.play_stale, channels.play_cheat)


@pytest.mark.parametrize(("play", "case"), sampled([*product(PLAYS, CASES)], every=3))
def test_a_channel_comes_to_its_end(case: Case, play: Callable[[Game, int], Outcome]) -> None:
    play(case.game, min(case.game.seats))
