"""What leaving costs, where only the mover of the running round knows what it can do."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from forcemove.game import Game
from forcemove.sessions.playing.leaving import Leaving
from forcemove_games.discard import GAME as DISCARD
from forcemove_games.rock_paper_scissors import GAME as ROCK_PAPER_SCISSORS
from tests.scenarios.story import STAKE, Playground, Story


@dataclass(frozen=True)
class Case:
    game: Game
    turn: int
    cost: int


@pytest.mark.parametrize(
    "case",
    [
        Case(DISCARD, 5, 0),
        Case(DISCARD, 8, STAKE),
        Case(DISCARD, 10, STAKE),
        Case(ROCK_PAPER_SCISSORS, 6, 0),
    ],
    ids=["before the deal", "while it is dealt", "in play", "before a weapon is revealed"],
)
def test_who_waits_is_told_what_leaving_with_its_next_turn_costs(playground: Playground, case: Case) -> None:
    """Cards go on after the other's move; a hidden weapon is revealed by it, and the round is over."""
    made: Story = playground.story(case.game)
    made.play_until(case.turn)
    waiting = made.players[case.turn % 2]
    assert Leaving(case.game).cost(waiting.client.channel) == case.cost
