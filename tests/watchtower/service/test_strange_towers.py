"""Towers that hang, drip, pour or talk nonsense: a client gives up in time, and a publisher goes on."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import msgspec
import pytest
from msgspec.structs import replace

from forcemove import ForcemoveError, Key, ManagedChannel, TowerClient, UnknownVersion
from forcemove.watchtower import publisher as publishers
from forcemove.watchtower.appointment import Appointment, AppointmentReceipt
from forcemove.watchtower.client_errors import TowerRefused, TowerUnreachable
from forcemove.watchtower.publisher import Acknowledged, NotAcknowledged, TowerNotification, TowerPublisher
from forcemove_games.tic_tac_toe import GAME
from tests.certificate import serving_context
from tests.chain.server import answer_chain_id, serving
from tests.relay.strange import until
from tests.scenarios.story import ALICE, Playground
from tests.simulation.chain import MemoryChain
from tests.transport.people import run
from tests.watchtower.keeper import TOWER, newest

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
def given() -> Appointment:
    story = Playground.on(MemoryChain()).story(GAME)
    story.play_until(6)
    return newest(story)


@pytest.mark.parametrize("answer", ANSWERS)
async def test_threat_55_a_client_gives_a_tower_up_in_time(answer: str, given: Appointment) -> None:
    async with strange(answer) as tower:
        patience = 60 if answer == "an answer of 500 MB" else 0.3  # of which a small part is read
        client, began = TowerClient(tower.url, TOWER.address, timeout=patience), time.monotonic()
        with pytest.raises(TowerUnreachable):
            await client.send_appointment(given, ALICE)
        assert time.monotonic() - began < 30
        assert tower.sent < 16 * 2**20  # most of it in the buffers of the system
        assert tower.asked == 1


def test_why_a_tower_cannot_be_reached_is_said_in_words(given: Appointment, tmp_path: Path) -> None:
    async def send(url: str) -> None:
        await TowerClient(url, TOWER.address).send_appointment(given, ALICE)

    def reason(url: str) -> str:
        with pytest.raises(TowerUnreachable) as caught:
            run(send(url))
        return caught.value.reason

    with serving(answer_chain_id, serving_context(tmp_path)) as address, serving(answer_chain_id) as plain:
        assert reason(address).startswith("its certificate is not trusted (self-signed certificate); SSL_CERT_FILE")
        assert reason(plain.replace("http", "https")).startswith("it does not speak TLS (")
    assert reason("http://127.0.0.1:1") == "Connection refused"


class Odd(TowerClient):
    """Breaks at one channel, and takes the others'."""

    def __init__(self, error: Exception) -> None:
        super().__init__("http://127.0.0.1:1", TOWER.address)
        self._error = error

    async def send_appointment(
        self, appointment: Appointment, key: Key, *, now: int | None = None
    ) -> AppointmentReceipt:
        if appointment.from_block == 0:
            raise self._error
        return cast("AppointmentReceipt", None)


class Good(TowerClient):
    """Takes everything."""

    async def send_appointment(
        self, appointment: Appointment, key: Key, *, now: int | None = None
    ) -> AppointmentReceipt:
        return cast("AppointmentReceipt", None)


@dataclass(eq=False)
class Stub:
    """A channel, of which the publisher sees that there is something to hand over."""

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

    def note_receipt(self, tower: str, turn_num: int) -> None:
        raise ZeroDivisionError(tower, turn_num)


@pytest.mark.parametrize("error", [TowerUnreachable("url", "silent"), ZeroDivisionError()])
async def test_threat_57_a_tower_that_breaks_at_one_channel_has_the_others_and_ends_nothing(
    error: Exception, given: Appointment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor does an owner who fails at what it is told, or a channel that cannot be read."""
    told: list[TowerNotification] = []

    def tell(each: TowerNotification) -> None:
        told.append(each)
        raise ZeroDivisionError

    def make(_: object, from_block: int) -> Appointment:
        if from_block == 2:
            raise ZeroDivisionError
        return Appointment(given.agreement, from_block, given.supported)

    monkeypatch.setattr(publishers, "make_appointment", make)
    monkeypatch.setattr(publishers, "_FIRST_PAUSE", 0.01)
    monkeypatch.setattr(publishers, "_LONGEST_PAUSE", 0.05)
    publisher = TowerPublisher([Odd(error)], notify=tell)
    for number in (2, 0, 1):
        publisher.add(cast("ManagedChannel", Stub(bytes([number]), number)), ALICE)
    running = asyncio.create_task(publisher.run())
    await until(lambda: any(isinstance(each, Acknowledged) for each in told))
    await until(lambda: sum(isinstance(each, NotAcknowledged) for each in told) > 2)
    assert all(isinstance(each.error, ForcemoveError) for each in told if isinstance(each, NotAcknowledged))
    assert not running.done()


async def test_a_channel_that_is_removed_while_it_is_given_is_given_no_more(
    given: Appointment, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[TowerNotification] = []

    def notify(each: TowerNotification) -> None:
        told.append(each)
        publisher.remove(b"1")

    publisher = TowerPublisher([Odd(TowerUnreachable("url", "silent"))], notify=notify)
    monkeypatch.setattr(publishers, "make_appointment", lambda _, block: replace(given, from_block=block))
    monkeypatch.setattr(publishers, "_FIRST_PAUSE", 0.01)
    publisher.add(cast("ManagedChannel", Stub(b"1", 0)), ALICE)
    running = asyncio.create_task(publisher.run())
    await until(lambda: bool(told))
    publisher.add(cast("ManagedChannel", Stub(b"2", 1)), ALICE)
    await until(lambda: any(isinstance(each, Acknowledged) for each in told))
    assert sum(isinstance(each, NotAcknowledged) for each in told) == 1
    assert not running.done()


@pytest.mark.parametrize(("answer", "error"), [("its receipt", UnknownVersion), ("its refusal", TowerRefused)])
async def test_threat_57_a_tower_of_another_version_is_no_tower_and_ends_nothing(
    answer: str, error: type[ForcemoveError], given: Appointment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is told, its receipt counts for nothing, and it is asked again, as it may be updated. Another tower has all
    that it is given."""
    told: list[TowerNotification] = []

    def make(_: object, from_block: int) -> Appointment:
        return Appointment(given.agreement, from_block, given.supported)

    monkeypatch.setattr(publishers, "make_appointment", make)
    monkeypatch.setattr(publishers, "_FIRST_PAUSE", 0.01)
    monkeypatch.setattr(publishers, "_LONGEST_PAUSE", 0.05)
    async with strange(answer) as tower:
        newer, good = TowerClient(tower.url, TOWER.address), Good("http://127.0.0.1:1", TOWER.address)
        with pytest.raises(error):
            await newer.send_appointment(given, ALICE)
        for towers, unguarded in (([newer], 2), ([newer, good], 0)):
            told.clear()
            publisher = TowerPublisher(towers, notify=told.append)
            for number in (1, 2):
                publisher.add(cast("ManagedChannel", Stub(bytes([number]), number)), ALICE)
            running = asyncio.create_task(publisher.run())
            await until(lambda: sum(isinstance(each, NotAcknowledged) for each in told) > 4)
            assert len({each.channel_id for each in told if isinstance(each, NotAcknowledged)}) == 2
            await until(lambda publisher=publisher, most=unguarded: len(publisher.unprotected) == most)  # type: ignore[misc]
            assert {type(each.error) for each in told if isinstance(each, NotAcknowledged)} == {error}
            assert not running.done()
            running.cancel()
