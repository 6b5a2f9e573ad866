"""Towers that hang, drip, pour or talk nonsense: a client gives up in time, and a courier goes on."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import cast

import msgspec
import pytest

from forcemove.errors import ForcemoveError, UnknownVersion
from forcemove.node.driven import Driven
from forcemove.protocol.signing import Key
from forcemove.tower.handover import HandOver
from forcemove.tower.receipts import Receipt
from forcemove.watching import courier as couriers
from forcemove.watching.client import TowerClient
from forcemove.watching.courier import Acknowledged, Courier, Failed, Told
from forcemove.watching.errors import TowerRefused, TowerUnreachable
from forcemove_games.tic_tac_toe import GAME
from tests.relay.strange import until
from tests.scenarios.story import ALICE, Playground
from tests.simulation.chain import MemoryChain
from tests.tower.keeper import TOWER, newest
from tests.transport.people import run

_OK = b"HTTP/1.1 200 OK\r\nContent-Length: 500000000\r\n\r\n"
ANSWERS = {
    "nothing": (b"", b""),
    "a dripped head": (b"", b"H"),
    "a dripped answer": (_OK, b" "),
    "an answer of 500 MB": (_OK, b" " * 2**16),
    "a head without end": (b"HTTP/1.1 200 OK\r\nX: ", b"x" * 2**16),
    "heads without end": (b"HTTP/1.1 200 OK\r\n", b"X: y\r\n" * 2**13),
    "no HTTP": (b"hello\r\n\r\n", b""),
    "brackets": (b"HTTP/1.1 404 No\r\nContent-Length: 4000\r\n\r\n" + b"[" * 4_000, b""),
    "a redirect": (b"HTTP/1.1 302 No\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n", b""),
    "something else": (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", b""),
}
"""What a tower says at first, and then again and again."""
NEWER = {
    "its receipt": ("200 OK", msgspec.msgpack.encode((2, {"new": ["any", "thing"]}))),
    "its refusal": ("400 No", b'{"error": "UnknownVersion", "detail": "please update"}'),
}
"""What a tower of another version says: that it has taken what it was given, or that it does not understand it."""


@dataclass
class StrangeTower:
    """`sent`: bytes, in all."""

    url: str = ""
    sent: int = 0
    asked: int = 0


@asynccontextmanager
async def strange(answer: str) -> AsyncIterator[StrangeTower]:
    tower = StrangeTower()
    first, rest = ANSWERS[answer] if answer in ANSWERS else (_http(*NEWER[answer]), b"")

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tower.asked += 1
        try:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(first)
            while True:
                writer.write(rest)
                await writer.drain()
                tower.sent += len(rest)
                await asyncio.sleep(0 if len(rest) > 1 else 0.01)
        except (OSError, asyncio.IncompleteReadError):
            pass

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    tower.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    serving = asyncio.create_task(server.serve_forever())
    try:
        yield tower
    finally:
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)


def _http(status: str, body: bytes) -> bytes:
    return f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


@pytest.fixture(scope="module")
def given() -> HandOver:
    story = Playground.on(MemoryChain()).story(GAME)
    story.play_until(6)
    return newest(story)


@pytest.mark.parametrize("answer", ANSWERS)
def test_threat_55_a_client_gives_a_tower_up_in_time(answer: str, given: HandOver) -> None:
    async def story() -> None:
        async with strange(answer) as tower:
            patience = 5 if answer == "an answer of 500 MB" else 0.3  # of which a small part is read
            client, began = TowerClient(tower.url, TOWER.address, patience=patience), time.monotonic()
            with pytest.raises(TowerUnreachable):
                await client.give(given, ALICE)
            assert time.monotonic() - began < 5
            assert tower.sent < 16 * 2**20  # most of it in the buffers of the system
            assert tower.asked == 1

    run(story())


class Odd(TowerClient):
    """Breaks at one channel, and takes the others'."""

    def __init__(self, error: Exception) -> None:
        super().__init__("http://127.0.0.1:1", TOWER.address)
        self._error = error

    async def give(self, given: HandOver, key: Key, *, now: int | None = None) -> Receipt:
        if given.from_block == 0:
            raise self._error
        return cast("Receipt", None)


