"""Whole channels between two people at terminals, one of whom goes away, stops, goes back to an old state, or signs
what the rules forbid: over a relay with journals in files, and over NATS with journals on PostgreSQL."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from itertools import product

import pytest

from forcemove.demo.network.scenarios import challenge_with, say_something_illegal
from forcemove.registry import installed_games
from tests.cli.nodes import wait_until
from tests.cli.tables import GUEST, World
from tests.sampled import with_sample

CREATE = ("--create", "--stake", "0.01 ether")
_WORDS = {"rock-paper-scissors": ("rock", "scissors"), "tic-tac-toe": ("4", "0")}
"""The first moves of the host and of the guest."""
_QUESTIONS = {
    "rock-paper-scissors": ("choose rock, which", "play scissors"),
    "tic-tac-toe": ("place an X in the middle", "place an O on the lower edge"),
}
"""What they read before they are to make them."""
_AFTERWARDS = {"rock-paper-scissors": "the round: rock beats scissors", "tic-tac-toe": "placed an O"}
"""What both read then."""


class Match:
    """Two people who have paid in; the host has made the first move, and the guest is asked for the next."""

    def __init__(self, world: World, name: str) -> None:
        self.world, self.name = world, name
        self.host = world.sit(world.alice, *CREATE, game=name)
        self.guest = world.sit(world.bob, "--join", self.host.link(), "--yes", game=name)
        ours, theirs = _QUESTIONS[name]
        self.host.answer(ours, _WORDS[name][0])
        self.guest.reach(theirs)

    def guest_moves(self) -> None:
        self.guest.answer(_QUESTIONS[self.name][1], _WORDS[self.name][1])
        self.host.reach(_AFTERWARDS[self.name])

    def guest_goes(self) -> None:
        self.guest.screen.type("\x03")
        assert self.guest.end().code == 130

    def guest_is_back(self) -> None:
        self.guest = self.world.sit(self.world.bob, game=self.name)

    def host_challenges(self) -> None:
        self.host.answer("wait no longer, and ask the chain", "challenge")
        self.host.reach("A clock is running: ")

    def leave(self) -> None:
        """Both, as soon as either may; all is as their last state says."""
        self.host.leave()
        self.guest.reach(_AFTERWARDS[self.name])
        self.guest.leave()
        self.end()
        self.world.require_right_ends()

    def end(self) -> None:
        """Their programs end well."""
        ends = [each.end() for each in (self.host, self.guest)]
        assert [each.code for each in ends] == [0, 0], ends


def one_goes_and_comes_back(match: Match) -> None:
    match.guest_goes()
    match.guest_is_back()
    match.guest_moves()
    match.leave()


def one_is_slow_and_answers_on_the_chain(match: Match) -> None:
    match.host_challenges()
    match.guest.reach("A clock is running: ")
    challenged = match.world.saved(match.world.alice)
    match.guest_moves()
    match.world.await_answer(challenged, challenged.status.turn_num_record)
    match.leave()


def one_stays_away(match: Match) -> None:
    """The chain pays both what the last state says, and anyone who comes back late is told."""
    match.guest_goes()
    match.host_challenges()
    last = match.world.saved(match.world.alice)
    match.world.travel(3_601)
    match.guest_is_back()
    match.end()
    match.world.require_paid(last)


def one_goes_back_to_an_old_state(match: Match) -> None:
    world = match.world
    old = world.saved(world.bob)
    match.guest_moves()
    wait_until(lambda: world.saved(world.alice).next_turn > old.next_turn)
    match.guest_goes()
    world.await_answer(old, challenge_with(world.node.chain, GUEST, old))
    match.guest_is_back()
    match.leave()


def one_signs_what_the_rules_forbid(match: Match) -> None:
    world = match.world
    match.guest_goes()
    game = next(each for each in installed_games().games if each.name == match.name)
    asyncio.run(say_something_illegal(world.carrier.url, GUEST, game, world.saved(world.alice)))
    match.host.reach("counterparty")
    match.guest_is_back()
    match.guest_moves()
    match.leave()


STORIES = (
    one_goes_and_comes_back,
    one_is_slow_and_answers_on_the_chain,
    one_stays_away,
    one_goes_back_to_an_old_state,
    one_signs_what_the_rules_forbid,
)
GAMES = tuple(_WORDS)
SAMPLE = {(story, "world", GAMES[number % 2]) for number, story in enumerate(STORIES)} | {
    (one_goes_back_to_an_old_state, "elsewhere", GAMES[0])
}
"""Of the normal run."""


@pytest.mark.parametrize(
    ("story", "where", "game"),
    with_sample(product(STORIES, ("world", "elsewhere"), GAMES), SAMPLE),
)
def test_everybody_is_paid_what_the_last_state_says(
    request: pytest.FixtureRequest, story: Callable[[Match], None], where: str, game: str
) -> None:
    story(Match(request.getfixturevalue(where), game))
