"""What every game shows to programs that know none by name."""

from __future__ import annotations

import json
import tomllib
from functools import partial
from importlib import import_module
from pathlib import Path
from random import randbytes

import pytest
from msgspec.structs import replace

from forcemove import App, AppError, Choice, FalseMove, Game, Move, Names
from forcemove.protocol.types import Allocation, Outcome, address_destination, require_same_totals
from forcemove.rounds import UNASKED, position_line
from forcemove.testing.calls import Bench, TransitionCall
from forcemove.testing.properties import require_choices
from tests.evm import errors_of
from tests.games.states import BALANCE, ID, STAKE, final, state
from tests.installed import GAMES, each_game, space_of
from tests.protocol.builders import terms

PYPROJECT = Path(__file__).parents[2] / "pyproject.toml"


def names_of(game: Game) -> Names:
    """One for each participant of the fewest."""
    return ("Alice", "Bob", "Carol", "Dave", "Eve", "Frank", "Grace", "Heidi")[: min(game.seats)]


def balances(game: Game, first: int = BALANCE) -> Outcome:
    """What each has, of the fewest participants; `first`: what participant 0 has."""
    return tuple(
        Allocation(bytes(20), address_destination(bytes((seat + 1,)) * 20), BALANCE if seat else first)
        for seat in range(min(game.seats))
    )


@each_game
def test_a_game_is_what_channels_and_programs_ask_for(game: Game) -> None:
    assert isinstance(game, App)
    assert isinstance(game, Game)


@each_game
def test_the_game_is_found_by_its_entry_point(game: Game) -> None:
    entry_points = tomllib.loads(PYPROJECT.read_text("utf-8"))["project"]["entry-points"]["forcemove.games"]
    module, _, attribute = entry_points[game.name].partition(":")
    assert getattr(import_module(module), attribute) is game


def test_every_game_of_this_repository_is_installed() -> None:
    """An entry point counts once the project is installed anew; `scripts/setup test` does that."""
    entry_points = tomllib.loads(PYPROJECT.read_text("utf-8"))["project"]["entry-points"]["forcemove.games"]
    assert set(entry_points) == {game.name for game in GAMES}
    contracts = {file.stem for file in (PYPROJECT.parent / "contracts" / "games").glob("*.sol")}
    assert contracts == {game.artifact.name for game in GAMES}


@each_game
def test_every_error_of_the_contract_has_its_twin(game: Game) -> None:
    """The same names, and as many values; parity tests compare the values."""
    declared = {name: len(types) for name, types in errors_of(game.artifact.name).values()}
    assert {name: len(error.__dataclass_fields__) for name, error in game.errors.items()} == declared
    assert all(issubclass(error, AppError) for error in game.errors.values())


@each_game
def test_every_reachable_position_is_described_in_one_line(game: Game) -> None:
    for at in space_of(game).reachable():
        text = position_line(game, None, at, names_of(game))
        assert "\n" not in text
        is_unasked = game.prompt(at).endswith(UNASKED)
        assert text == game.prompt(at) if is_unasked else text.endswith(".")
        assert is_unasked or any(name in text for name in names_of(game))


@each_game
def test_people_can_play_by_what_is_offered(game: Game) -> None:
    agreed = replace(terms(STAKE), channel_id=ID)
    begin = state(game.initial_app_data(agreed), balances(game), turn_num=2 * min(game.seats) - 1)
    assert require_choices(game, begin, games=8) > 100


@each_game
def test_nothing_is_offered_after_the_end(game: Game) -> None:
    assert not game.choices(final(), randbytes, b"")


@each_game
def test_every_reachable_position_has_a_board(game: Game) -> None:
    heights = {len(game.board(at, names_of(game)).splitlines()) for at in space_of(game).reachable()}
    assert len(heights) == 1, "a screen does not jump"


@each_game
def test_a_final_state_can_be_shown(game: Game) -> None:
    assert position_line(game, None, final(), names_of(game)) == game.board(final()) == "The game is over."


@each_game
def test_bytes_that_are_no_position_raise_the_games_own_error(game: Game) -> None:
    garbage = state(b"\xff" * 32)
    for ask in (game.prompt, game.result, partial(game.move_text, None), game.board, game.illegal_moves):
        with pytest.raises(AppError):
            ask(garbage)
    with pytest.raises(AppError):
        game.stake_of(garbage.app_data)


@each_game
def test_during_the_setup_participant_0_is_announced_as_the_first_mover(game: Game) -> None:
    for turn_num in range(2 * min(game.seats)):
        opening = state(game.initial_app_data(terms(STAKE)), balances(game), turn_num=turn_num)
        prompt = game.prompt(opening)
        said = prompt if prompt.endswith(UNASKED) else f"Alice's turn to {prompt}."
        assert position_line(game, None, opening, names_of(game)) == said


@each_game
def test_illegal_moves_are_refused_by_the_bytecode_for_the_same_reason(game: Game) -> None:
    bench = Bench(game.artifact, game)
    for at in list(space_of(game).reachable())[::7]:
        illegal = game.illegal_moves(at)
        assert len(illegal) >= 4
        for _, successor in illegal:
            bench.require_refused(TransitionCall(at, successor, len(at.outcome)))


@each_game
def test_illegal_moves_have_labels_that_differ_and_pass_the_core(game: Game) -> None:
    for at in list(space_of(game).reachable())[::7]:
        illegal = game.illegal_moves(at)
        assert len({label for label, _ in illegal}) == len(illegal)
        for _, successor in illegal:
            assert successor.turn_num == at.turn_num + 1
            assert not successor.is_final
            require_same_totals(at.outcome, successor.outcome)


@each_game
def test_where_a_round_cannot_be_paid_for_starting_it_is_among_the_illegal_moves(game: Game) -> None:
    poor = state(game.initial_app_data(terms(STAKE)), balances(game, STAKE - 1))
    assert game.illegal_moves(poor)
    assert game.illegal_moves(final()) == []


@each_game
def test_the_first_row_of_the_table_leads_from_the_position_in_which_a_channel_starts(game: Game) -> None:
    start = state(game.initial_app_data(terms(STAKE)))
    assert game.position(start)["type"] == game.table[0].from_type.label


@each_game
def test_every_type_of_position_is_reached_and_is_in_the_table(game: Game) -> None:
    labels = {row.from_type.label for row in game.table} | {row.to_type.label for row in game.table}
    assert {game.position(at)["type"] for at in space_of(game).reachable()} == labels


@each_game
def test_every_reachable_position_is_data_that_json_can_hold(game: Game) -> None:
    """And positions that differ are told apart by it."""
    found = [(at.app_data, json.dumps(game.position(at), sort_keys=True)) for at in space_of(game).reachable()]
    assert all(json.loads(text)["stake"] == str(STAKE) for _, text in found)
    assert len({text for _, text in found}) == len({data for data, _ in found})
    assert game.position(final()) == {"type": "Final"}


@each_game
def test_bytes_that_are_no_position_are_no_data(game: Game) -> None:
    with pytest.raises(AppError):
        game.position(state(b"\xff" * 32))


def test_nothing_secret_shows_in_the_repr_of_a_move_that_can_be_chosen() -> None:
    move, secret = Move((), b""), b"\x07" * 32
    assert repr(Choice("rock", "play rock", move, secret)) == "Choice(is_forced=False)"
    assert "x07" not in repr(FalseMove("cheats", move, secret))
