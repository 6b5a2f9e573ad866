"""Two bots on two machines play a channel over a relay: each a process of its own, as are the relay and the chain."""

from __future__ import annotations

import contextlib
import os
import re
import signal
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import pytest

from forcemove.channel.chain.adjudicator import Adjudicator
from forcemove.channel.chain.deployment import deploy
from forcemove.channel.chain.local import local_keys
from forcemove.channel.installed import installed_games
from forcemove.channel.line.connection import RelayConnection
from forcemove.channel.line.errors import RelayRefused
from forcemove.channel.line.links import Link, parse_link
from forcemove.channel.node.keys import write_key_file
from forcemove.channel.protocol.channel import Channel
from forcemove.channel.protocol.signing import Key
from forcemove.channel.protocol.types import ETHER
from forcemove.channel.protocol.values import CHANNELS
from forcemove.channel.store.opening import open_journal
from forcemove.channel.store.records import Standing
from tests.cli import warm
from tests.cli.command import Command
from tests.cli.nodes import PASSPHRASE, Demo, Node
from tests.line.people import run
from tests.relay.process import running_relay

HOST, GUEST = local_keys()[1:3]
STAKE = 10**16
DEPOSIT = 5 * STAKE
START = 10**18
GAS_AT_MOST = 10**16
LINK = re.compile(r"^(forcemove://join/\S+)$", re.MULTILINE)


class Relay(Protocol):
    """A server that carries tables."""

    @property
    def url(self) -> str: ...


@dataclass
class World:
    """A chain with the contracts, a relay, and a folder for each player."""

    folder: Path
    node: Node
    relay: Relay
    started: list[Demo] = field(default_factory=list)

    def player(self, name: str, key: Key) -> Path:
        """A machine: a folder with a key file and the address book."""
        home = self.folder / name
        home.mkdir(exist_ok=True)
        if not (home / "key.json").exists():
            write_key_file(home / "key.json", key, PASSPHRASE, scrypt_work=2**4)
            (home / "forcemove-31337.json").write_bytes((self.folder / "forcemove-31337.json").read_bytes())
            self.node.give(key.address, START)
        return home

    def play(self, home: Path, *arguments: str, game: str = "rock-paper-scissors") -> Demo:
        """`forcemove play` on that machine."""
        where = ("--relay", self.relay.url, "--chain", self.node.endpoint, "--key", "key.json", "--bot")
        self.started.append(start(home, "play", game, *where, *arguments))
        return self.started[-1]

    def leave(self) -> None:
        """Nobody plays on when a test has failed."""
        for each in self.started:
            each.process.send_signal(signal.SIGKILL)

    def held(self, channel: Channel) -> int:
        """What the channel holds on the chain."""
        return (
            Adjudicator(self.node.chain, channel.agreement.domain.adjudicator)
            .holdings_of(channel.agreement.channel_id, ETHER)
            .held
        )


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    node = Node(tmp_path)
    try:
        games = installed_games().games
        deploy(node.chain, local_keys()[0], tmp_path / "forcemove-31337.json", games)
        with running_relay(tmp_path) as relay:
            world = World(tmp_path, node, relay)
            yield world
            world.leave()
    finally:
        node.stop()


def start(folder: Path, *arguments: str) -> Demo:
    """`forcemove` with these arguments in a process of its own."""
    number = len(list(folder.glob("said-*")))
    out, err = folder / f"said-{number}.txt", folder / f"complained-{number}.txt"
    environment = os.environ | {"FORCEMOVE_PASSPHRASE": PASSPHRASE}
    with open(os.devnull) as nothing, out.open("wb") as said, err.open("wb") as complained:
        files = warm.Files(nothing.fileno(), said.fileno(), complained.fileno())
        process = warm.start(arguments, files, folder=folder, environment=environment)
    return Demo(folder, process, out, err)


def link_of(host: Demo) -> str:
    host.reach("forcemove://join/")
    found = LINK.search(host.said)
    assert found, host.said
    return found[1]


def channel_in(home: Path) -> Channel:
    """The one channel of a journal, which is finished."""
    with open_journal(str(home / "forcemove.journal"), owner=os.urandom(16)) as journal:
        (kept,) = journal.channels()
    assert kept.standing is Standing.FINISHED
    return CHANNELS.decode(kept.snapshot)


def require_right_ends(world: World, host: Path, guest: Path) -> Channel:
    """Both journals have the same final state, the channel is empty, and each account has what that state pays, less
    gas."""
    ours, theirs = channel_in(host), channel_in(guest)
    assert ours.newest is not None
    assert theirs.newest is not None
    assert ours.newest.state == theirs.newest.state
    assert ours.newest.state.is_final
    assert world.held(ours) == 0
    outcome = ours.newest.state.outcome
    assert sum(each.amount for each in outcome) == 2 * DEPOSIT
    for key, each in zip((HOST, GUEST), outcome, strict=True):
        most = START - DEPOSIT + each.amount
        assert most - GAS_AT_MOST < world.node.chain.balance(key.address) < most
    return ours


