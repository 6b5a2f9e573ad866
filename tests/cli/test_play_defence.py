"""`forcemove play` defends what its journal has before it looks for anybody, and whatever is away."""

from __future__ import annotations

import asyncio
import signal
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from forcemove import Channel, local_keys
from forcemove.demo.network.scenarios import challenge_with
from forcemove.transport.links import LINK_HEAD
from tests.cli.nodes import Node, wait_until
from tests.cli.tables import DEPOSIT, GUEST, HOST, START, World, link_of
from tests.relay.strange import StrangeRelay
from tests.sampled import sampled

CREATE = ("--create", "--stake", "0.01 ether", "--rounds", "20")
CAROL = local_keys()[5]
SOON = 120.0
"""Seconds; a challenge lasts for an hour."""
_LATER = 6
"""Turns after which a state is so old that no single move is an answer to it."""
_PAYS_NOTHING = """
from forcemove.workers.account_worker import AccountWorker
assert AccountWorker.submit
AccountWorker.submit = lambda self, request: None
"""
"""A player that signs, and sends no transaction."""
_LEAVES_OUT_SOON = """
from forcemove.follower import cross_check
assert cross_check._SILENT
cross_check._SILENT = 3.0
"""
"""A player who takes an endpoint for away after three seconds of silence, not thirty."""


