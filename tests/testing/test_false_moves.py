"""The kit's check of moves that only players can judge: each part of it is seen to fail."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from forcemove import Choice, FalseMove, Game, Move, PlayerChecked, Randomness, VariablePart
from forcemove.game import Level
from forcemove.testing.calls import Bench
from forcemove.testing.difference import TwinsDiffer
from forcemove.testing.false_moves import require_false_moves_seen
from forcemove_games.commitment import Opening
from forcemove_games.randomness import system_randomness
from forcemove_games.rock_paper_scissors import rules
from forcemove_games.rock_paper_scissors.bot import RockPaperScissorsBot
from forcemove_games.rock_paper_scissors.game import RockPaperScissors
from forcemove_games.rock_paper_scissors.openings import find_opening
from forcemove_games.rock_paper_scissors.position import PositionType, Weapon, decode, initial
from tests.games.states import ID, STAKE
from tests.games.states import state as state_of

BEGIN = state_of(initial(ID, STAKE), turn_num=3)
KNOWN = Opening(Weapon.ROCK, bytes(32))
"""An opening that anybody can guess."""


class Wary(RockPaperScissorsBot):
    """Does not answer a commitment that anybody can open, and accepts with rock."""

    def move(self, state: VariablePart, *, another_round: bool, between: Sequence[VariablePart] = ()) -> Move | None:
        position = decode(state.app_data)
        if find_opening([KNOWN], position) or position.b_play == Weapon.PAPER:
            return None
        if position.position_type is PositionType.ROUND_PROPOSED:
            return rules.accept(state, Weapon.ROCK)
        return super().move(state, another_round=another_round)


class Guessed(RockPaperScissors):
    """Rock-paper-scissors in which nobody may use a salt of zeros: the contract knows nothing of that."""

    def bot(
        self,
        seat: int,
        randomness: Randomness = system_randomness,
        secrets: bytes = b"",
        level: Level = Level.HARD,
    ) -> RockPaperScissorsBot:
        return Wary(seat, randomness, secrets)

    def choices(
        self, state: VariablePart, randomness: Randomness, secrets: bytes, _between: Sequence[VariablePart] = (), /
    ) -> tuple[Choice, ...]:
        return () if self.objection(state, secrets) else super().choices(state, randomness, secrets)

    def objection(self, state: VariablePart, _secrets: bytes, /) -> str:
        position = decode(state.app_data)
        if position.b_play == Weapon.PAPER:
            return "has played paper"
        return "has hidden nothing" if find_opening([KNOWN], position) else ""

    def false_moves(self, state: VariablePart, _randomness: Randomness, _secrets: bytes, /) -> Sequence[FalseMove]:
        if decode(state.app_data).position_type is not PositionType.START:
            return []
        return [FalseMove("uses a salt of zeros", rules.propose(state, KNOWN))]


def check(game: Game) -> int:
    return require_false_moves_seen(Bench(game.artifact, game), game, BEGIN, turns=8)


def test_what_the_contract_lets_pass_and_the_next_player_leaves_is_counted() -> None:
    assert isinstance(Guessed(), PlayerChecked)
    assert check(Guessed()) == 2


def test_a_game_without_false_moves_is_not_asked_for_them() -> None:
    with pytest.raises(AssertionError, match="not a PlayerChecked"):
        check(RockPaperScissors())


class Deaf(Guessed):
    def bot(
        self,
        seat: int,
        randomness: Randomness = system_randomness,
        secrets: bytes = b"",
        level: Level = Level.HARD,
    ) -> RockPaperScissorsBot:
        return RockPaperScissorsBot(seat, randomness, secrets)


class Asking(Guessed):
    def choices(
        self, state: VariablePart, randomness: Randomness, secrets: bytes, _between: Sequence[VariablePart] = (), /
    ) -> tuple[Choice, ...]:
        return RockPaperScissors.choices(self, state, randomness, secrets)


class Silent(Guessed):
    def objection(self, _state: VariablePart, _secrets: bytes, /) -> str:
        return ""

    def choices(
        self, _state: VariablePart, _randomness: Randomness, _secrets: bytes, _between: Sequence[VariablePart] = (), /
    ) -> tuple[Choice, ...]:
        return ()


class Suspicious(Guessed):
    def objection(self, _state: VariablePart, _secrets: bytes, /) -> str:
        return "has said something"


class Thieving(Guessed):
    def false_moves(self, state: VariablePart, _randomness: Randomness, _secrets: bytes, /) -> Sequence[FalseMove]:
        if decode(state.app_data).position_type is not PositionType.ROUND_PROPOSED:
            return []
        return [FalseMove("plays paper", rules.accept(state, Weapon.PAPER))]


class Illegal(Guessed):
    def false_moves(self, state: VariablePart, _randomness: Randomness, _secrets: bytes, /) -> Sequence[FalseMove]:
        return [FalseMove("says nothing", Move(state.outcome, state.app_data))]


@pytest.mark.parametrize(
    ("game", "reason"),
    [
        (Deaf(), "the bot goes on after a move that uses a salt of zeros"),
        (Asking(), "a person is asked"),
        (Silent(), "no reason is given"),
        (Suspicious(), "a bot is said to have cheated: it has said something"),
        (Thieving(), "participant 0 has lost something"),
    ],
    ids=["deaf", "asking", "silent", "suspicious", "thieving"],
)
def test_each_part_of_the_check_is_seen_to_fail(game: Game, reason: str) -> None:
    with pytest.raises(AssertionError, match=reason):
        check(game)


def test_a_move_that_the_contract_refuses_is_no_false_move() -> None:
    with pytest.raises((AssertionError, TwinsDiffer)):
        check(Illegal())