@pytest.mark.parametrize("game", ["rock-paper-scissors", "tic-tac-toe"])
def test_two_bots_play_to_the_end(world: World, game: str) -> None:
    alice, bob = world.player("alice", HOST), world.player("bob", GUEST)
    host = world.play(alice, "--create", "--stake", "0.01 ether", "--rounds", "2", game=game)
    guest = world.play(bob, "--join", link_of(host), "--rounds", "2", "--yes", game=game)
    assert host.end() == 0, host.complained
    assert guest.end() == 0, guest.complained
    channel = require_right_ends(world, alice, bob)
    assert channel.newest is not None
    for player in (host, guest):
        assert "  stake        0.01 ether a round" in player.said
        assert "  at most lost 0.05 ether" in player.said
        assert "was paid to you" in player.said
        assert channel.agreement.channel_id.hex() in player.said
    if game == "rock-paper-scissors":
        assert channel.newest.state.turn_num == 4 + 2 * 4


@pytest.mark.parametrize("killed", ["host", "guest"])
def test_a_player_that_is_killed_goes_on_with_the_same_command(world: World, killed: str) -> None:
    alice, bob = world.player("alice", HOST), world.player("bob", GUEST)
    create = ("--create", "--stake", "0.01 ether", "--rounds", "4")
    host = world.play(alice, *create)
    join = ("--join", link_of(host), "--rounds", "4", "--yes")
    guest = world.play(bob, *join)
    home, again = (alice, create) if killed == "host" else (bob, join)
    first, other = (host, guest) if killed == "host" else (guest, host)
    first.reach("is to reveal.")
    assert first.end(by=signal.SIGKILL) == -signal.SIGKILL
    second = world.play(home, *again)
    assert second.end() == 0, second.complained
    assert other.end() == 0, other.complained
    assert "Going on with the open channel" in second.said
    assert "forcemove://" not in second.said
    channel = require_right_ends(world, alice, bob)
    assert channel.newest is not None
    assert channel.newest.state.turn_num == 4 + 4 * 4, "four rounds of four turns, counted over the restart"


def test_a_guest_that_stays_away_is_challenged(world: World) -> None:
    alice, bob = world.player("alice", HOST), world.player("bob", GUEST)
    host = world.play(alice, "--create", "--stake", "0.01 ether", "--rounds", "20", "--patience", "5")
    guest = world.play(bob, "--join", link_of(host), "--rounds", "20", "--yes")
    guest.reach("is to reveal.")
    guest.end(by=signal.SIGKILL)
    host.reach("challenge: in block")
    assert "Nothing was heard for 5 seconds" in host.said
    world.node.chain.rpc.ask("evm_increaseTime", 3601)
    world.node.chain.rpc.ask("evm_mine")
    assert host.end() == 0, host.complained
    assert "The chain has decided" in host.said
    assert world.held(channel_in(alice)) == 0


def test_an_offer_is_withdrawn_when_its_host_is_interrupted(world: World) -> None:
    alice, bob = world.player("alice", HOST), world.player("bob", GUEST)
    host = world.play(alice, "--create", "--stake", "0.01 ether")
    link = link_of(host)
    assert host.end(by=signal.SIGINT) == 130
    guest = world.play(bob, "--join", link, "--yes")
    assert guest.end() == 1
    assert "there is no such offer any more" in guest.complained


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "Nobody has agreed to these terms"),
        (("--yes", "--stake", "0.02 ether"), "The offer is for another stake: 0.01 ether, and not 0.02 ether."),
    ],
)
def test_nobody_joins_on_terms_that_were_not_agreed_to(world: World, options: tuple[str, ...], words: str) -> None:
    alice, bob = world.player("alice", HOST), world.player("bob", GUEST)
    host = world.play(alice, "--create", "--stake", "0.01 ether")
    guest = world.play(bob, "--join", link_of(host), *options)
    assert guest.end() == 1
    assert words in guest.complained
    assert host.end(by=signal.SIGINT) == 130
    assert "channel" not in host.said.splitlines()[-1]


def test_a_guest_that_never_signs_keeps_nobody_waiting(world: World) -> None:
    alice, bob = world.player("alice", HOST), world.player("bob", GUEST)
    create = ("--create", "--stake", "0.01 ether", "--patience", "1")
    host = world.play(alice, *create)
    run(join_and_leave(link_of(host)))
    assert host.end() == 1
    assert "nobody has paid in" in host.complained
    assert world.node.chain.balance(HOST.address) == START
    anew = world.play(alice, *create[:-1], "60", "--anew", "--rounds", "1")
    guest = world.play(bob, "--join", link_of(anew), "--rounds", "1", "--yes")
    assert (anew.end(), guest.end()) == (0, 0)


async def join_and_leave(text: str) -> None:
    """Meet the host at the table, and go."""
    link = parse_link(text)
    async with RelayConnection(link.relay) as relay:
        table = await relay.lobby.join(link.offer, GUEST, GUEST.address, chain_id=31337)
        await relay.join(table, GUEST)
        with contextlib.suppress(RelayRefused):  # until the offer is over
            while True:
                await relay.lobby.look(link.offer)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--create",), "--create wants --stake"),
        (("--create", "--stake", "1", "--join", "forcemove://join/1"), "exclude each other"),
        (("--join", "nonsense"), "well-formed link"),
        (("--join", str(Link("ws://another.example", bytes(32)))), "The link is for the relay ws://another.example"),
    ],
)
def test_options_that_make_no_sense(forcemove: Command, options: tuple[str, ...], words: str) -> None:
    where = ("--relay", "ws://relay.example", "--chain", "http://127.0.0.1:1", "--key", "key.json")
    said = forcemove("play", "tic-tac-toe", *where, "--bot", *options)
    assert said.code in (1, 2)
    assert words in said.err
