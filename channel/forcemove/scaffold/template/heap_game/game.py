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
    Svg,
    Terms,
    TransitionRow,
    VariablePart,
    load_artifact,
)
from forcemove_games.randomness import system_randomness

from heap_game import rules
from heap_game.bot import HeapGameBot
from heap_game.picture import draw
from heap_game.position import MOST, SIZE, Position, PositionType, decode

__all__ = ["HeapGame"]

_GAME_OVER = "The game is over."


class HeapGame:
    """See `forcemove.Game`, which says what each member is for."""

    name = "heap-game"
    title = "Heap game"
    rules_text = (
        "Take one to three from a heap of ten, in turns.",
        "The one who takes the last wins the round, and a stake from each of the others.",
    )
    seats: Sequence[int] = (2,)
    dispute_gas = 5_000 + 45_000 * max(seats)  # rounded up from what `forcemove demo` shows of a challenge
    artifact: Artifact = load_artifact(files(__package__) / "HeapGame.json")
    errors: Mapping[str, type[AppError]] = rules.ERRORS
    table: tuple[TransitionRow, ...] = rules.TABLE

    valid_transition = staticmethod(rules.valid_transition)

    def initial_app_data(self, terms: Terms) -> bytes:
        """A round is waited for."""
        return Position(PositionType.WAITING, terms.stake, 0).encode()

    def stake_of(self, app_data: bytes) -> int:
        """The stake of a position."""
        return decode(app_data).stake

    def position(self, state: VariablePart) -> dict[str, object]:
        """The position as values for screens."""
        if state.is_final:
            return {"type": "Final"}
        position = decode(state.app_data)
        return {"type": position.position_type.label, "heap": position.heap}

    def move_text(self, before: VariablePart | None, after: VariablePart) -> str:
        """What the mover did."""
        left = decode(after.app_data).heap
        taken = "" if before is None else f"{rules.heap_before(decode(before.app_data)) - left}, and "
        return f"took {taken}left {left}" if taken else f"left {left}"

    def prompt(self, state: VariablePart) -> str:
        """What the next mover is asked for."""
        is_waiting = decode(state.app_data).position_type is PositionType.WAITING
        return f"start a round: take 1 to {MOST} of {SIZE}" if is_waiting else f"take 1 to {MOST}"

    def result(self, state: VariablePart) -> RoundResult | None:
        """Who took the last one, and a stake of each of the others."""
        seats = len(state.outcome)
        if state.is_final or decode(state.app_data).heap or state.turn_num < 2 * seats:
            return None
        winner, stake = state.turn_num % seats, self.stake_of(state.app_data)
        changes = [(seats - 1) * stake if seat == winner else -stake for seat in range(seats)]
        return RoundResult(winner, "the heap is empty", tuple(changes))

    def board(self, state: VariablePart, names: Names = (), secrets: bytes = b"") -> str:
        """The heap: everybody sees the same, and nobody has a secret."""
        _require_none(secrets)
        if state.is_final:
            return _GAME_OVER
        heap = decode(state.app_data).heap
        return f"heap: {'o ' * heap}({heap})"

    def picture(
        self,
        state: VariablePart,
        _viewer: int | None,
        _own: bytes,
        _names: Names,
        choices: Sequence[str],
        _before: VariablePart | None = None,
    ) -> Svg:
        """The heap with a spot for each choice, for screens that show pictures; see `forcemove.Pictured`. All see the
        same, and nobody has a secret."""
        return draw(rules.heap_before(decode(state.app_data)), choices)

    def choices(
        self, state: VariablePart, _randomness: Randomness, secrets: bytes, _between: Sequence[VariablePart] = (), /
    ) -> Sequence[Choice]:
        """What a person may do: take one to three."""
        _require_none(secrets)
        if state.is_final:
            return ()
        heap = rules.heap_before(decode(state.app_data))
        counts = range(1, len(rules.legal_moves(state)) + 1)
        return [Choice(str(n), f"take {n}, which leaves {heap - n}", rules.take(state, n)) for n in counts]

    def bot(
        self,
        seat: int,
        randomness: Randomness = system_randomness,
        secrets: bytes = b"",
        level: Level = Level.HARD,
    ) -> HeapGameBot:
        """A player who leaves a multiple of four where it thinks and can."""
        return HeapGameBot(_checked(seat, secrets), randomness, level)

    def illegal_moves(self, state: VariablePart, secrets: bytes = b"") -> list[tuple[str, VariablePart]]:
        """What a cheat could sign next: each is refused by the rules."""
        _require_none(secrets)
        if state.is_final or not rules.legal_moves(state):
            return []
        legal = rules.take(state, 1)
        position = decode(legal.app_data)
        richer = Position(position.position_type, position.stake + 1, position.heap)
        moves = {
            "takes four": rules.take(state, MOST + 1) if position.heap >= MOST else None,
            "takes nothing": Move(legal.outcome, state.app_data),
            "takes one without taking the stakes": Move(state.outcome, legal.app_data),
            "changes the stake": Move(legal.outcome, richer.encode()),
        }
        return [(label, move.after(state)) for label, move in moves.items() if move is not None]


def _checked(seat: int, secrets: bytes) -> int:
    if not 0 <= seat < max(HeapGame.seats):
        raise InvalidValue("seat", seat, f"0 to {max(HeapGame.seats) - 1}")
    _require_none(secrets)
    return seat


def _require_none(secrets: bytes) -> None:
    if secrets:
        raise MalformedBytes("secrets", "this game has none")
