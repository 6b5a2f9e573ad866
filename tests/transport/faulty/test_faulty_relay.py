"""A relay that answers, and is of no use: requests end in time and say what is missing, a player without money there
leaves it, and none of it costs much."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from itertools import repeat

import pytest

from forcemove import MalformedBytes, TableKind
from forcemove.backoff import Backoff
from forcemove.transport import connect, errors, reconnecting, wire
from forcemove.transport.faults import Faults
from forcemove.transport.websocket.connection import RelayConnection
from forcemove.transport.websocket.transport import WebSocketTransport
from tests.relay.strange import GOOD, Flood, StrangeRelay, frame, until
from tests.transport.offered import CHAIN, PAYOUT, all_seated, new_offer
from tests.transport.people import ALICE, BOB, new_table

QUICK = 0.3
REQUESTS: dict[str, Callable[[connect.Connection], Awaitable[object]]] = {
    "make": lambda place: place.lobby.make(new_offer(), ALICE),
    "list": lambda place: place.lobby.list(),
    "look": lambda place: place.lobby.look(bytes(32)),
    "join": lambda place: place.lobby.join(bytes(32), BOB, PAYOUT, chain_id=CHAIN),
    "joined": lambda place: all_seated(place.lobby, bytes(32)),
    "withdraw": lambda place: place.lobby.withdraw(bytes(32), ALICE),
}


@pytest.fixture(autouse=True)
def _in_a_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Backoff, "next_pause", lambda _: 0.02)
    monkeypatch.setattr(reconnecting, "REQUEST_SECONDS", 1.0)
    monkeypatch.setattr(reconnecting, "ANSWER_SECONDS", 0.4)


@pytest.mark.parametrize("request_", REQUESTS)
@pytest.mark.parametrize("mode", ["mute", "closing", "malformed"])
async def test_threat_57_a_request_of_the_lobby_ends_in_time_and_says_what_is_missing(mode: str, request_: str) -> None:
    async with StrangeRelay() as relay, connect.connect_relay(relay.url) as place:
        await relay.turn(mode)
        with pytest.raises(errors.RelayUnreachable) as missing:
            async with asyncio.timeout(10):
                await REQUESTS[request_](place)
        assert missing.value.url == relay.url
        asked = {"make": "to show an offer", "list": "for the open offers", "withdraw": "to withdraw offer 0x00"}
        assert f"it was asked {asked.get(request_, 'for offer 0x00')}" in missing.value.reason
        if mode == "malformed":
            assert "none of a relay's messages" in missing.value.reason


@pytest.mark.parametrize("mode", ["closing", "malformed", "text", "newer"])
async def test_threat_57_a_relay_that_does_nothing_but_faults_is_left(mode: str) -> None:
    async with StrangeRelay() as relay, connect.connect_relay(relay.url, fault_seconds=QUICK) as place:
        await relay.turn(mode)
        began = relay.count
        with pytest.raises(errors.RelayFaulty) as left:
            await _listing_again_and_again(place)
        assert left.value.url == relay.url
        assert left.value.seconds >= QUICK
        tried = relay.count - began
        assert 2 <= tried < 100  # on a busy machine not many more
        await asyncio.sleep(0.3)
        assert relay.count - began == tried


async def _listing_again_and_again(place: connect.Connection) -> None:
    while True:
        with suppress(errors.RelayUnreachable):  # a request may end before, with words of its own
            await place.lobby.list()
        await place.lobby.changed([])  # there is no connection: it waits for nothing


@pytest.mark.parametrize("mode", ["closing", "malformed", "newer"])
async def test_threat_57_where_there_may_be_money_no_relay_is_left(mode: str) -> None:
    async with StrangeRelay() as relay, connect.connect_relay(relay.url) as place:
        line = connect.messenger_on(place, new_table(TableKind.CHANNEL, ALICE.address), ALICE)
        running = asyncio.create_task(line.run())
        await until(lambda: relay.proofs != [])
        await relay.turn(mode)
        before = relay.count
        await until(lambda: relay.count > before + 8)
        line.send(b"what defends")
        await relay.turn(GOOD)
        await until(lambda: relay.log == [b"what defends"])
        assert not running.done()
        running.cancel()


async def test_threat_57_a_relay_that_is_away_is_not_left() -> None:
    async with StrangeRelay() as relay, connect.connect_relay(relay.url, fault_seconds=0.0) as place:
        await relay.turn("no relay")
        await until(lambda: relay.count > 10)
        await relay.turn(GOOD)
        await until(lambda: place.is_connected)


@pytest.mark.parametrize(
    ("patience", "count", "seconds", "is_left"),
    [(60, 5, 60, True), (60, 100, 59, False), (60, 4, 1_000, False), (None, 100, 10_000, False), (0, 5, 0, True)],
)
def test_threat_57_faults_are_hopeless_when_they_are_many_and_last(
    patience: float | None, count: int, seconds: float, is_left: bool
) -> None:
    now = [0.0]
    faults = Faults(patience, lambda: now[0])
    for _ in range(10):
        faults.add()
    faults.clear()
    for _ in range(count):
        faults.add()
    now[0] += seconds
    assert faults.are_hopeless is is_left
    assert faults.seconds == seconds


TABLE = new_table(TableKind.CHANNEL)
USELESS = [
    wire.RequestRefused(bytes(32), b"", "expired", "x" * 200),
    wire.RequestRefused(TABLE.id, b"", "table-full", ""),
    wire.OffersListed(b"", (), True),
    wire.Posted(TABLE.id, bytes(16), 7),
    wire.Proved(TABLE.id),
    wire.Opened(TABLE.id, TableKind.CHANNEL, 1, 1, bytes(32)),
    wire.Entries(TABLE.id, 0, (b"again",)),
    wire.Entries(b"\x01" * 32, 0, (b"of nobody's",)),
]


@pytest.mark.parametrize("message", USELESS)
async def test_threat_57_who_says_what_nobody_has_asked_for_is_cut_off(message: wire.RequestRefused) -> None:
    connection = RelayConnection("ws://relay")
    line = connection._tables[TABLE.id] = WebSocketTransport(TABLE.id, TABLE, ALICE, connection._send)
    line.on_message(wire.Opened(TABLE.id, TableKind.CHANNEL, 0, 0, bytes(32)))
    line.on_message(wire.Entries(TABLE.id, 0, (b"again",)))
    frames = Flood(repeat(frame(*[message] * 100)))
    with pytest.raises(MalformedBytes):
        async with asyncio.timeout(20):
            await connection._listen(frames)


async def test_threat_57_what_is_of_use_is_heard_however_much_it_is() -> None:
    connection = RelayConnection("ws://relay")
    line = connection._tables[TABLE.id] = WebSocketTransport(TABLE.id, TABLE, ALICE, connection._send)
    line.on_message(wire.Opened(TABLE.id, TableKind.CHANNEL, 0, 0, bytes(32)))
    useless = [wire.Proved(TABLE.id)] * 9
    frames = Flood(frame(wire.Entries(TABLE.id, number, (b"new",)), *useless) for number in range(5_000))
    await connection._listen(frames)
    assert line.length() == 5_000
