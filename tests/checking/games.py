"""The games that are played for money, as the search needs them: of each a few moves, all that there are."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property

from forcemove import App, Outcome, Terms, VariablePart
from forcemove_games import rock_paper_scissors, tic_tac_toe
from forcemove_games.commitment import Opening
from forcemove_games.rock_paper_scissors import rules as rock_paper_scissors_rules
from forcemove_games.rock_paper_scissors.position import Weapon
from forcemove_games.tic_tac_toe import rules as tic_tac_toe_rules
from forcemove_games.tic_tac_toe.position import Position, PositionType
from tests.checking.ladder import Ladder
from tests.checking.world import Game

__all__ = ["STAKE", "Few", "game_named", "one_round", "two_cells"]

STAKE = 10
"""Wei, of a round."""
_FIRST = 4
"""The first turn that is a move."""
_OPENINGS = tuple(Opening(weapon, bytes([weapon]) * 32) for weapon in Weapon)
_SEVEN_MARKS = Position(PositionType.X_PLAYING, STAKE, noughts=0b010_110_000, crosses=0b101_001_010)
"""O moves next, in one of two cells: in the one X wins then, in the other the board is full."""


class Few:
    """A game of which only the first this many moves after the opening are made."""

    def __init__(
        self, game: App, all_moves: Callable[[VariablePart], Iterable[VariablePart]], most: int, begin: bytes = b""
    ) -> None:
        """`all_moves`: the legal ones. `begin`: the position in which it is agreed to start; the game's own if none is
        given."""
        self._game, self._all_moves, self._last = game, all_moves, _FIRST + most - 1
        self._begin = begin
        self._known: dict[VariablePart, tuple[VariablePart, ...]] = {}
        self._payable: dict[VariablePart, frozenset[Outcome]] = {}

    @cached_property
    def name(self) -> str:
        return self._game.name

    def initial_app_data(self, terms: Terms) -> bytes:
        """Where it starts."""
        return self._begin or self._game.initial_app_data(terms)

    def stake_of(self, app_data: bytes) -> int:
        """As the game has it."""
        return self._game.stake_of(app_data)

    def valid_transition(self, channel_id: bytes, from_: VariablePart, to: VariablePart, num_participants: int) -> bool:
        """As the game has it."""
        return self._game.valid_transition(channel_id, from_, to, num_participants)

    def moves(self, from_: VariablePart) -> tuple[VariablePart, ...]:
        """As long as there are any left."""
        if from_.is_final or from_.turn_num >= self._last:
            return ()
        if from_ not in self._known:
            self._known[from_] = tuple(dict.fromkeys(self._all_moves(from_)))
        return self._known[from_]

    def before(self, state: VariablePart) -> VariablePart | None:
        """Not known."""
        return None

    def keeps(self, due: VariablePart, paid: Outcome) -> bool:
        """Whether play leads from that state to one that pays so."""
        return paid in self._payable_from(due)

    def _payable_from(self, state: VariablePart) -> frozenset[Outcome]:
        if state not in self._payable:
            later = [] if state.is_final else [self._payable_from(each) for each in self.moves(state)]
            self._payable[state] = frozenset({state.outcome}).union(*later)
        return self._payable[state]


def two_cells() -> Few:
    """Tic-tac-toe, where two cells are free."""

    def moves(state: VariablePart) -> Iterable[VariablePart]:
        return (move.after(state) for move in tic_tac_toe_rules.legal_moves(state))

    return Few(tic_tac_toe.GAME, moves, 2, _SEVEN_MARKS.encode())


def one_round() -> Few:
    """Rock-paper-scissors, for a round: three commitments, whose salts are not a secret here."""

    def moves(state: VariablePart) -> Iterable[VariablePart]:
        for opening in _OPENINGS:
            for move in rock_paper_scissors_rules.legal_moves(state, opening):
                yield move.after(state)

    return Few(rock_paper_scissors.GAME, moves, 3)


def game_named(name: str) -> Game:
    """`ladder 2x3` is a ladder of two moves with three choices each. Raises `LookupError`."""
    kind, _, size = name.partition(" ")
    if kind == "ladder":
        depth, width = map(int, size.split("x"))
        return Ladder(depth, width)
    return {"tic-tac-toe": two_cells, "rock-paper-scissors": one_round}[name]()
