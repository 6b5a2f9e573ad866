"""Two bots on two machines play a channel over a relay: each a process of its own, as are the relay and the chain."""

from __future__ import annotations

import contextlib
import signal

import pytest

from forcemove.transport.errors import RelayRefused
from forcemove.transport.links import LINK_HEAD, Link, parse_link
from forcemove.transport.websocket.connection import RelayConnection
from tests.cli.command import Command
from tests.cli.nodes import held_at
from tests.cli.tables import GUEST, HOST, START, World, link_of
from tests.transport.offered import join_table
from tests.transport.people import run


@pytest.mark.parametrize("game", ["rock-paper-scissors", "tic-tac-toe", "discard"])
def test_two_bots_play_to_the_end(world: World, game: str) -> None:
    host = world.play(world.alice, "--create", "--stake", "0.01 ether", "--rounds", "2", game=game)
    guest = world.play(world.bob, "--join", link_of(host), "--rounds", "2", "--yes", game=game)
    assert host.end() == 0, host.complained
    assert guest.end() == 0, guest.complained
    channel = world.require_right_ends()
    assert channel.newest is not None
    for player in (host, guest):
        assert "  stake        0.01 ether a round" in player.said
        assert "  at most lost 0.05 ether" in player.said
        assert "was paid to you" in player.said
        assert channel.agreement.channel_id.hex() in player.said
    if game == "rock-paper-scissors":
        assert channel.newest.state.turn_num == 4 + 2 * 4 - 1


@pytest.mark.parametrize("killed", ["host", "guest"])
def test_a_player_that_is_killed_goes_on_with_the_same_command(world: World, killed: str) -> None:
    create = ("--create", "--stake", "0.01 ether", "--rounds", "4")
    host = world.play(world.alice, *create)
    join = ("--join", link_of(host), "--rounds", "4", "--yes")
    guest = world.play(world.bob, *join)
    home, again = (world.alice, create) if killed == "host" else (world.bob, join)
    first, other = (host, guest) if killed == "host" else (guest, host)
    first.reach("turn to reveal")
    assert first.end(by=signal.SIGKILL) == -signal.SIGKILL
    second = world.play(home, *again)
    assert second.end() == 0, second.complained
    assert other.end() == 0, other.complained
    assert "Continuing the open channel" in second.said
    assert LINK_HEAD not in second.said
    channel = world.require_right_ends()
    assert channel.newest is not None
    assert channel.newest.state.turn_num == 4 + 4 * 4 - 1, (
        "four rounds of four turns, the end in the last one's place, counted over the restart"
    )


@pytest.mark.parametrize(
    ("waiting", "words"),
    [
        (("--patience", "5"), "Nothing was heard for 5 seconds"),
        (("--move-time", "5"), "Guest's time is out: a challenge asks the chain (about"),
    ],
)
def test_a_guest_that_stays_away_is_challenged(world: World, waiting: tuple[str, ...], words: str) -> None:
    host = world.play(world.alice, "--create", "--stake", "0.01 ether", "--rounds", "20", *waiting)
    held = held_at("turn to reveal")
    guest = world.play(world.bob, "--join", link_of(host), "--rounds", "20", "--yes", before=held)
    guest.reach("turn to reveal")
    guest.end(by=signal.SIGKILL)
    host.reach("challenge: in block")
    assert words in " ".join(host.said.split())
    world.travel(3601)
    assert host.end() == 0, host.complained
    assert "The chain has decided" in host.said
    assert world.held(world.channel(world.alice)) == 0


def test_an_offer_is_withdrawn_when_its_host_is_interrupted(world: World) -> None:
    host = world.play(world.alice, "--create", "--stake", "0.01 ether")
    link = link_of(host)
    assert host.end(by=signal.SIGINT) == 130
    guest = world.play(world.bob, "--join", link, "--yes")
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
    host = world.play(world.alice, "--create", "--stake", "0.01 ether")
    guest = world.play(world.bob, "--join", link_of(host), *options)
    assert guest.end() == 1
    assert words in guest.complained
    assert host.end(by=signal.SIGINT) == 130
    assert "channel" not in host.said.splitlines()[-1]


def test_a_guest_that_never_signs_keeps_nobody_waiting(world: World) -> None:
    create = ("--create", "--stake", "0.01 ether", "--patience", "1")
    host = world.play(world.alice, *create)
    run(join_and_leave(link_of(host)))
    assert host.end() == 1
    assert "nobody has paid in" in host.complained
    assert world.node.chain.balance(HOST.address) == START
    anew = world.play(world.alice, *create[:-1], "60", "--fresh", "--rounds", "1")
    guest = world.play(world.bob, "--join", link_of(anew), "--rounds", "1", "--yes")
    assert (anew.end(), guest.end()) == (0, 0)


async def join_and_leave(text: str) -> None:
    """Meet the host at the table, and go."""
    link = parse_link(text)
    async with RelayConnection(link.relay) as relay:
        table = await join_table(relay.lobby, link.offer, GUEST, GUEST.address, chain_id=31337)
        await relay.join(table, GUEST)
        with contextlib.suppress(RelayRefused):  # until the offer is over
            while True:
                await relay.lobby.look(link.offer)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "Name the relay with --relay URL, or join with --join LINK"),
        (("--create", "--stake", "0"), "Name the relay with --relay URL"),
        (("--join", str(Link("ws://relay.example", bytes(32)))[:-1]), "The link was cut: 102 of its 103 characters"),
        (("--join", "forcemove://join/1?relay=ws"), "The link is of version 1, which is older than this program's, 2"),
    ],
)
def test_where_to_play_has_to_be_known(forcemove: Command, options: tuple[str, ...], words: str) -> None:
    said = forcemove("play", "tic-tac-toe", "--key", "key.json", "--bot", *options)
    assert said.code in (1, 2)
    assert words in " ".join(said.err.split())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--create",), "--create wants --stake"),
        (("--create", "--stake", "1", "--join", LINK_HEAD), "exclude each other"),
        (("--join", "nonsense"), "well-formed link"),
        (("--join", str(Link("ws://another.example", bytes(32)))), "The link is for the relay ws://another.example"),
    ],
)
def test_options_that_make_no_sense(forcemove: Command, options: tuple[str, ...], words: str) -> None:
    where = ("--relay", "ws://relay.example", "--chain", "http://127.0.0.1:1", "--key", "key.json")
    said = forcemove("play", "tic-tac-toe", *where, "--bot", *options)
    assert said.code in (1, 2)
    assert words in said.err
