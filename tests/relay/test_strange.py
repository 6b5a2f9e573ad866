"""Relays that are silent, refuse, flood, or are of another version, at the start and in mid-game: a line is never ended
by that, never holds up what else runs in its event loop, and goes on when the relay is right again."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import NoReturn

import pytest

from forcemove import ChannelMessenger, MemoryTransport, TableKind, messenger_on, messenger_to
from forcemove.errors import ForcemoveError, UnknownVersion
from forcemove.transport import limits, messenger, reconnecting, wire
from forcemove.transport.errors import Reason, RelayRefused, RelayUnreachable
from forcemove.transport.websocket import connection as websocket
from forcemove.transport.websocket.connection import RelayConnection
from tests.relay.strange import GOOD, Flood, StrangeRelay, frame, until
from tests.transport.people import ALICE, new_table

MODES: dict[str, type[ForcemoveError]] = {
    "newer": UnknownVersion,
    "malformed": RelayUnreachable,
    "text": RelayUnreachable,
    "no relay": RelayUnreachable,
    "closing": RelayUnreachable,
    "silent": RelayUnreachable,
    "mute": RelayUnreachable,
    "refusing": RelayRefused,
    "table-full": RelayRefused,
    "not-proved": RelayRefused,
    "unheard-of": RelayRefused,
}
"""What a relay does wrong, and as what it is told."""


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seconds are hundredths here."""
    monkeypatch.setattr(reconnecting, "ANSWER_SECONDS", 0.2)
    monkeypatch.setattr(websocket, "ANSWER_SECONDS", 0.2)
    monkeypatch.setattr(reconnecting, "_FIRST_LASTING", 0.05)
    monkeypatch.setattr(messenger, "_SHORTEST", 0.05)
    monkeypatch.setattr(reconnecting, "_LONGEST_LASTING", 0.2)
    monkeypatch.setattr(messenger, "_LONGEST", 0.2)


class Turns:
    """What else runs in the event loop: `count` of its turns."""

    def __init__(self) -> None:
        self.count = 0

    async def run(self) -> NoReturn:
        while True:
            self.count += 1
            await asyncio.sleep(0)


@pytest.mark.parametrize("is_first", [True, False], ids=["at the start", "in mid-game"])
@pytest.mark.parametrize("mode", MODES)
async def test_threat_57_whatever_a_relay_does_wrong_a_line_goes_on_when_it_is_right(mode: str, is_first: bool) -> None:
    told: list[ForcemoveError] = []
    async with StrangeRelay(mode if is_first else GOOD) as relay:
        line, turns = messenger_to(relay.url, new_table(TableKind.CHANNEL), ALICE, on_error=told.append), Turns()
        line.send(b"early")
        assert line.receive() == ()
        running = [asyncio.create_task(part) for part in (line.run(), turns.run())]
        if not is_first:
            await until(lambda: line.is_idle)
            await relay.turn(mode)
        line.send(b"kept")
        await until(lambda: isinstance(line.error, MODES[mode]))
        before, connections = turns.count, relay.count
        await until(lambda: turns.count > before + 500 and (line.error is not None or line.is_connected))
        assert relay.count - connections < 30
        assert not running[0].done()
        assert not line.is_idle
        await relay.turn(GOOD)
        await until(lambda: b"kept" in relay.log and line.error is None)
        await relay.add(b"from bob")
        await until(lambda: b"from bob" in line.receive())
        assert line.is_connected
        for each in running:
            each.cancel()
    assert MODES[mode] in {type(each) for each in told}


async def test_threat_57_who_must_update_is_said_and_once() -> None:
    told: list[ForcemoveError] = []
    async with StrangeRelay("newer") as relay:
        running = asyncio.create_task(
            messenger_to(relay.url, new_table(TableKind.CHANNEL), ALICE, on_error=told.append).run()
        )
        await until(lambda: relay.count > 3)
        running.cancel()
    (error,) = told
    assert isinstance(error, UnknownVersion)
    assert error.is_newer


async def test_threat_57_a_connection_that_was_entered_is_ended_by_no_other_version() -> None:
    async with StrangeRelay() as relay, RelayConnection(relay.url) as connection:
        line = messenger_on(connection, new_table(TableKind.CHANNEL), ALICE)
        running = asyncio.create_task(line.run())
        await relay.turn("newer")
        await until(lambda: isinstance(connection.error, UnknownVersion))
        await relay.turn(GOOD)
        line.send(b"on")
        await until(lambda: relay.log == [b"on"])
        running.cancel()


