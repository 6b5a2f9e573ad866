"""A player's next post is taken past aiohttp, and overtakes nothing, whatever pieces a client's bytes come in."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forcemove.relay.admission.accounts import Accounts, AddressAccount
from forcemove.relay.admission.frames import MOST_CARRIED, Border, carried
from forcemove.relay.admission.listening import PER_MESSAGE, ConnectionIntake
from forcemove.relay.admission.meter import Meter
from forcemove.relay.admission.turns import Gate, Turns
from forcemove.relay.clients.seats import Seats
from forcemove.relay.clients.services import Services
from forcemove.relay.limits import PENDING, Limits
from forcemove.relay.metrics import Metrics
from forcemove.relay.offers.lobby import Lobby
from forcemove.transport import errors, terms, wire
from tests.relay.inside import Clock, Inside, Listener
from tests.relay.process import RelayProcess, running_relay
from tests.relay.raw import post, raw
from tests.transport.people import ALICE, new_table, run

REQUEST = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
payloads = st.binary(max_size=300)
masks = st.binary(min_size=4, max_size=4)


@pytest.fixture(scope="module")
def relay(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RelayProcess]:
    with running_relay(tmp_path_factory.mktemp("relay")) as relay:
        yield relay


def frame(payload: bytes, mask: bytes = b"\x01\x02\x03\x04", first: int = 0x82) -> bytes:
    """A client's frame, as RFC 6455 has it."""
    size = len(payload)
    length = bytes([0x80 | size if size < 126 else 0xFE if size < 2**16 else 0xFF])
    length += b"" if size < 126 else size.to_bytes(2 if size < 2**16 else 8)
    masked = bytes(byte ^ mask[at % 4] for at, byte in enumerate(payload)) if any(mask) else payload
    return bytes([first]) + length + mask + masked


@given(payload=payloads, mask=masks)
def test_a_small_frame_is_unmasked(payload: bytes, mask: bytes) -> None:
    assert carried(frame(payload, mask)) == payload


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x82",
        frame(b"text", first=0x81),
        frame(b"ping", first=0x89),
        frame(b"part", first=0x02),
        frame(b"reserved", first=0xC2),
        b"\x82\x04bare",
        frame(b"whole")[:-1],
        frame(b"whole") + b"\x82",
        frame(bytes(300))[:-1],
        frame(bytes(MOST_CARRIED)),
        frame(bytes(70_000)),
    ],
)
def test_nothing_else_is_taken(data: bytes) -> None:
    assert carried(data) is None


@given(st.lists(st.integers(0, 300) | st.integers(65_530, 65_540), min_size=1, max_size=20), st.randoms())
def test_where_a_frame_begins_is_known(sizes: list[int], chance: random.Random) -> None:
    ends, stream = {0}, b""
    for size in sizes:
        stream += frame(bytes(size), bytes(4))
        ends.add(len(stream))
    border, at = Border(), 0
    while at < len(stream):
        step = chance.choice([1, 3, 5, 200, 70_000])
        border.skip(stream[at : at + step])
        at = min(at + step, len(stream))
        assert border.is_here == (at in ends)


def test_messages_are_counted_where_they_end() -> None:
    border = Border()
    assert border.skip(frame(b"") * 200) == 200
    assert border.skip(frame(b"a part", first=0x02) + frame(b"the rest", first=0x80)) == 1
    assert border.skip(frame(b"whole")[:-1]) == 1
    assert border.skip(frame(b"whole")[-1:]) == 0
    assert border.is_here


class _Aiohttp(asyncio.Protocol):
    """What is given to it."""

    def __init__(self) -> None:
        self.heard: list[bytes] = []

    def data_received(self, data: bytes) -> None:
        self.heard.append(data)


class _Line(asyncio.Transport):
    """A connection's transport, and what was asked of it."""

    def __init__(self) -> None:
        super().__init__()
        self.is_paused = self.is_cut = False

    def pause_reading(self) -> None:
        self.is_paused = True

    def resume_reading(self) -> None:
        self.is_paused = False

    def is_closing(self) -> bool:
        return self.is_cut

    def abort(self) -> None:
        self.is_cut = True


class _Arriving:
    """An intake, and what comes out of it on both ways."""

    def __init__(self, accounts: Accounts, turns: Turns) -> None:
        self.inner, self.line, self.taken, self.is_willing = _Aiohttp(), _Line(), list[bytes](), True
        self.intake = ConnectionIntake(self.inner, accounts.of("192.0.2.1"), accounts, turns)
        self.intake.connection_made(self.line)

    def begin(self, *request: bytes) -> None:
        for part in request:
            self.hear(part)
        self.intake.upgrade()
        self.intake.begin(self._take)
        self.intake.is_quiet = True
        self.inner.heard.clear()

    def hear(self, data: bytes) -> None:
        buffer = self.intake.get_buffer(-1)
        buffer[: len(data)] = data
        self.intake.buffer_updated(len(data))

    def _take(self, payload: bytes) -> bool:
        self.taken.append(payload)
        return self.is_willing


