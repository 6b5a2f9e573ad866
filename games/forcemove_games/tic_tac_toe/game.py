"""Tic-tac-toe as a value: what channels, command lines and demonstrations need of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from forcemove import (
    AppError,
    Artifact,
    Choice,
    JsonValue,
    MalformedBytes,
    Names,
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
from forcemove_games.tic_tac_toe.choices import choices
from forcemove_games.tic_tac_toe.picture import draw
from forcemove_games.tic_tac_toe.position import CELLS, Position, PositionType, decode, initial, mark_of
from forcemove_games.two_player import PLAYERS, movers

__all__ = ["TicTacToe"]

_GAME_OVER = "The game is over."
_SEATS = seat_names(PLAYERS)
_RULE = "\n---+---+---\n"
_TEXTS = {
    PositionType.X_PLAYING: "{last} has marked an X; {next} is to mark an O.",
    PositionType.O_PLAYING: "{last} has marked an O; {next} is to mark an X.",
    PositionType.VICTORY: "{last} has three in a row and wins the round.",
    PositionType.DRAW: "{last} has filled the board: a draw.",
    PositionType.PLAY_AGAIN_ME_FIRST: "{last} would start another round; {next} is to agree.",
    PositionType.PLAY_AGAIN_ME_SECOND: "A new round: {next} is to start it as X.",
}


class TicTacToe:
    """See `forcemove.game.Game`."""

    name = "tic-tac-toe"
    artifact: Artifact = artifact("TicTacToe")
    title = "Tic-tac-toe"
    seats = (PLAYERS,)
    dispute_gas = 93_000
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

    def describe(self, state: VariablePart, names: Names = _SEATS) -> str:
        """One line that says what has happened and which participant is to do what."""
        if state.is_final:
            return _GAME_OVER
        position = decode(state.app_data)
        last, next_ = (names[seat] for seat in movers(state))
        return _TEXTS[position.position_type].format(last=last, next=next_)

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

    def bot(self, seat: int, randomness: Randomness = system_randomness, secrets: bytes = b"") -> TicTacToeBot:
        """A player that never loses."""
        return TicTacToeBot(seat, randomness, secrets)

    def careless_bot(self, seat: int, randomness: Randomness = system_randomness) -> TicTacToeBot:
        """A player that marks any free cell."""
        return TicTacToeBot(seat, randomness, careless=True)

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
