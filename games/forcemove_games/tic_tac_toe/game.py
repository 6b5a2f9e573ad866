"""Tic-tac-toe as a value: what channels, command lines and demonstrations need of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from forcemove import (
    AppError,
    Artifact,
    Choice,
    JsonValue,
    Level,
    MalformedBytes,
    Names,
    RoundResult,
    Terms,
    TransitionRow,
    VariablePart,
    seat_names,
)
from forcemove.contracts import artifact
from forcemove.picture import Svg
from forcemove_games.cheats import refused
from forcemove_games.randomness import Randomness, system_randomness
from forcemove_games.tic_tac_toe import rules
from forcemove_games.tic_tac_toe.bot import TicTacToeBot
from forcemove_games.tic_tac_toe.cheats import cheats
from forcemove_games.tic_tac_toe.choices import CELL_NAMES, choices
from forcemove_games.tic_tac_toe.picture import draw
from forcemove_games.tic_tac_toe.position import CELLS, Position, PositionType, decode, initial, mark_of
from forcemove_games.two_player import PLAYERS, movers, round_result

_GAME_OVER = "The game is over."
_SEATS = seat_names(PLAYERS)
_RULE = "\n---+---+---\n"
_PROMPTS = {
    PositionType.X_PLAYING: "place an O",
    PositionType.O_PLAYING: "place an X",
    PositionType.VICTORY: "start another round",
    PositionType.DRAW: "start another round",
    PositionType.PLAY_AGAIN_ME_FIRST: "agree to another round",
    PositionType.PLAY_AGAIN_ME_SECOND: "place the first X",
}


class TicTacToe:
    """See `forcemove.game.Game`."""

    name = "tic-tac-toe"
    artifact: Artifact = artifact("TicTacToe")
    title = "Tic-tac-toe"
    rules_text = (
        "X and O take turns on a board of three by three cells; X begins.",
        "Three in a row win the round: across, down, or from corner to corner.",
        "The winner gets the stake from the loser. A full board is a draw, and moves nothing.",
        "Leaving in the middle of a round costs the stake.",
        "After a round the loser may ask for another, and after a draw O may; the one who asked begins it as X.",
    )
    seats = (PLAYERS,)
    dispute_gas = 95_500
    table: tuple[TransitionRow, ...] = rules.TABLE
    errors: Mapping[str, type[AppError]] = rules.ERRORS

    def initial_app_data(self, terms: Terms) -> bytes:
        """An empty board, agreed to be played on."""
        return initial(terms.stake).encode()

    def stake_of(self, app_data: bytes) -> int:
        """The stake of a position."""
        return decode(app_data).stake

    valid_transition = staticmethod(rules.valid_transition)

    def position(self, state: VariablePart) -> Mapping[str, JsonValue]:
        """`type`, `stake`, `cells` (nine by rows: "X", "O" or null), and the seats of `x` and `o`."""
        if state.is_final:
            return {"type": "Final"}
        position = decode(state.app_data)
        x_player, o_player = _players(state, position)
        marks = (_cell(position, cell) for cell in CELLS)
        return {
            "type": position.position_type.label,
            "stake": str(position.stake),
            "cells": [None if mark.isdecimal() else mark for mark in marks],
            "x": x_player,
            "o": o_player,
        }

    def move_text(self, before: VariablePart | None, after: VariablePart) -> str:
        """What the mover did: where a mark was placed, as far as `before` tells."""
        position = decode(after.app_data)
        match position.position_type:
            case PositionType.PLAY_AGAIN_ME_FIRST:
                return "asked for another round"
            case PositionType.PLAY_AGAIN_ME_SECOND:
                return "agreed to another round"
        mark = "an X" if _is_made_by_x(position) else "an O"
        old = decode(before.app_data) if before is not None else position
        new = [cell for cell in old.free_cells if cell not in position.free_cells]
        return f"placed {mark} {CELL_NAMES[new[0]]}" if len(new) == 1 else f"placed {mark}"

    def prompt(self, state: VariablePart) -> str:
        """What the next mover is asked for."""
        return _PROMPTS[decode(state.app_data).position_type]

    def result(self, state: VariablePart) -> RoundResult | None:
        """How the round ended, with a line or a full board."""
        if state.is_final:
            return None
        position = decode(state.app_data)
        match position.position_type:
            case PositionType.VICTORY:
                return round_result(state.turn_num % PLAYERS, "three in a row", position.stake)
            case PositionType.DRAW:
                return round_result(None, "the board is full", position.stake)
        return None

    def board(self, state: VariablePart, names: Names = _SEATS, secrets: bytes = b"") -> str:
        """Each player's marks, and five lines in which free cells show their numbers."""
        _require_none(secrets)
        if state.is_final:
            return _GAME_OVER
        position = decode(state.app_data)
        x_player, o_player = (names[seat] for seat in _players(state, position))
        shown = [f" {_cell(position, cell)} " for cell in CELLS]
        rows = _RULE.join("|".join(shown[start : start + 3]).rstrip() for start in (0, 3, 6))
        return f"X: {x_player}, O: {o_player}\n{rows}"

    def picture(
        self,
        state: VariablePart,
        _viewer: int | None,
        own: bytes,
        names: Names,
        choices: Sequence[str],
        before: VariablePart | None = None,
    ) -> Svg:
        """The board, with a spot for each cell; see `forcemove.game.Pictured`. There are no secrets in it.

        - `state`: no final one.
        - `_viewer`: all see the same.
        - `own`: nothing.
        - `names`: of the players.
        - `choices`: the words of free cells, where the viewer is to mark one.
        - `before`: the state before, by which the last mark is lit up.
        """
        _require_none(own)
        return draw(state, names, _players(state, decode(state.app_data))[0], choices, before)

    def choices(
        self, state: VariablePart, _randomness: Randomness, secrets: bytes, _between: Sequence[VariablePart] = (), /
    ) -> tuple[Choice, ...]:
        """A free cell, by its number; or another round."""
        _require_none(secrets)
        return () if state.is_final else choices(state)

    def bot(
        self,
        seat: int,
        randomness: Randomness = system_randomness,
        secrets: bytes = b"",
        level: Level = Level.HARD,
    ) -> TicTacToeBot:
        """A player that never loses, if it thinks about each move."""
        return TicTacToeBot(seat, randomness, secrets, level)

    def illegal_moves(self, state: VariablePart, secrets: bytes = b"") -> list[tuple[str, VariablePart]]:
        """Successors that the core lets pass and the game refuses, each with a label."""
        _require_none(secrets)
        return [] if state.is_final else refused(rules.require_legal, state, cheats(state))


def _require_none(secrets: bytes) -> None:
    if secrets:
        raise MalformedBytes("secrets", "this game has none")


def _players(state: VariablePart, position: Position) -> tuple[int, int]:
    """The seats of X and O."""
    last, next_ = movers(state)
    return (last, next_) if _is_made_by_x(position) else (next_, last)


def _is_made_by_x(position: Position) -> bool:
    """Whether the mover of the state is X, or will be in the next round."""
    kind = position.position_type
    if kind is PositionType.VICTORY:
        return position.crosses.bit_count() > position.noughts.bit_count()
    return kind in (PositionType.X_PLAYING, PositionType.DRAW, PositionType.PLAY_AGAIN_ME_FIRST)


def _cell(position: Position, cell: int) -> str:
    if position.crosses & mark_of(cell):
        return "X"
    return "O" if position.noughts & mark_of(cell) else str(cell)
