"""The game as a value: what channels, command lines and tests ask it for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.resources import files

from forcemove import (
    AppError,
    Artifact,
    Choice,
    InvalidValue,
    Level,
    MalformedBytes,
    Move,
    Names,
    Randomness,
    RoundResult,
    Terms,
    TransitionRow,
    VariablePart,
    load_artifact,
)
from forcemove_games.randomness import system_randomness
from tests.scaffold.connect_four import rules
from tests.scaffold.connect_four.bot import ConnectFourBot
from tests.scaffold.connect_four.position import COLUMNS, ROWS, Position, PositionType, decode, has_four

__all__ = ["ConnectFour"]

_GAME_OVER = "The game is over."


class ConnectFour:
    """See `forcemove.Game`, which says what each member is for."""

    name = "connect-four"
    title = "Connect four"
    rules_text = ("Drop a disc into one of seven columns, in turns.", "Four in a line win the round.")
    seats: Sequence[int] = (2,)
    dispute_gas = 95_000
    artifact: Artifact = load_artifact(files(__package__) / "ConnectFour.json")
    errors: Mapping[str, type[AppError]] = rules.ERRORS
    table: tuple[TransitionRow, ...] = rules.TABLE

    valid_transition = staticmethod(rules.valid_transition)

    def initial_app_data(self, terms: Terms) -> bytes:
        """A round is waited for, and the board is empty."""
        return Position(PositionType.WAITING, terms.stake, 0, 0).encode()

    def stake_of(self, app_data: bytes) -> int:
        """The stake of a position."""
        return decode(app_data).stake

    def position(self, state: VariablePart) -> dict[str, object]:
        """The position as values for screens."""
        if state.is_final:
            return {"type": "Final"}
        position = decode(state.app_data)
        return {"type": position.position_type.label, "last": hex(position.last), "next": hex(position.next)}

    def move_text(self, _before: VariablePart | None, _after: VariablePart) -> str:
        """What the mover did."""
        return "dropped a disc"

    def prompt(self, _state: VariablePart) -> str:
        """What the next mover is asked for."""
        return "drop a disc"

    def result(self, state: VariablePart) -> RoundResult | None:
        """Who got four in a line, or that the board is full."""
        if state.is_final or state.turn_num < 4:
            return None
        position = decode(state.app_data)
        if position.position_type is PositionType.PLAYING:
            return None
        if not has_four(position.last):
            return RoundResult(None, "the board is full", (0, 0))
        winner = state.turn_num % 2
        changes = (position.stake, -position.stake)
        return RoundResult(winner, "four in a line", changes if winner == 0 else changes[::-1])

    def board(self, state: VariablePart, names: Names = (), secrets: bytes = b"") -> str:
        """Six rows of seven; `0` and `1` are the participants' discs."""
        _require_none(secrets)
        if state.is_final:
            return _GAME_OVER
        position, last = decode(state.app_data), state.turn_num % 2
        marks = {(0, 0): ".", (1, 0): str(last), (0, 1): str(1 - last)}
        rows = [
            " ".join(
                marks[position.last >> bit & 1, position.next >> bit & 1]
                for bit in range(row, (ROWS + 1) * COLUMNS, ROWS + 1)
            )
            for row in reversed(range(ROWS))
        ]
        return "\n".join([*rows, " ".join(str(column + 1) for column in range(COLUMNS))])

    def choices(
        self, state: VariablePart, _randomness: Randomness, secrets: bytes, _between: Sequence[VariablePart] = (), /
    ) -> Sequence[Choice]:
        """What a person may do: drop a disc into a column that is not full."""
        _require_none(secrets)
        if state.is_final or not rules.legal_moves(state):
            return ()
        drops = ((column + 1, rules.drop(state, column)) for column in range(COLUMNS))
        return [Choice(str(n), f"drop a disc into column {n}", move) for n, move in drops if move is not None]

    def bot(
        self,
        seat: int,
        randomness: Randomness = system_randomness,
        secrets: bytes = b"",
        level: Level = Level.HARD,
    ) -> ConnectFourBot:
        """A player who sees one move ahead where it thinks."""
        return ConnectFourBot(_checked(seat, secrets), randomness, level)

    def illegal_moves(self, state: VariablePart, secrets: bytes = b"") -> list[tuple[str, VariablePart]]:
        """What a cheat could sign next: each is refused by the rules."""
        _require_none(secrets)
        legal = [] if state.is_final else rules.legal_moves(state)
        if not legal:
            return []
        position = decode(legal[0].app_data)
        floating = Position(position.position_type, position.stake, 1 << (ROWS - 1), position.next)
        richer = Position(position.position_type, position.stake + 1, position.last, position.next)
        moves = {
            "leaves a disc in the air": Move(legal[0].outcome, floating.encode()),
            "drops none": Move(legal[0].outcome, state.app_data),
            "drops one without taking the stakes": Move(state.outcome, legal[0].app_data),
            "changes the stake": Move(legal[0].outcome, richer.encode()),
        }
        return [(label, move.after(state)) for label, move in moves.items()]


def _checked(seat: int, secrets: bytes) -> int:
    if seat not in (0, 1):
        raise InvalidValue("seat", seat, "0 or 1")
    _require_none(secrets)
    return seat


def _require_none(secrets: bytes) -> None:
    if secrets:
        raise MalformedBytes("secrets", "this game has none")
