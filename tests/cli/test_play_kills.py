"""Relay, watchtower and both players are killed and started again at random moments: nothing is lost but time."""

from __future__ import annotations

import signal
from collections.abc import Callable
from random import Random

import pytest

from forcemove.channel.chain.addresses import show_address
from forcemove.channel.chain.local import local_keys
from forcemove.channel.protocol.hashing import keccak256
from forcemove.channel.protocol.signing import Key
from tests.cli.nodes import Demo, wait_until
from tests.cli.test_play import GAS_AT_MOST, START, World, channel_in, link_of, start
from tests.cli.test_play import world as world  # noqa: PLC0414  # the fixture
from tests.relay.process import RelayProcess

TOWER = local_keys()[4]
STAKE = 10**16
OPTIONS = ("--rounds", "4", "--pace", "0.05", "--patience", "120")
SCHEDULES = 5
"""In the normal run; 200 under --long."""
KILLS = 4


class Cast:
    """Two new players, and a watchtower for both."""

    def __init__(self, world: World, seed: int, tower: str) -> None:
        self.world, self.random = world, Random(seed)
        self.keys = [Key(keccak256(b"%d %d" % (seed, seat))) for seat in range(2)]
        self.homes = [world.player(f"player {seed} {seat}", key) for seat, key in enumerate(self.keys)]
        self.options: list[tuple[str, ...]] = [("--create", "--stake", str(STAKE)), ()]
        self.tower = tower
        self.game = self.random.choice(["rock-paper-scissors", "tic-tac-toe"])
        self.players = [self.start(0)]
        self.options[1] = ("--join", link_of(self.players[0]), "--yes")
        self.players.append(self.start(1))

    def start(self, seat: int) -> Demo:
        return self.world.play(self.homes[seat], *OPTIONS, "--tower", self.tower, *self.options[seat], game=self.game)

    def kill_player(self) -> None:
        seat = self.random.randrange(2)
        if self.players[seat].process.poll() is None:
            self.players[seat].end(by=signal.SIGKILL)
            self.players[seat] = self.start(seat)

    def await_turns(self) -> None:
        """Until a player has printed some more, or has ended."""
        player = self.players[self.random.randrange(2)]
        more = player.said.count("turn ") + self.random.randrange(4)
        wait_until(lambda: player.said.count("turn ") >= more or player.process.poll() is not None)

    def require_right_ends(self) -> None:
        for seat, player in enumerate(self.players):
            if player.end() == 1 and "no open channel" in player.complained:
                continue  # it was killed after the end, and there was nothing to go on with
            assert player.process.poll() == 0, (seat, player.said, player.complained)
        ours, theirs = map(channel_in, self.homes)
        assert ours.newest is not None
        assert theirs.newest is not None
        assert ours.newest.state == theirs.newest.state
        assert self.world.held(ours) == 0
        for key, each in zip(self.keys, ours.newest.state.outcome, strict=True):
            most = START - 5 * STAKE + each.amount
            assert most - GAS_AT_MOST < self.world.node.chain.balance(key.address) < most


@pytest.mark.parametrize(
    "seeds", [range(SCHEDULES), pytest.param(range(SCHEDULES, 200), marks=pytest.mark.long)], ids=["some", "all"]
)
def test_whoever_is_killed_and_comes_back_loses_nothing(world: World, seeds: range) -> None:
    relay = world.relay
    assert isinstance(relay, RelayProcess)
    home = world.player("tower", TOWER)
    keys = [Key(keccak256(b"%d %d" % (seed, seat))) for seed in seeds for seat in range(2)]
    watched = [part for key in keys for part in ("--for", show_address(key.address))]

    def watch(listen: str) -> Demo:
        where = ("--chain", world.node.endpoint, "--key", "key.json", "--listen", listen, "--lease", "1")
        process = start(home, "watch", *where, *watched)
        world.started.append(process)
        process.reach("listens at ")
        return process

    tower = watch("127.0.0.1:0")
    url = tower.said.partition("listens at ")[2].partition(",")[0]

    def kill_relay() -> None:
        relay.kill()
        relay.start()

    def kill_tower() -> None:
        nonlocal tower
        tower.end(by=signal.SIGKILL)
        tower = watch(url.partition("://")[2])

    for seed in seeds:
        print(f"seed {seed}")
        cast = Cast(world, seed, f"{show_address(TOWER.address)}@{url}")
        victims: list[Callable[[], None]] = [cast.kill_player, cast.kill_player, kill_relay, kill_tower]
        for _ in range(KILLS):
            cast.await_turns()
            cast.random.choice(victims)()
        cast.require_right_ends()