class Endless:
    """A log whose reader fails forever, as one that has ended with an unknown version did. `count`: how often."""

    def __init__(self) -> None:
        self.count = 0

    async def post(self, message: bytes) -> None:
        """Lost."""

    def reader(self, start: int = 0) -> Endless:
        return self

    async def read(self) -> bytes:
        self.count += 1
        raise UnknownVersion("relay's frame", 2, 1)

    def length(self) -> int:
        return 0


async def test_threat_57_a_log_that_fails_for_ever_leaves_the_event_loop_to_others() -> None:
    log, turns = Endless(), Turns()
    running = [asyncio.create_task(part) for part in (ChannelMessenger(log).run(), turns.run())]
    await until(lambda: log.count > 5)
    assert turns.count > 10 * log.count
    for each in running:
        each.cancel()


async def test_threat_46_a_relay_that_floods_leaves_the_event_loop_to_others() -> None:
    """However full its frames are."""

    connection, turns, table = RelayConnection("ws://relay"), Turns(), bytes(32)
    frames = [frame(wire.Entries(table, 10_000 * number, (b"",) * 10_000)) for number in range(20)]
    counting = asyncio.create_task(turns.run())
    await connection._listen(Flood(frames))
    assert turns.count > 200_000 / 100
    counting.cancel()


async def test_threat_46_a_node_is_given_few_messages_at_once_and_called_for_the_rest() -> None:
    log, calls = MemoryTransport(), 0
    for number in range(1_000):
        await log.post(b"%d" % number)
    line = ChannelMessenger(log)
    running = asyncio.create_task(line.run())
    await until(lambda: len(line._received) == 1_000)

    def wake() -> None:
        nonlocal calls
        calls += 1

    line.listen(wake)
    for number in range(15):
        assert list(line.receive()) == [b"%d" % each for each in range(64 * number, 64 * number + 64)]
        assert calls == number + 1
    assert len(line.receive()) == 1_000 - 15 * 64
    assert calls == 15
    running.cancel()


@pytest.mark.parametrize(("size", "most"), [(8, 4_096), (limits.MAX_ENTRY, 64)])
async def test_threat_57_what_waits_for_a_relay_is_bounded_and_the_newest_is_kept(size: int, most: int) -> None:
    log = MemoryTransport()
    line = ChannelMessenger(log)
    messages = [number.to_bytes(8).rjust(size) for number in range(most + 100)]
    for each in messages:
        line.send(each)
        line.send(messages[-1])  # such as a greeting, which waits already
    running = asyncio.create_task(line.run())
    await until(lambda: line.is_idle)
    posted = [await log.message(number) for number in range(log.length())]
    assert sorted(posted) == messages[-most:]
    running.cancel()


class Full(MemoryTransport):
    """Takes one message, and no other."""

    async def post(self, message: bytes) -> None:
        if message != b"taken":
            raise RelayRefused(bytes(32), Reason.BUSY, "the disk is full")
        await super().post(message)


async def test_threat_57_a_message_that_is_never_taken_holds_up_no_other() -> None:
    log = Full()
    line = ChannelMessenger(log)
    for each in (b"refused", b"again", b"x" * (limits.MAX_ENTRY + 1), b"taken"):
        line.send(each)
    running = asyncio.create_task(line.run())
    await until(lambda: log.length() == 1)
    assert not line.is_idle
    assert not running.done()
    running.cancel()


async def test_threat_57_a_listener_that_fails_ends_no_line() -> None:
    def fail(_: ForcemoveError) -> None:
        raise ZeroDivisionError

    async with StrangeRelay("refusing") as relay:
        line = messenger_to(relay.url, new_table(TableKind.CHANNEL), ALICE, on_error=fail)
        running = asyncio.create_task(line.run())
        await until(lambda: isinstance(line.error, RelayRefused))
        assert not running.done()
        running.cancel()


@pytest.mark.parametrize(
    ("ask", "asked"),
    [
        (lambda place: place.lobby.list(), "open offers"),
        (lambda place: place.lobby.look(b"\xab" * 32), "abab"),
        (lambda place: place.join(new_table(), ALICE), "open table"),
    ],
)
async def test_threat_57_what_a_relay_never_answers_is_named(
    ask: Callable[[RelayConnection], Awaitable[object]], asked: str
) -> None:
    async with StrangeRelay("mute") as relay, RelayConnection(relay.url) as connection:
        with pytest.raises(RelayUnreachable) as silent:
            async with asyncio.timeout(5):
                await ask(connection)
        assert asked in silent.value.reason


async def test_a_proof_is_of_the_time_at_which_a_table_is_joined() -> None:
    """A host may have waited for its guest for hours, on one connection."""

    now = 1_000.0
    async with StrangeRelay() as relay, RelayConnection(relay.url, clock=lambda: now) as connection:
        now = 9_000.0
        await connection.join(new_table(), ALICE)
        assert relay.proofs[0].expiry > now
