"""One chain for all stories: each has its own channel, and time only goes forward."""

from __future__ import annotations

import pytest

from forcemove.chain.local import AnvilChain, EmbeddedChain
from forcemove.game import Game
from forcemove_games.tic_tac_toe import GAME as TIC_TAC_TOE
from tests.installed import GAMES_FOR_TWO
from tests.scenarios.story import Playground, Story
from tests.simulation.chain import MemoryChain


@pytest.fixture(scope="session")
def playground() -> Playground:
    return Playground.on(MemoryChain())


@pytest.fixture(scope="session")
def anvil_playground(anvil: AnvilChain) -> Playground:
    return Playground.on(anvil)


PLACES = ("eth-tester", "anvil")
"""Real chains, for `place`."""


@pytest.fixture(scope="session")
def eth_tester_playground() -> Playground:
    return Playground.on(EmbeddedChain())


@pytest.fixture
def place(request: pytest.FixtureRequest) -> Playground:
    """One of `PLACES`, or `memory`."""
    name = "" if request.param == "memory" else f"{request.param.replace('-', '_')}_"
    found: Playground = request.getfixturevalue(f"{name}playground")
    return found


@pytest.fixture(params=GAMES_FOR_TWO, ids=lambda game: game.name)
def game(request: pytest.FixtureRequest) -> Game:
    chosen: Game = request.param
    return chosen


@pytest.fixture
def story(playground: Playground, game: Game) -> Story:
    """A channel for each of the games."""
    return playground.story(game)


@pytest.fixture
def channel(playground: Playground) -> Story:
    """A channel for one game, where it does not matter which."""
    return playground.story(TIC_TAC_TOE)
