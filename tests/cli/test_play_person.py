"""People at two terminals play with each other over a relay, as they would type it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from forcemove.channel.chain.local import local_keys
from forcemove.channel.node.keys import write_key_file
from tests.cli.nodes import PASSPHRASE
from tests.cli.screens import COMMAND, Screen
from tests.cli.test_play import GUEST, HOST, START, World, channel_in, require_right_ends
from tests.cli.test_play import world as world  # noqa: PLC0414  # the fixture

LINK = re.compile(r"forcemove://join/\S+")
COLUMNS = 220
"""Wide enough for a link."""


class Person:
    """At a terminal."""

    def __init__(self, world: World, home: Path, *arguments: str, game: str = "rock-paper-scissors") -> None:
        where = ("--relay", world.relay.url, "--chain", world.node.endpoint, "--key", "key.json")
        self.screen = Screen(COMMAND, "play", game, *where, *arguments, columns=COLUMNS, folder=home)

    def link(self) -> str:
        self.screen.reach("forcemove://join/")
        found = next(filter(None, map(LINK.search, self.screen.lines)))
        return found[0]

    def reach(self, text: str) -> None:
        self.screen.reach(text)

    def type(self, text: str) -> None:
        self.screen.type(f"{text}\r")


CREATE = ("--create", "--stake", "0.01 ether")


def test_two_people_play_rock_paper_scissors_for_a_stake(world: World) -> None:
    alice, bob = world.player("alice", HOST), world.player("bob", GUEST)
    host = Person(world, alice, *CREATE)
    guest = Person(world, bob, "--join", host.link())
    guest.reach("Join on these terms?")
    guest.type("y")
    host.reach("choose rock, which stays hidden")
    host.reach("Guest can challenge you; then you have 1:00:00 to answer")
    host.type("stone")
    host.reach("Type one of these: rock, paper, scissors, leave.")
    host.type("pap")
    guest.reach("play scissors")
    guest.reach("Host 0.05 ether, Guest (you) 0.05 ether")
    guest.type("rock")
    host.reach("Host wins the round")  # the weapon was shown without asking
    guest.reach("Host 0.06 ether (+0.01 ether), Guest (you) 0.04 ether (-0.01 ether)")
    guest.type("leave")
    ends = [each.screen.end() for each in (host, guest)]
    assert [each.code for each in ends] == [0, 0], ends
    channel = require_right_ends(world, alice, bob)
    assert channel.newest is not None
    assert [each.amount for each in channel.newest.state.outcome] == [6 * 10**16, 4 * 10**16]
    assert any("You win 0.01 ether" in line for line in ends[0].lines)
    assert any("You lose 0.01 ether" in line for line in ends[1].lines)


@pytest.mark.parametrize("leave", ["\x03", "\x04"])
def test_a_person_who_puts_the_game_aside_comes_back_with_the_same_choice(world: World, leave: str) -> None:
    """After the hidden choice: it is kept, and revealed when they are back."""
    alice, bob = world.player("alice", HOST), world.player("bob", GUEST)
    host = Person(world, alice, *CREATE)
    guest = Person(world, bob, "--join", host.link(), "--yes")
    host.reach("choose rock, which")
    host.type("scissors")
    guest.reach("play paper")
    host.screen.type(leave)
    aside = host.screen.end()
    assert aside.code == 130
    assert any("be back before a challenge can run out" in line for line in aside.lines)
    guest.type("paper")
    back = Person(world, alice)
    guest.reach("Host reveals scissors: Host wins the round")
    guest.type("")  # the only choice but leaving
    back.reach("choose rock, which")
    back.type("leave")
    ends = [each.screen.end() for each in (back, guest)]
    assert [each.code for each in ends] == [0, 0], ends
    assert any("Going on with the open channel" in line for line in ends[0].lines)
    require_right_ends(world, alice, bob)


def test_a_person_challenges_and_is_answered(world: World) -> None:
    alice, bob = world.player("alice", HOST), world.player("bob", GUEST)
    host = Person(world, alice, *CREATE, game="tic-tac-toe")
    guest = Person(world, bob, "--join", host.link(), "--yes", game="tic-tac-toe")
    host.reach("mark the middle")
    host.type("4")
    guest.reach("mark the lower edge")
    host.reach("wait no longer, and ask the chain")
    host.type("challenge")
    guest.reach("A challenge is running: you have")
    host.reach("A challenge is running: Guest has")
    guest.type("0")
    host.reach("Guest has marked an O; Host (you) is to mark an X.")
    guest.reach("respond: in block")
    host.type("leave")
    ends = [each.screen.end() for each in (host, guest)]
    assert [each.code for each in ends] == [0, 0], ends
    assert world.held(channel_in(alice)) == 0


def test_the_key_signs_the_account_pays_and_the_payout_is_paid(world: World) -> None:
    """The key of the host never has any ether, and challenges all the same."""
    alice, bob = world.player("alice", HOST), world.player("bob", GUEST)
    poor, paid = local_keys()[3], b"\x5a" * 20
    world.node.give(poor.address, 0)
    write_key_file(alice / "poor.json", poor, PASSPHRASE, scrypt_work=2**4)
    account = ("--key", "poor.json", "--account", "key.json", "--payout", "0x" + paid.hex())
    host = Person(world, alice, *account, *CREATE)
    guest = Person(world, bob, "--join", host.link(), "--yes")
    host.reach("choose rock, which")
    host.type("rock")
    guest.reach("play scissors")
    host.reach("wait no longer, and ask the chain")
    host.type("challenge")
    guest.reach("A challenge is running: you have")
    guest.type("scissors")
    host.reach("Host wins the round")
    guest.reach("next")
    guest.type("leave")
    ends = [each.screen.end() for each in (host, guest)]
    assert [each.code for each in ends] == [0, 0], ends
    chain = world.node.chain
    assert chain.balance(paid) == 6 * 10**16
    assert chain.balance(poor.address) == 0
    channel = channel_in(alice)
    assert channel.agreement.fixed_part.participants[0] == poor.address
    assert world.held(channel) == 0


def test_a_person_whose_opponent_is_gone_is_paid_by_the_chain(world: World) -> None:
    alice, bob = world.player("alice", HOST), world.player("bob", GUEST)
    host = Person(world, alice, *CREATE, game="tic-tac-toe")
    guest = Person(world, bob, "--join", host.link(), "--yes", game="tic-tac-toe")
    host.reach("mark the middle")
    host.type("4")
    guest.reach("mark the lower edge")
    guest.screen.type("\x03")
    assert guest.screen.end().code == 130
    host.reach("wait no longer, and ask the chain")
    host.type("challenge")
    host.reach("A challenge is running: Guest has")
    world.node.chain.rpc.ask("evm_increaseTime", 3601)
    world.node.chain.rpc.ask("evm_mine")
    ended = host.screen.end()
    assert ended.code == 0
    assert any("The chain has decided" in line for line in ended.lines)
    assert world.held(channel_in(alice)) == 0
    assert world.node.chain.balance(HOST.address) > START, "the stake of the round is the host's"