class Good(TowerClient):
    """Takes everything."""

    async def give(self, given: HandOver, key: Key, *, now: int | None = None) -> Receipt:
        return cast("Receipt", None)


@dataclass(eq=False)
class Stub:
    """A channel, of which the courier sees that there is something to hand over."""

    id: bytes
    from_block: int
    channel: object = field(default_factory=lambda: SimpleNamespace(is_over_and_paid=False))

    @property
    def client(self) -> object:
        return SimpleNamespace(is_unsaved=False)

    @property
    def following(self) -> object:
        return SimpleNamespace(from_block=self.from_block)

    def time(self) -> int:
        return 0


@pytest.mark.parametrize("error", [TowerUnreachable("url", "silent"), ZeroDivisionError()])
def test_threat_57_a_tower_that_breaks_at_one_channel_has_the_others_and_ends_nothing(
    error: Exception, given: HandOver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor does an owner who fails at what it is told, or a channel that cannot be read."""
    told: list[Told] = []

    def tell(each: Told) -> None:
        told.append(each)
        raise ZeroDivisionError

    def hand_over(_: object, from_block: int) -> HandOver:
        if from_block == 2:
            raise ZeroDivisionError
        return HandOver(given.agreement, from_block, given.supported)

    async def story() -> None:
        courier = Courier([Odd(error)], tell=tell, look_every=0.01)
        for number in (2, 0, 1):
            courier.add(cast("Driven", Stub(bytes([number]), number)), ALICE)
        running = asyncio.create_task(courier.run())
        await until(lambda: any(isinstance(each, Acknowledged) for each in told))
        await until(lambda: sum(isinstance(each, Failed) for each in told) > 2)
        assert all(isinstance(each.error, ForcemoveError) for each in told if isinstance(each, Failed))
        assert not running.done()

    monkeypatch.setattr(couriers, "hand_over", hand_over)
    monkeypatch.setattr(couriers, "_FIRST_PAUSE", 0.01)
    monkeypatch.setattr(couriers, "_LONGEST_PAUSE", 0.05)
    run(story())


@pytest.mark.parametrize(("answer", "error"), [("its receipt", UnknownVersion), ("its refusal", TowerRefused)])
def test_threat_57_a_tower_of_another_version_is_no_tower_and_ends_nothing(
    answer: str, error: type[ForcemoveError], given: HandOver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is told, its receipt counts for nothing, and it is asked again, as it may be updated. Another tower has all
    that it is given."""
    told: list[Told] = []

    async def story() -> None:
        async with strange(answer) as tower:
            newer, good = TowerClient(tower.url, TOWER.address), Good("http://127.0.0.1:1", TOWER.address)
            with pytest.raises(error):
                await newer.give(given, ALICE)
            for towers, unguarded in (([newer], 2), ([newer, good], 0)):
                told.clear()
                courier = Courier(towers, tell=told.append, look_every=0.01)
                for number in (1, 2):
                    courier.add(cast("Driven", Stub(bytes([number]), number)), ALICE)
                running = asyncio.create_task(courier.run())
                await until(lambda: sum(isinstance(each, Failed) for each in told) > 4)
                assert len({each.channel_id for each in told if isinstance(each, Failed)}) == 2
                await until(lambda courier=courier, most=unguarded: len(courier.unguarded) == most)  # type: ignore[misc]
                assert {type(each.error) for each in told if isinstance(each, Failed)} == {error}
                assert not running.done()
                running.cancel()

    def hand_over(_: object, from_block: int) -> HandOver:
        return HandOver(given.agreement, from_block, given.supported)

    monkeypatch.setattr(couriers, "hand_over", hand_over)
    monkeypatch.setattr(couriers, "_FIRST_PAUSE", 0.01)
    monkeypatch.setattr(couriers, "_LONGEST_PAUSE", 0.05)
    run(story())