def arriving(story: Callable[[_Arriving], object], turns: int = 1_000, **limits: int) -> None:
    """Run a story with an intake in a loop. `turns`: work that is done without a wait."""

    async def within() -> None:
        story(_Arriving(Accounts(Limits(**limits), time.monotonic), Turns(turns)))

    run(within())


def test_a_whole_frame_is_taken_and_everything_else_is_not() -> None:
    def story(coming: _Arriving) -> None:
        coming.begin(REQUEST)
        coming.hear(frame(b"one"))
        assert (coming.taken, coming.inner.heard) == ([b"one"], [])
        coming.is_willing = False
        coming.hear(frame(b"two"))
        assert (coming.taken, coming.inner.heard) == ([b"one", b"two"], [frame(b"two")])
        assert coming.intake.unread == len(REQUEST) + len(frame(b"two")) + PER_MESSAGE

    arriving(story)


def test_nothing_is_overtaken_that_was_not_handled_yet() -> None:
    def story(coming: _Arriving) -> None:
        coming.begin(REQUEST)
        coming.hear(frame(b"one") + frame(b"two"))
        coming.hear(frame(b"three"))
        assert coming.taken == []
        coming.intake.is_quiet = True  # all was handled
        coming.hear(frame(b"four"))
        assert coming.taken == [b"four"]

    arriving(story)


def test_within_a_frame_nothing_is_taken_for_one() -> None:
    """A frame may carry the bytes of another one."""

    def story(coming: _Arriving) -> None:
        coming.begin(REQUEST)
        inner = frame(b"not said")
        outer = frame(inner, bytes(4))
        coming.hear(outer[: -len(inner)])
        coming.intake.is_quiet = True
        coming.hear(inner)
        assert (coming.taken, b"".join(coming.inner.heard)) == ([], outer)

    arriving(story)


@pytest.mark.parametrize("cut", range(1, len(REQUEST)))
def test_a_request_may_come_in_pieces(cut: int) -> None:
    def story(coming: _Arriving) -> None:
        coming.begin(REQUEST[:cut], REQUEST[cut:])
        coming.hear(frame(b"one"))
        assert (coming.taken, coming.inner.heard) == ([b"one"], [])

    arriving(story)


@pytest.mark.parametrize("request_", [(REQUEST + frame(b"early"),), (REQUEST, frame(b"early")), (REQUEST + REQUEST,)])
async def test_threat_59_who_sends_before_the_answer_is_cut_off(request_: tuple[bytes, ...]) -> None:
    """It would not be known where frames begin, nor how many messages wait."""

    turns = Turns()
    coming = _Arriving(Accounts(Limits(), time.monotonic), turns)
    for part in request_:
        coming.hear(part)
    assert b"early" not in b"".join(coming.inner.heard)
    await turns.turn(AddressAccount("192.0.2.2", Limits(), 0), 1)
    await asyncio.sleep(0)
    assert coming.line.is_cut


async def test_threat_59_what_comes_on_many_connections_at_once_waits_for_its_turn() -> None:
    turns, accounts = Turns(at_once=16), Accounts(Limits(), time.monotonic)
    connections = [_Arriving(accounts, turns) for _ in range(100)]
    for each in connections:
        each.hear(REQUEST)
    assert sum(bool(each.inner.heard) for each in connections) == 1
    most = 0
    while any(each.line.is_paused for each in connections):
        before = sum(bool(each.inner.heard) for each in connections)
        await asyncio.sleep(0)
        most = max(most, sum(bool(each.inner.heard) for each in connections) - before)
    assert most <= 2
    assert all(each.inner.heard == [REQUEST] for each in connections)


async def test_what_waits_for_its_turn_keeps_its_order() -> None:
    turns, accounts = Turns(at_once=16), Accounts(Limits(), time.monotonic)
    coming = _Arriving(accounts, turns)
    coming.begin(REQUEST)
    pieces = [frame(b"one"), frame(b"two"), frame(b"three")]
    for piece in pieces:
        coming.hear(piece[:3])
        coming.hear(piece[3:])
    while coming.line.is_paused:
        await asyncio.sleep(0)
    assert (coming.taken, b"".join(coming.inner.heard)) == ([], b"".join(pieces))


def test_threat_59_small_messages_that_wait_are_counted_for_the_memory_that_they_take() -> None:
    def story(coming: _Arriving) -> None:
        coming.begin(REQUEST)
        coming.hear(frame(b"") * 200)
        assert coming.inner.heard
        coming.hear(frame(b"") * 200)
        assert len(coming.inner.heard) == 1
        assert coming.line.is_paused

    arriving(story, unread_bytes=200_000)


