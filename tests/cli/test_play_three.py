"""Three play over a relay, each in a process of its own: a game that `forcemove new --seats 3` has begun."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

from forcemove.chain.addresses import short_address, show_address
from forcemove.chain.local import local_keys
from forcemove.demo.network.scenarios import challenge_with
from tests.cli.nodes import Demo, wait_until
from tests.cli.tables import GAS_AT_MOST, GUEST, HOST, START, link_of, on_new_node
from tests.cli.three import CAROL, HouseOfThree, WorldOfThree
from tests.relay.process import RelayProcess, running_relay
from tests.sampled import with_sample

CREATE = ("--create", "--stake", "0.01 ether", "--seats", "3")
SLOWLY = ("--rounds", "6", "--pace", "0.2")
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
    with on_new_node(tmp_path, lambda node: WorldOfThree(node, tmp_path, relay)) as world:
        yield world


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
        assert " has left, and the game is over." in player.said
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


def seated(house: HouseOfThree, create: tuple[str, ...], *options: str) -> tuple[list[Demo], list[tuple[str, ...]]]:
    """Three that play, the host first and the guests in the order in which they have joined, and what was typed."""
    host = house.play(house.alice, *create, *options)
    typed = [(*create, *options), ("--join", link_of(host), "--yes", *options)]
    bob = house.play(house.bob, *typed[1])
    host.reach("is here: 2 of 3.")
    return [host, bob, house.play(house.carol, *typed[1])], [*typed, typed[1]]


def require_good_ends(players: list[Demo]) -> None:
    assert [each.end() for each in players] == [0] * 3, [each.complained for each in players]


MOMENTS = ("is here", "You have seat", "deposit: in block", "turn    7", "turn   14")
SAMPLE = {("turn   14", 0)}
"""Of the normal run."""


@pytest.mark.parametrize(
    ("moment", "seat"), with_sample([each for each in product(MOMENTS, range(3)) if each != ("is here", 2)], SAMPLE)
)
def test_one_of_three_is_killed_and_goes_on_with_the_same_command(stakes: WorldOfThree, seat: int, moment: str) -> None:
    players, typed = seated(stakes, CREATE, *SLOWLY)
    players[seat].reach(moment)
    players[seat].end(by=signal.SIGKILL)
    home = (stakes.alice, stakes.bob, stakes.carol)[seat]
    players[seat] = stakes.play(home, *typed[seat])
    require_good_ends(players)
    stakes.require_three_ends()


@pytest.mark.parametrize("seat", with_sample(range(3), {2}))
def test_one_of_three_that_plays_for_nothing_is_killed_and_goes_on(three: HouseOfThree, seat: int) -> None:
    players, typed = seated(three, FRIENDLY, *SLOWLY)
    players[seat].reach("turn    9")
    players[seat].end(by=signal.SIGKILL)
    players[seat] = three.play((three.alice, three.bob, three.carol)[seat], *typed[seat])
    require_good_ends(players)


@pytest.mark.parametrize("seat", with_sample(range(3), {0}))
def test_one_of_three_that_is_silent_for_ever_is_challenged_and_the_others_are_paid(
    stakes: WorldOfThree, seat: int
) -> None:
    players, _ = seated(stakes, CREATE, *SLOWLY, "--patience", "3")
    players[seat].reach("turn   10")
    players[seat].end(by=signal.SIGKILL)
    others = [each for number, each in enumerate(players) if number != seat]
    wait_until(lambda: any("a challenge asks the chain" in each.said for each in others))
    home = stakes.bob if seat == 0 else stakes.alice
    wait_until(lambda: stakes.saved(home).status.finalizes_at > 0)
    last = stakes.saved(home)
    stakes.travel(3_601)
    assert [each.end() for each in others] == [0, 0], [each.complained for each in others]
    for each in others:
        assert "a challenge was not answered in time" in each.said
    stakes.require_all_paid(last)


def test_one_of_three_that_never_pays_in_costs_the_others_nothing_but_gas(stakes: WorldOfThree) -> None:
    """Either nobody has paid in, or the chain gives back what was paid in."""
    players, _ = seated(stakes, CREATE, *SLOWLY, "--patience", "3")
    players[2].reach("You have seat")
    players[2].end(by=signal.SIGKILL)
    others = players[:2]

    def is_challenged() -> bool:
        if not any("a challenge asks the chain" in each.said for each in others):
            return all(each.process.poll() is not None for each in others)
        return stakes.saved(stakes.alice).status.finalizes_at > 0

    wait_until(is_challenged)
    stakes.travel(3_601)
    assert [each.end() for each in others] == [1, 1], [each.complained for each in others]
    for key in (HOST, GUEST, CAROL):
        assert START - GAS_AT_MOST < stakes.node.chain.balance(key.address) <= START


def test_a_guest_that_leaves_while_it_waits_frees_its_seat(tmp_path: Path) -> None:
    with running_relay(tmp_path, "--guest-seconds", "0.5") as relay:
        house = HouseOfThree(tmp_path, relay)
        try:
            host = house.play(house.alice, *FRIENDLY, "--name", "Alice")
            link = link_of(host)
            bob = house.play(house.bob, "--join", link, "--yes", "--name", "Bob")
            host.reach(f"lobby       Bob {short_address(GUEST.address)} is here: 2 of 3.")
            bob.end(by=signal.SIGTERM)
            host.reach(f"lobby       Bob {short_address(GUEST.address)} has gone: 1 of 3 are here.")
            carol = house.play(house.carol, "--join", link, "--yes")
            host.reach(f"lobby       {short_address(CAROL.address)} is here: 2 of 3.")
            bob = house.play(house.bob, "--join", link, "--yes")
            assert [each.end() for each in (host, bob, carol)] == [0, 0, 0], [
                each.complained for each in (host, bob, carol)
            ]
            assert house.channel(house.alice).agreement.fixed_part.participants == tuple(
                each.address for each in (HOST, CAROL, GUEST)
            )
        finally:
            house.leave()


def test_three_meet_although_the_relay_is_killed_while_they_wait(three: HouseOfThree, relay: RelayProcess) -> None:
    host = three.play(three.alice, *FRIENDLY)
    link = link_of(host)
    bob = three.play(three.bob, "--join", link, "--yes")
    host.reach("is here: 2 of 3.")
    relay.kill()
    relay.start()
    carol = three.play(three.carol, "--join", link, "--yes")
    require_good_ends([host, bob, carol])


def test_a_tower_takes_a_channel_of_three(stakes: WorldOfThree) -> None:
    tower = local_keys()[4]
    home = stakes.home("tower", tower)
    where = ("--chain", stakes.node.endpoint, "--key", "key.json", "--listen", "127.0.0.1:0", "--head-start", "0")
    process = stakes.run(home, "watch", *where, "--for", show_address(GUEST.address), before=stakes.game.before)
    process.reach("listens at ")
    url = process.said.partition("listens at ")[2].partition(",")[0]
    host = stakes.play(stakes.alice, *CREATE, *SLOWLY)
    link = link_of(host)
    join = ("--join", link, "--yes", *SLOWLY)
    bob = stakes.play(stakes.bob, *join, "--tower", f"{show_address(tower.address)}@{url}")
    carol = stakes.play(stakes.carol, *join)
    host.reach("turn    8")
    old = stakes.saved(stakes.alice)
    for player in (host, bob, carol):
        player.reach("turn   12")
    for player in (host, bob, carol):
        player.end(by=signal.SIGKILL)
    turn = challenge_with(stakes.node.chain, HOST, old)
    stakes.await_answer(old, turn)
    assert stakes.node.chain.balance(tower.address) < START, "the tower has paid the gas"
    again = [
        stakes.play(stakes.alice, *CREATE, *SLOWLY),
        stakes.play(stakes.bob, *join),
        stakes.play(stakes.carol, *join),
    ]
    require_good_ends(again)
    stakes.require_three_ends()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--create", "--stake", "0", "--seats", "4"), "takes 3 players, not 4"),
        (("--create", "--stake", "0", "--name", "x\u202ey"), "others would not be shown this one"),
        (("--create", "--stake", "0", "--name", "x" * 33), "at most 32 characters"),
        (("--seats", "3"), "say --create"),
    ],
)
def test_what_makes_no_sense_is_refused(three: HouseOfThree, options: tuple[str, ...], words: str) -> None:
    player = three.play(three.alice, *options)
    assert player.end() == 2
    assert words in " ".join(player.complained.split())
