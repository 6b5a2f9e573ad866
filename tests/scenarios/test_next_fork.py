"""Whole games under Amsterdam, by clients that have found out themselves which prices the chain has."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from forcemove import Phase
from forcemove.chain.prices import AMSTERDAM
from forcemove_games.tic_tac_toe import GAME as TIC_TAC_TOE
from scripts.measuring.bench import chain_of_fork
from tests.scenarios.story import Playground, Story


@pytest.fixture(scope="module")
def amsterdam() -> Iterator[Playground]:
    with chain_of_fork("amsterdam") as chain:
        yield Playground.on(chain)


@pytest.fixture
def story(amsterdam: Playground) -> Story:
    return amsterdam.story(TIC_TAC_TOE)


def test_a_game_is_played_and_paid(story: Story) -> None:
    story.play()
    assert story.alice.client.managed.prices == AMSTERDAM
    story.ends_with(story.alice.newest.state.outcome)


def test_a_challenge_is_answered_and_the_game_goes_on(story: Story) -> None:
    story.play_until(9)
    story.challenge(1, *story.opening()[2:])
    story.alice.client.poll()
    assert story.record == (9, False)
    story.ends_as_agreed()


def test_a_player_that_stays_away_is_paid_what_the_challenged_state_gives(story: Story) -> None:
    story.play_until(9)
    given = story.alice.newest.state.outcome
    story.challenge(1, *story.bob.states[-2:])
    story.expire()
    story.mine()
    for _ in range(4):
        for player in story.players:
            player.client.poll()
    assert {player.phase for player in story.players} == {Phase.CLOSED}
    story.ends_with(given)