async def test_threat_59_connections_are_cut_off_a_few_at_a_time() -> None:
    turns, accounts = Turns(at_once=16), Accounts(Limits(), time.monotonic)
    connections, most = [_Arriving(accounts, turns) for _ in range(100)], 0
    for each in connections:
        each.hear(REQUEST + b"early")
    assert not any(each.line.is_cut for each in connections)
    while not all(each.line.is_cut for each in connections):
        before = sum(each.line.is_cut for each in connections)
        await asyncio.sleep(0)
        most = max(most, sum(each.line.is_cut for each in connections) - before)
    assert most <= 4


async def test_threat_59_what_may_not_pass_at_once_is_charged_once() -> None:
    limits = Limits(messages_per_second=1, bytes_per_second=10**6)
    account, turns = AddressAccount("192.0.2.1", limits, time.monotonic()), Turns()
    meter, now = Meter(account, turns, limits), time.monotonic()
    assert meter.pass_at_once(100, now)
    assert meter.pass_at_once(100, now)
    for _ in range(50):
        assert not meter.pass_at_once(100, now)
    assert account.bytes.wait(4 * 10**6 - 200, now) == 0
    assert meter.pass_at_once(100, now + 1.1)


async def test_posts_are_in_the_order_in_which_they_were_said_whatever_pieces_they_come_in(relay: RelayProcess) -> None:
    table, chance, count = new_table(), random.Random(7), 300
    async with raw(relay.url) as alice:
        await alice.say(alice.proof(table, ALICE))
        await alice.hear(wire.Proved)
        writer, stream, cuts = alice.transport(), b"", []
        for number in range(count):
            outbox = wire.SendBuffer()
            outbox.add(wire.encode(post(table, number, number.to_bytes(2))))
            stream += frame(outbox.take())
            cuts.append(len(stream) if chance.random() < 0.7 else len(stream) - chance.randrange(40))
        at = 0
        for cut in cuts:
            writer.write(stream[at:cut])
            at = max(at, cut)
            for _ in range(chance.randrange(3)):
                await asyncio.sleep(0)
        writer.write(stream[at:])
        places: dict[int, int] = {}
        while len(places) < count:
            said = await alice.hear(wire.Posted)
            places[int.from_bytes(said.id)] = said.index
        assert places == {number: number for number in range(count)}


async def test_threat_59_a_flood_of_single_posts_is_read_no_faster_than_allowed(tmp_path: Path) -> None:
    table = new_table()
    with running_relay(tmp_path, "--messages-per-second", "20", "--store", ":memory:") as slow:
        async with raw(slow.url) as mallory:
            await mallory.say(mallory.proof(table, ALICE))
            await mallory.hear(wire.Proved)
            began = time.monotonic()
            for number in range(60):
                await mallory.say(post(table, number, b"flood"))
                await mallory.hear(wire.Posted)
            assert time.monotonic() - began > 1.5  # 24 at once, after the proof


class _Client(Listener):
    """Whose posts are taken at once."""

    def refuse(self, about: bytes, reason: errors.Reason, detail: str, id_: bytes = b"") -> None:
        raise AssertionError((about, reason, detail, id_))


def _services(inside: Inside, limits: Limits) -> Services:
    return Services(
        tables=inside.tables,
        committer=inside.committer,
        lobby=Lobby(inside.store, inside.worker, limits, frozenset(), time.time),
        metrics=Metrics(),
        accounts=Accounts(limits, time.monotonic),
        turns=Turns(at_once=10**9),
        reads=Gate(2),
        writes=Gate(1),
        limits=limits,
        urls={"ws://relay"},
        clock=time.time,
    )


async def test_threat_59_what_waits_for_the_disk_is_bounded_for_single_posts(tmp_path: Path) -> None:
    limits = Limits(messages_per_second=10**6, bytes_per_second=10**9, game_bytes=10**9, game_entries=10**6)
    inside = await Inside.start(tmp_path / "relay.sqlite", Clock(), limits)
    services, table, nonce = _services(inside, limits), new_table(), bytes(32)
    account = services.accounts.of("192.0.2.1")
    seats = Seats(_Client(), services, account, Meter(account, services.turns, limits))
    expiry = int(time.time()) + 60
    signature = ALICE.sign(terms.proof_digest("ws://relay", table.id, ALICE.address, expiry, nonce))
    await seats.prove(wire.Prove(table, ALICE.address, "ws://relay", expiry, signature.compact), nonce)
    taken = 0
    for number in range(1_000):  # no turn of the loop in between: nothing is committed meanwhile
        taken += seats.take(post(table, number, bytes(50_000)), 50_000, time.monotonic())
    assert 0 < taken * 50_000 < PENDING
    await inside.stop()


async def test_a_single_post_is_refused_where_nobody_has_proved_to_take_part(relay: RelayProcess) -> None:
    table = new_table()
    async with raw(relay.url) as alice, raw(relay.url) as mallory:
        await alice.say(alice.proof(table, ALICE))
        await alice.hear(wire.Proved)
        await mallory.opened(table.id)
        for number in range(3):
            await mallory.say(post(table, number, b"not mine"))
            assert (await mallory.hear(wire.RequestRefused)).reason == errors.Reason.NOT_PROVED.value