@pytest.fixture
def silent() -> Iterator[str]:
    """An endpoint that takes every connection, and never answers."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen(64)
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


def interrupted(world: World) -> Channel:
    """Both players are killed in mid-game, after the guest has lost what it would challenge with; its old state."""
    host = world.play(world.alice, *CREATE, "--pace", "0.1")
    guest = world.play(world.bob, "--join", link_of(host), "--rounds", "20", "--yes", "--pace", "0.1")
    guest.reach("turn to reveal")
    old = world.saved(world.bob)
    wait_until(lambda: world.saved(world.alice).next_turn >= old.next_turn + _LATER)
    for player in (guest, host):
        player.end(by=signal.SIGKILL)
    return old


def require_answered_soon(world: World, old: Channel, turn: int) -> None:
    begun = time.monotonic()
    world.await_answer(old, turn)
    assert time.monotonic() - begun < SOON


@pytest.mark.parametrize("first", sampled(["dead", "hanging"], 2))
def test_one_of_two_nodes_is_away_from_the_start(world: World, silent: str, first: str) -> None:
    away = "http://127.0.0.1:9" if first == "dead" else silent
    host = world.play(world.alice, "--chain", away, *CREATE[:3], "--rounds", "1", before=_LEAVES_OUT_SOON)
    guest = world.play(world.bob, "--join", link_of(host), "--rounds", "1", "--yes")
    assert [each.end() for each in (host, guest)] == [0, 0], host.complained
    assert f"The node at {away.removeprefix('http://')} does not answer" in host.complained
    world.require_right_ends()


def test_a_node_of_another_chain_is_left_out(world: World, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    other = Node(elsewhere, "--chain-id", "1337")
    try:
        host = world.play(world.alice, "--chain", other.endpoint, *CREATE[:3], "--rounds", "1")
        guest = world.play(world.bob, "--join", link_of(host), "--rounds", "1", "--yes")
        assert [each.end() for each in (host, guest)] == [0, 0], host.complained
        assert "is of chain 1337, not 31337: it is left out" in host.complained
        alone = world.run(world.alice, *_without_chain(world), "--chain", other.endpoint, "--bot", *CREATE)
        assert alone.end() == 1
    finally:
        other.stop()


def test_no_node_at_the_start_is_waited_for(world: World) -> None:
    world.node.stop()
    host = world.play(world.alice, *CREATE[:3], "--rounds", "1")
    wait_until(lambda: "is out of reach. It is tried again." in host.complained)
    world.node.start()
    guest = world.play(world.bob, "--join", link_of(host), "--rounds", "1", "--yes")
    assert [each.end() for each in (host, guest)] == [0, 0], host.complained


def test_threat_57_an_old_state_is_answered_while_the_relay_is_dead(world: World) -> None:
    old = interrupted(world)
    world.carrier.kill()
    turn = challenge_with(world.node.chain, GUEST, old)
    again = world.play(world.alice, *CREATE)
    require_answered_soon(world, old, turn)
    again.reach("It is tried again; what is on the chain is defended meanwhile.")
    assert again.process.poll() is None


def test_threat_57_another_keys_channel_is_defended_while_a_game_is_offered(world: World) -> None:
    old = interrupted(world)
    carol = world.home("carol", CAROL)
    world.share(carol, world.alice)
    offering = world.play(carol, *CREATE)
    link_of(offering)
    turn = challenge_with(world.node.chain, GUEST, old)
    require_answered_soon(world, old, turn)
    offering.reach("besides     0x")
    offering.reach("checkpoint: in block")
    require_free_soon(world, old)
    assert offering.end(by=signal.SIGINT) == 130
    assert "1 other channel is open in this journal" in offering.said


def require_free_soon(world: World, channel: Channel) -> None:
    """Anyone who plays it may continue it, while the other command still runs."""
    again = world.play(world.alice, "--patience", "2")
    again.reach("Nothing was heard for 2 seconds")  # it drives the channel
    again.end(by=signal.SIGKILL)
    assert channel.agreement.channel_id.hex() in again.said


def test_threat_57_a_channel_is_defended_though_the_relay_was_never_there(world: World) -> None:
    old = interrupted(world)
    carol = world.home("carol", CAROL)
    world.share(carol, world.alice)
    world.carrier.kill()
    offering = world.play(carol, *CREATE)
    turn = challenge_with(world.node.chain, GUEST, old)
    require_answered_soon(world, old, turn)
    offering.reach("It is tried again; the journal is defended.")
    assert offering.process.poll() is None


@pytest.mark.parametrize("mode", sampled(["malformed", "newer", "closing"], 3))
def test_threat_57_a_channel_is_defended_though_what_answers_is_of_no_use(world: World, mode: str) -> None:
    old = interrupted(world)
    carol = world.home("carol", CAROL)
    world.share(carol, world.alice)
    with strange_relay(mode) as url:
        where = (*world.arguments(carol, "rock-paper-scissors"), "--relay", url, "--bot")
        offering = world.run(carol, *where, *CREATE)
        offering.reach("It is tried again; the journal is defended.")
        turn = challenge_with(world.node.chain, GUEST, old)
        require_answered_soon(world, old, turn)
        assert offering.process.poll() is None


@contextmanager
def strange_relay(mode: str) -> Iterator[str]:
    """Its address."""
    loop = asyncio.new_event_loop()
    serving = threading.Thread(target=loop.run_forever, daemon=True)
    serving.start()
    relay = StrangeRelay(mode)
    asyncio.run_coroutine_threadsafe(relay.__aenter__(), loop).result()
    try:
        yield relay.url
    finally:
        loop.call_soon_threadsafe(loop.stop)
        serving.join()


@pytest.mark.parametrize("is_gone", [False, True], ids=["it signs", "it is gone"])
def test_a_guest_that_never_pays_in_costs_the_host_nothing_but_gas(world: World, is_gone: bool) -> None:
    host = world.play(world.alice, *CREATE, "--patience", "3")
    guest = world.play(world.bob, "--join", link_of(host), "--rounds", "20", "--yes", before=_PAYS_NOTHING)
    host.reach("deposit: in block")
    if is_gone:
        guest.end(by=signal.SIGKILL)
        host.reach("challenge: in block")
        world.travel(3_601)
    assert host.end() == 1
    assert "Not all have paid in; 0.05 ether came back to you." in host.said
    assert "gave back what was there" in host.complained
    assert "gas         " in host.said
    assert START - DEPOSIT // 5 < world.node.chain.balance(HOST.address) < START
    if is_gone:  # nobody can close that channel, and another game is offered
        link_of(world.play(world.alice, *CREATE))


def test_an_offer_that_is_not_worth_its_disputes_is_refused_before_it_is_made(world: World) -> None:
    world.node.chain.rpc.ask("anvil_setNextBlockBaseFeePerGas", hex(10**12))
    world.node.chain.rpc.ask("evm_mine")
    host = world.play(world.alice, "--create", "--stake", "0.0001 ether")
    assert host.end() == 1
    assert "At the present price of gas a stake below 0." in host.complained
    assert "is not worth its disputes" in host.complained
    assert "Offer at least --stake '0." in host.complained
    assert LINK_HEAD not in host.said
    least = host.complained.partition("--stake '")[2].partition("'")[0]
    world.node.give(HOST.address, 10 * START)
    enough = world.play(world.alice, "--create", "--stake", least)
    link_of(enough)
    assert enough.end(by=signal.SIGINT) == 130


def test_a_duration_that_cannot_be_met_is_refused_before_it_is_offered(world: World) -> None:
    world.travel(3_600)  # the chain is as slow as a local one is believed to be
    host = world.play(world.alice, "--create", "--stake", "0.01 ether", "--duration", "60")
    assert host.end() == 1
    assert "At least 89 seconds are needed. Offer --duration" in host.complained
    assert LINK_HEAD not in host.said


def test_nobody_joins_what_is_not_worth_its_disputes(world: World) -> None:
    host = world.play(world.alice, "--create", "--stake", "0.001 ether")
    link = link_of(host)
    world.node.chain.rpc.ask("anvil_setNextBlockBaseFeePerGas", hex(10**12))
    world.node.chain.rpc.ask("evm_mine")
    guest = world.play(world.bob, "--join", link, "--yes")
    assert guest.end() == 1
    assert "is not worth its disputes" in guest.complained
    assert world.meetings(world.bob) == 0


def _without_chain(world: World) -> tuple[str, ...]:
    arguments = world.arguments(world.alice, "rock-paper-scissors")
    return (*arguments[: arguments.index("--chain")], "--relay", world.carrier.url)
