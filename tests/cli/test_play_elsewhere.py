"""Play on PostgreSQL and over NATS: a process on another machine takes over from one that dies."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from forcemove.channel.chain.deployment import deploy
from forcemove.channel.chain.local import local_keys
from forcemove.channel.installed import installed_games
from forcemove.channel.protocol.channel import Channel
from forcemove.channel.protocol.values import CHANNELS
from forcemove.channel.store.opening import open_journal
from forcemove.channel.store.records import Standing
from tests.cli.nodes import Node
from tests.cli.test_play import DEPOSIT, GAS_AT_MOST, GUEST, HOST, START, World, link_of
from tests.jetstream.server import running_server
from tests.store.server import Server

ROUNDS = ("--rounds", "4", "--pace", "0.1", "--lease", "5")


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    node = Node(tmp_path)
    try:
        games = installed_games().games
        deploy(node.chain, local_keys()[0], tmp_path / "forcemove-31337.json", games)
        with running_server(tmp_path) as nats:
            world = World(tmp_path, node, nats)
            yield world
            world.leave()
    finally:
        node.stop()


def final_of(store: str) -> Channel:
    with open_journal(store, owner=bytes(16)) as journal:
        (kept,) = journal.channels()
    assert kept.standing is Standing.FINISHED
    return CHANNELS.decode(kept.snapshot)


@pytest.mark.parametrize("game", ["rock-paper-scissors", pytest.param("tic-tac-toe", marks=pytest.mark.long)])
def test_a_process_elsewhere_stands_by_and_takes_over(world: World, server: Server, game: str) -> None:
    """The second process has the key, and the URLs of journal and log; nothing else of the first one's machine."""
    alice, bob, spare = world.player("alice", HOST), world.player("bob", GUEST), world.player("spare", GUEST)
    stores = [server.schema(), server.schema()]
    host = world.play(alice, "--create", "--stake", "0.01 ether", *ROUNDS, "--store", stores[0], game=game)
    guest = world.play(bob, "--join", link_of(host), *ROUNDS, "--yes", "--store", stores[1], game=game)
    guest.reach("turn    6")
    standby = world.play(spare, *ROUNDS, "--store", stores[1], game=game)
    standby.reach("Another process plays this")
    guest.end(by=signal.SIGKILL)
    assert standby.end() == 0, standby.complained
    assert host.end() == 0, host.complained
    assert "turn " in standby.said
    ours, theirs = (final_of(store) for store in stores)
    assert ours.newest is not None
    assert theirs.newest is not None
    assert ours.newest.state == theirs.newest.state
    assert world.held(ours) == 0
    for key, each in zip((HOST, GUEST), ours.newest.state.outcome, strict=True):
        most = START - DEPOSIT + each.amount
        assert most - GAS_AT_MOST < world.node.chain.balance(key.address) < most
