"""A channel in play, and the tower that watches it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from forcemove_games.tic_tac_toe import GAME
from tests.scenarios.story import Playground, Story
from tests.watchtower.keeper import Keeper


@pytest.fixture
def story(playground: Playground) -> Story:
    """Both have the state of turn 6, which is Alice's; Alice is away from now on."""
    made = playground.story(GAME)
    made.play_until(6)
    return made


@pytest.fixture
def keeper(story: Story, tmp_path: Path) -> Iterator[Keeper]:
    made = Keeper.of(story, tmp_path)
    yield made
    made.close()
