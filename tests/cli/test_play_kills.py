"""What carries the tables, the watchtower and both players are killed and started again at random moments: nothing is
lost but time."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest

from forcemove import Key, keccak256, local_keys
from forcemove.chain.addresses import show_address
from tests.cli.nodes import Demo, wait_until
from tests.cli.tables import STAKE, World, link_of, world_on
from tests.jetstream.server import running_server
from tests.liars.proxy import lying
from tests.sampled import sampled
from tests.simulation.liars import Moody
from tests.transport.carriers import Process

TOWER = local_keys()[4]
OPTIONS = ("--rounds", "4", "--pace", "0.05", "--patience", "120")
SCHEDULES, OF_ALL = 2, 100
"""With each carrier: in the normal run, and under --long."""
KILLS = 4
BESIDE_A_LIAR = 25
"""Schedules, with the liar in each place."""
_LIES_LAST = 60
"""Requests."""
_RESULT = "\nresult "


@pytest.fixture
def nats(tmp_path: Path) -> Iterator[Process]:
    """Writes each message to its disk before it says that it has it, as one whose tables matter is set up."""
    with running_server(tmp_path, sync_interval="always") as server:
        yield server


class Cast:
    """Two new players, and a watchtower for both."""

    def __init__(self, world: World, seed: int, tower: str) -> None:
        self.world, self.random = world, Random(seed)
        self.keys = keys_of(seed)
        self.homes = [world.home(f"player {seed} {seat}", key) for seat, key in enumerate(self.keys)]
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
        player = self.players[seat]
        if player.process.poll() is None:
            player.end(by=signal.SIGKILL)
            if _RESULT not in player.said:  # else the same command may begin another game
                self.players[seat] = self.start(seat)

    def await_turns(self) -> None:
        """Until a player has printed some more, or has ended."""
        player = self.players[self.random.randrange(2)]
        more = player.said.count("turn ") + self.random.randrange(4)
        wait_until(lambda: player.said.count("turn ") >= more or player.process.poll() is not None)

    def have_ended(self) -> bool:
        """Whether both have. Who was kept from beginning, by an endpoint that told of dear gas, begins now."""
        for seat, player in enumerate(self.players):
            if player.process.poll() == 1 and "Nothing was signed." in player.complained:
                self.players[seat] = self.start(seat)
        return all(player.process.poll() is not None for player in self.players)

    def require_right_ends(self) -> None:
        wait_until(self.have_ended)
        for seat, player in enumerate(self.players):
            assert player.end() in (0, -signal.SIGKILL), (seat, player.said, player.complained)
            assert _RESULT in player.said
        host, guest = self.homes
        self.world.require_same_ends(host, guest, self.keys)


def keys_of(seed: int) -> list[Key]:
    return [Key(keccak256(b"%d %d" % (seed, seat))) for seat in range(2)]


class Tower:
    """A watchtower for all players of all schedules, in a process that can be killed."""

    def __init__(self, world: World, seeds: range) -> None:
        self.world, self._home = world, world.home("tower", TOWER)
        self._watched = [
            part for seed in seeds for key in keys_of(seed) for part in ("--for", show_address(key.address))
        ]
        self._process = self._start("127.0.0.1:0")
        self._url = self._process.said.partition("listens at ")[2].partition(",")[0]
        self.option = f"{show_address(TOWER.address)}@{self._url}"

    def kill(self) -> None:
        """And start it again."""
        self._process.end(by=signal.SIGKILL)
        self._process = self._start(self._url.partition("://")[2])

    def _start(self, listen: str) -> Demo:
        where = ("--chain", self.world.node.endpoint, "--key", "key.json", "--listen", listen, "--lease", "1")
        process = self.world.run(self._home, "watch", *where, *self._watched)
        process.reach("listens at ")
        return process


@pytest.mark.parametrize("carrier", sampled(["relay", "nats"], 2))
@pytest.mark.parametrize(
    "seeds",
    [
        pytest.param(range(SCHEDULES), id="some"),
        pytest.param(range(SCHEDULES, OF_ALL), id="all", marks=pytest.mark.long),
    ],
)
def test_whoever_is_killed_and_comes_back_loses_nothing(
    request: pytest.FixtureRequest, tmp_path: Path, carrier: str, seeds: range
) -> None:
    carries: Process = request.getfixturevalue(carrier)

    def kill_carrier() -> None:
        carries.kill()
        carries.start()

    with world_on(carries, tmp_path) as world:
        kill_many(world, seeds, kill_carrier)


@pytest.mark.long
@pytest.mark.parametrize("place", [0, 1])
def test_threat_54_whoever_is_killed_beside_a_lying_endpoint_loses_nothing(
    relay: Process, tmp_path: Path, place: int
) -> None:
    """Players, whose other endpoint tells lies for a while after each kill."""

    def kill_relay() -> None:
        relay.kill()
        relay.start()

    liar = Moody(Random(place), _LIES_LAST)
    with world_on(relay, tmp_path) as world, lying(world.node.endpoint, liar) as url:
        world.endpoints.insert(place, url)
        kill_many(world, range(OF_ALL, OF_ALL + BESIDE_A_LIAR), kill_relay, liar.be_honest, liar.change)


def nothing() -> None:
    """Is done."""


def kill_many(
    world: World,
    seeds: range,
    kill_carrier: Callable[[], None],
    before: Callable[[], object] = nothing,
    after: Callable[[], object] = nothing,
) -> None:
    """Each seed's schedule, with its right end. `before`: is called before each begins and before its end is
    waited for, `after`: after each kill."""
    tower = Tower(world, seeds)
    for seed in seeds:
        print(f"seed {seed}")
        before()
        cast = Cast(world, seed, tower.option)
        victims: list[Callable[[], None]] = [cast.kill_player, cast.kill_player, kill_carrier, tower.kill]
        for _ in range(KILLS):
            cast.await_turns()
            cast.random.choice(victims)()
            after()
        before()
        cast.require_right_ends()
