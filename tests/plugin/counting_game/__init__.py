"""Counting: each says the next number; a game of two to four players, as somebody else would write it.

Nobody wins, and nothing changes hands. Its contract lies beside this file. `tests.plugin.distribution` makes a
distribution of this folder, so it imports nothing of the tests.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import auto
from importlib.resources import files

from forcemove import AppError, InvalidValue, Terms, VariablePart, load_artifact, word
from forcemove.game import (
    Choice,
    Game,
    JsonValue,
    LabelledEnum,
    Level,
    Move,
    Names,
    Randomness,
    RoundResult,
    TransitionRow,
    seat_names,
)
from forcemove_games.randomness import system_randomness

SEATS = range(2, 5)
_SEATS = seat_names(min(SEATS))


class Said(LabelledEnum):
    """There is only one kind of position."""

    NUMBER_SAID = auto()


@dataclass(eq=False)
class MalformedCount(AppError):
    """appData is not exactly one word."""

    length: int


@dataclass(eq=False)
class WrongCount(AppError):
    """The count does not rise by exactly one."""

    expected: int
    submitted: int


def count(app_data: bytes) -> int:
    """The number in appData."""
    if len(app_data) != 32:
        raise MalformedCount(len(app_data))
    return int.from_bytes(app_data, "big")


class Counter:
    """Says the next number, and leaves when it may."""

    def __init__(self, seat: int) -> None:
        if seat not in range(max(SEATS)):
            raise InvalidValue("seat", seat, f"0 to {max(SEATS) - 1}")

    def move(self, state: VariablePart, *, another_round: bool, between: Sequence[VariablePart] = ()) -> Move | None:
        """See `forcemove.game.Bot`."""
        if state.is_final or not another_round:
            return None
        return Move(state.outcome, word(count(state.app_data) + 1))

    def is_lost(self, state: VariablePart) -> bool:
        """Never."""
        return False

    def secrets(self) -> bytes:
        """None."""
        return b""


class Counting:
    """See `forcemove.game.Game`."""

    name, title, seats = "counting", "Counting", SEATS
    rules_text = ("Each says the next number.",)
    dispute_gas = 200_000
    artifact = load_artifact(files(__package__) / "CountingApp.json")
    errors: Mapping[str, type[AppError]]
    table = (TransitionRow(Said.NUMBER_SAID, Said.NUMBER_SAID, "the next", "count", "0", ("one more",)),)

    def __init__(self) -> None:
        self.errors = {error.__name__: error for error in (MalformedCount, WrongCount)}

    def initial_app_data(self, terms: Terms) -> bytes:
        """Nobody has said anything."""
        return word(0)

    def stake_of(self, app_data: bytes) -> int:
        """Nothing is played for."""
        return 0 * count(app_data)

    def valid_transition(self, channel_id: bytes, from_: VariablePart, to: VariablePart, num_participants: int) -> bool:
        """The twin of the contract."""
        expected, submitted = count(from_.app_data) + 1, count(to.app_data)
        if submitted != expected:
            raise WrongCount(expected, submitted)
        return True

    def position(self, state: VariablePart) -> Mapping[str, JsonValue]:
        """`type` and `count`."""
        if state.is_final:
            return {"type": "Final"}
        return {"type": Said.NUMBER_SAID.label, "count": str(count(state.app_data))}

    def move_text(self, _before: VariablePart | None, after: VariablePart) -> str:
        """The number."""
        return f"said {count(after.app_data)}"

    def prompt(self, state: VariablePart) -> str:
        """The next number."""
        return f"say {count(state.app_data) + 1}"

    def result(self, _state: VariablePart) -> RoundResult | None:
        """It is one long round."""
        return None

    def board(self, state: VariablePart, names: Names = _SEATS, secrets: bytes = b"") -> str:
        """The number, and everybody who plays."""
        return f"{count(state.app_data)} ({', '.join(names)})"

    def choices(
        self, state: VariablePart, _randomness: Randomness, _secrets: bytes, _between: Sequence[VariablePart] = (), /
    ) -> tuple[Choice, ...]:
        """To count."""
        if state.is_final:
            return ()
        said = count(state.app_data) + 1
        return (Choice(str(said), f"say {said}", Move(state.outcome, word(said))),)

    def bot(
        self,
        seat: int,
        randomness: Randomness = system_randomness,
        secrets: bytes = b"",
        level: Level = Level.HARD,
    ) -> Counter:
        """The only player there is."""
        return Counter(seat)

    def illegal_moves(self, state: VariablePart, secrets: bytes = b"") -> list[tuple[str, VariablePart]]:
        """Two numbers at once, and none."""
        now = count(state.app_data)
        wrong = (("skips a number", word(now + 2)), ("says no number", b""))
        return [(label, Move(state.outcome, data).after(state)) for label, data in wrong]


GAME: Game = Counting()
