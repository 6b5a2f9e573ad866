"""Three play over a relay, each in a process of its own: a game that `forcemove new --seats 3` has begun."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.nodes import Node
from tests.cli.tables import link_of
from tests.cli.three import HouseOfThree, WorldOfThree
from tests.relay.process import RelayProcess

CREATE = ("--create", "--stake", "0.01 ether", "--seats", "3")
FRIENDLY = ("--create", "--stake", "0", "--seats", "3")


@pytest.fixture
def three(tmp_path: Path, relay: RelayProcess) -> Iterator[HouseOfThree]:
    """They play for nothing."""
    house = HouseOfThree(tmp_path, relay)
    yield house
    house.leave()


@pytest.fixture
def stakes(tmp_path: Path, relay: RelayProcess) -> Iterator[WorldOfThree]:
    """They play for a stake."""
    node = Node(tmp_path)
    try:
        world = WorldOfThree(node, tmp_path, relay)
        try:
            yield world
        finally:
            world.leave()
    finally:
        node.stop()


def test_three_play_a_game_for_three_to_its_payout(stakes: WorldOfThree) -> None:
    host = stakes.play(stakes.alice, *CREATE, "--rounds", "2", "--name", "Alice")
    link = link_of(host)
    bob = stakes.play(stakes.bob, "--join", link, "--rounds", "2", "--yes", "--name", "Bob")
    host.reach("is here: 2 of 3.")
    carol = stakes.play(stakes.carol, "--join", link, "--rounds", "2", "--yes")
    ended = [each.end() for each in (host, bob, carol)]
    assert ended == [0, 0, 0], (host.complained, bob.complained, carol.complained)
    stakes.require_three_ends()
    for player in (host, bob, carol):
        assert "  players      3, with the host" in player.said
        assert "players     Alice 0x" in player.said
        assert "was paid to you" in player.said
    assert "Alice (you) 0.0" in host.said
    assert "Player 3 (you) 0.0" in carol.said
    assert all(stakes.meetings(home) == 0 for home in (stakes.alice, stakes.bob, stakes.carol))


def test_three_play_for_nothing(three: HouseOfThree) -> None:
    host = three.play(three.alice, *FRIENDLY)
    link = link_of(host)
    guests = [three.play(home, "--join", link, "--yes") for home in (three.bob, three.carol)]
    ended = [each.end() for each in (host, *guests)]
    assert ended == [0, 0, 0], (host.complained, *(each.complained for each in guests))
    for player in (host, *guests):
        assert "all have signed its end" in player.said
    assert three.channel(three.alice).newest == three.channel(three.carol).newest
