"""Whatever buttons are pressed, and whatever the person does: the balances are as expected, and no error is told that
no button has caused."""

from __future__ import annotations

from random import Random

import pytest

from tests.playground.games import TimedPlayground

_GAMES, _MANY = 4, 200
_PER_CHAIN = 10


def play_at_random(games: int, seed: int) -> None:
    """So many games, ten on each chain."""
    for first in range(0, games, _PER_CHAIN):
        played = TimedPlayground(Random(seed + first))
        for number in range(min(_PER_CHAIN, games - first)):
            played.pressed = [f"seed {seed + first}, game {number}"]
            for _ in range(played.random.randint(3, 40)):
                played.step()
            played.end()
            played.require_right()
            game = played.random.choice(played.playground.games)
            played.press(f"new-{game.name}")


def test_balances_are_as_expected_after_games_at_random() -> None:
    play_at_random(_GAMES, 1)


@pytest.mark.long
def test_balances_are_as_expected_after_many_games_at_random() -> None:
    play_at_random(_MANY, 1000)
