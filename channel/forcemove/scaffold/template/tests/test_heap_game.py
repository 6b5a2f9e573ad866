"""The game under the kit of `forcemove.testing`: the rules in both languages, and whole channels with every dispute.

A game with more states than can be walked is looked at in samples: the page of this folder says more.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from forcemove import Game, Outcome, Pictured, VariablePart, seat_names
from forcemove.contracts.project import stale_artifacts
from forcemove.testing import properties
from forcemove.testing.calls import Bench
from forcemove.testing.channels import play_cheat, play_forced, play_honestly, play_silence, play_stale
from forcemove.testing.space import StateSpace, Visit
from forcemove.testing.walk import first_state, terms_of

from heap_game import GAME
from heap_game.position import PositionType, decode
from heap_game.rules import legal_moves

SEATS = GAME.seats[0]
STAKE = 3
AMOUNTS = (STAKE,) * SEATS
"""Anyone who has lost a round cannot pay for another: so the walk through all states ends."""
BEGIN = first_state(GAME.initial_app_data(terms_of(AMOUNTS, STAKE)), AMOUNTS)
SPACE = StateSpace(BEGIN, legal_moves)


def is_settled(state: VariablePart) -> bool:
    """Whether no round is running."""
    return decode(state.app_data).position_type is PositionType.WAITING


def test_it_is_a_game() -> None:
    assert isinstance(GAME, Game)


def test_the_artifact_was_made_of_the_sources() -> None:
    assert stale_artifacts(Path(__file__).parents[1]) == []


def test_bytecode_and_twin_are_alike() -> None:
    assert properties.require_both_alike(Bench(GAME.artifact, GAME), SPACE) > 0


def test_every_legal_move_is_legal() -> None:
    assert properties.require_legal_moves(GAME, SPACE) > 0


def test_the_picture_can_be_shown_and_its_open_spots_are_choices() -> None:
    if not isinstance(GAME, Pictured):
        pytest.skip("the game has no picture: its board is shown as text")
    words = [choice.word for choice in GAME.choices(BEGIN, bytes, b"")]
    picture = GAME.picture(BEGIN, 0, b"", seat_names(SEATS), words, None)
    assert picture.markup()
    assert [spot.word for spot in picture.spots if not spot.reason and spot.word not in words] == []


def test_people_can_play_it() -> None:
    assert properties.require_choices(GAME, BEGIN) > 0


def test_each_round_has_a_result() -> None:
    assert properties.require_results(GAME, BEGIN, is_settled) > 0


def test_every_legal_state_has_a_legal_successor() -> None:
    properties.require_successors(SPACE, is_settled)


def test_nobody_gains_by_walking_away() -> None:
    properties.require_no_gain_by_leaving(SPACE, is_settled)


@pytest.mark.parametrize("play", [play_honestly, play_silence, play_forced, play_stale, play_cheat])
def test_a_channel_comes_to_its_end(play: Callable[[Game, int], Outcome]) -> None:
    play(GAME, SEATS)


def test_every_position_is_drawn() -> None:
    names = tuple(f"Player {seat}" for seat in range(SEATS))

    def look(visit: Visit) -> None:
        assert GAME.board(visit.state, names)
        assert GAME.position(visit.state)["type"] == decode(visit.state.app_data).position_type.label

    SPACE.check("drawn", look)
