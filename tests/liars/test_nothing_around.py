"""Nothing around: whatever else a player has, a second endpoint, a line to the counterparty, a player's function, is
dead, hangs, refuses or raves, from the start or from the middle of the game on: a stale challenge is answered in the
next block."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator, Sequence
from itertools import count, product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from forcemove.arena.network import MemoryMessenger
from forcemove.chain.errors import EndpointFailed, Unreachable
from tests.liars.places import BLOCK, AmongLiars, NodeAmongLiars, TowerAmongLiars, honest
from tests.liars.proxy import Ask, Tell
from tests.node.test_node import House
from tests.sampled import with_sample
from tests.simulation.faults import Endpoint

SECONDS = 60.0
"""For which a test waits at most for what it does not count in blocks."""
OVER = threading.Event()
"""Never set: what hangs hangs until the process ends."""


def is_dead(ask: Ask, method: str, *params: Any) -> Any:
    raise Unreachable("dead", "nobody is there")


def refuses(ask: Ask, method: str, *params: Any) -> Any:
    raise EndpointFailed(method, "rate limit exceeded")


def hangs(ask: Ask, method: str, *params: Any) -> Any:
    OVER.wait()


def raises(ask: Ask, method: str, *params: Any) -> Any:
    raise RuntimeError("an odd library")


ENDPOINTS: dict[str, Tell] = {"none": honest, "dead": is_dead, "refusing": refuses, "hanging": hangs, "odd": raises}


class Line:
    """One that raises whatever it is asked."""

    def send(self, message: bytes) -> None:
        raise ConnectionError("no relay")

    def receive(self) -> Sequence[bytes]:
        raise ConnectionError("no relay")


class Flood(Line):
    """And one that brings something at each call: nonsense, much of it."""

    def __init__(self) -> None:
        self._number = count()

    def receive(self) -> Sequence[bytes]:
        return [b"%d" % next(self._number) + bytes(2**14) for _ in range(64)]


class Echo(Line):
    """What we have said ourselves, again and again."""

    def __init__(self) -> None:
        self._said: list[bytes] = []

    def send(self, message: bytes) -> None:
        self._said.append(message)

    def receive(self) -> Sequence[bytes]:
        return self._said[-64:]


LINES: dict[str, Callable[[], object]] = {"silent": MemoryMessenger, "raising": Line, "flood": Flood, "echo": Echo}


class Player:
    """One whose function raises, and one who is away."""

    def bot(self, *_: object, **__: object) -> Any:
        raise RuntimeError("the player's own code")


class Away(Player):
    def bot(self, *_: object, **__: object) -> Any:
        return SimpleNamespace(move=lambda *_, **__: None)


PLAYERS: dict[str, Callable[[House], object]] = {
    "playing": lambda home: home.game,
    "raising": lambda _: Player(),
    "leaving": lambda _: Away(),
}
CASES = list(product(ENDPOINTS, LINES, PLAYERS, (0, 1), ("start", "middle")))
SAMPLE = [
    *product(ENDPOINTS, ("silent",), ("playing",), (0, 1), ("start", "middle")),
    *product(("none",), LINES, ("playing",), (0,), ("start", "middle")),
    *product(("none",), ("silent",), PLAYERS, (0,), ("start", "middle")),
    *product(("hanging", "dead"), ("raising", "flood"), ("raising",), (1,), ("start", "middle")),
]
Make = Callable[..., Any]


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Make]:
    made: list[Any] = []

    def among(part: type[Any], *arguments: Any, **options: Any) -> Any:
        made.append(part(tmp_path, monkeypatch, *arguments, **options))
        return made[-1]

    yield among
    for each in made:
        each.close()


def make_away(monkeypatch: pytest.MonkeyPatch, place: int | None) -> None:
    """Let the endpoint at this place be one of another machine: what hangs here would hang the process."""
    here = AmongLiars.make_endpoint

    def make_endpoint(among: AmongLiars, name: str) -> Endpoint:
        made = here(among, name)
        made.is_here = name != str(place)
        return made

    monkeypatch.setattr(AmongLiars, "make_endpoint", make_endpoint)


async def poll_until(run: NodeAmongLiars, condition: Callable[[], bool]) -> None:
    """Time goes by for the node meanwhile, and no block is mined."""
    async with asyncio.timeout(SECONDS):
        while not condition():
            run.alice.now += 0.05
            await asyncio.sleep(0.005)


async def answers_in_the_next_block(run: NodeAmongLiars, place: int, *, at_once: bool) -> None:
    looked = run.liars.endpoints[1 - place]
    running = asyncio.create_task(run.alice.node.run(look_every=0.01))
    try:
        if not at_once:
            await poll_until(run, lambda: looked.counts["eth_getBlockByNumber"] > 0 or running.done())
            run.liars.lie()
            run.challenge()
        await poll_until(run, lambda: bool(run.node.waiting) or running.done())
        assert not running.done()
        run.pass_block()
        assert run.is_answered
    finally:
        running.cancel()


@pytest.mark.parametrize(("endpoint", "line", "player", "place", "since"), with_sample(CASES, SAMPLE))
def test_threat_46_with_nothing_around_a_node_answers_in_the_next_block(
    endpoint: str, line: str, player: str, place: int, since: str, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    tells: list[Tell] = [honest]
    tells.insert(place, ENDPOINTS[endpoint])

    def around(home: House) -> None:
        home.game = PLAYERS[player](home)  # type: ignore[assignment]
        home.lines[0] = (LINES[line](), home.lines[0][1])  # type: ignore[assignment]

    make_away(monkeypatch, place if endpoint == "hanging" else None)
    run = make(NodeAmongLiars, tells, challenged=since == "start", around=around)
    if since == "middle":
        run.liars.be_honest()
    asyncio.run(answers_in_the_next_block(run, place, at_once=since == "start"))


@pytest.mark.parametrize(("endpoint", "place", "since"), list(product(ENDPOINTS, (0, 1), ("start", "middle"))))
def test_threat_46_with_nothing_around_a_tower_answers_in_the_next_block(
    endpoint: str, place: int, since: str, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has looked once when it has read the challenge, and once more when it answers."""
    tells: list[Tell] = [honest]
    tells.insert(place, ENDPOINTS[endpoint])
    make_away(monkeypatch, place if endpoint == "hanging" else None)
    run = make(TowerAmongLiars, tells, challenged=since == "start")
    if since == "middle":
        run.liars.be_honest()
        run.keeper.tower.poll()
        run.liars.lie()
        run.challenge()
    for _ in range(2):
        run.keeper.now += BLOCK / 10
        run.keeper.tower.poll()
    run.pass_block()
    assert run.is_answered
