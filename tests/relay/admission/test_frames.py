"""A player's next post is taken past aiohttp, and overtakes nothing, whatever pieces a client's bytes come in."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forcemove.relay.admission.accounts import Account, Accounts
from forcemove.relay.admission.frames import MOST_CARRIED, Border, carried
from forcemove.relay.admission.listening import Intake
from forcemove.relay.admission.meter import Meter
from forcemove.relay.admission.turns import Gate, Turns
from forcemove.relay.clients.seats import Seats
from forcemove.relay.clients.services import Services
from forcemove.relay.limits import PENDING, Limits
from forcemove.relay.metrics import Metrics
from forcemove.relay.offers.lobby import Lobby
from forcemove.transport.errors import Reason
from forcemove.transport.terms import proof_digest
from forcemove.transport.wire import Posted, Prove, Proved, RequestRefused, SendBuffer, encode
from tests.relay.inside import Clock, Ear, Inside
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


def test_threat_59_who_sends_many_small_frames_at_once_costs_no_time_to_follow() -> None:
    border = Border()
    border.skip(frame(b"") * 200)
    assert not border.is_here
    border.skip(frame(b""))
    assert not border.is_here


class _Aiohttp(asyncio.Protocol):
    """What is given to it."""

    def __init__(self) -> None:
        self.heard: list[bytes] = []

    def data_received(self, data: bytes) -> None:
        self.heard.append(data)


class _Arriving:
    """An intake, and what comes out of it on both ways."""

    def __init__(self) -> None:
        accounts = Accounts(Limits(), time.monotonic)
        self.inner, self.taken, self.is_willing = _Aiohttp(), list[bytes](), True
        self.intake = Intake(self.inner, accounts.of("192.0.2.1"), accounts)

    def begin(self, *request: bytes) -> None:
        for part in request:
            self.hear(part)
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


def test_a_whole_frame_is_taken_and_everything_else_is_not() -> None:
    coming = _Arriving()
    coming.begin(REQUEST)
    coming.hear(frame(b"one"))
    assert (coming.taken, coming.inner.heard) == ([b"one"], [])
    coming.is_willing = False
    coming.hear(frame(b"two"))
    assert (coming.taken, coming.inner.heard) == ([b"one", b"two"], [frame(b"two")])
    assert coming.intake.unread == len(REQUEST) + len(frame(b"two"))


def test_nothing_is_overtaken_that_was_not_handled_yet() -> None:
    coming = _Arriving()
    coming.begin(REQUEST)
    coming.hear(frame(b"one") + frame(b"two"))
    coming.hear(frame(b"three"))
    assert coming.taken == []
    coming.intake.is_quiet = True  # all was handled
    coming.hear(frame(b"four"))
    assert coming.taken == [b"four"]


def test_within_a_frame_nothing_is_taken_for_one() -> None:
    """A frame may carry the bytes of another one."""
    coming = _Arriving()
    coming.begin(REQUEST)
    inner = frame(b"not said")
    outer = frame(inner, bytes(4))
    coming.hear(outer[: -len(inner)])
    coming.intake.is_quiet = True
    coming.hear(inner)
    assert (coming.taken, b"".join(coming.inner.heard)) == ([], outer)


@pytest.mark.parametrize("request_", [(REQUEST[:9], REQUEST[9:]), (REQUEST + frame(b"early"),)])
def test_where_it_is_not_known_where_frames_begin_none_is_taken(request_: tuple[bytes, ...]) -> None:
    coming = _Arriving()
    coming.begin(*request_)
    coming.hear(frame(b"one"))
    assert (coming.taken, coming.inner.heard) == ([], [frame(b"one")])


def test_threat_59_what_may_not_pass_at_once_is_charged_once() -> None:
    async def story() -> None:
        limits = Limits(messages_per_second=1, bytes_per_second=10**6)
        account, turns = Account("192.0.2.1", limits, time.monotonic()), Turns()
        meter, now = Meter(account, turns, limits), time.monotonic()
        assert meter.pass_at_once(100, now)
        assert meter.pass_at_once(100, now)
        for _ in range(50):
            assert not meter.pass_at_once(100, now)
        assert account.bytes.wait(4 * 10**6 - 200, now) == 0
        assert meter.pass_at_once(100, now + 1.1)

    run(story())


def test_posts_are_in_the_order_in_which_they_were_said_whatever_pieces_they_come_in(relay: RelayProcess) -> None:
    async def story() -> None:
        table, chance, count = new_table(), random.Random(7), 300
        async with raw(relay.url) as alice:
            await alice.say(alice.proof(table, ALICE))
            await alice.hear(Proved)
            writer, stream, cuts = alice.transport(), b"", []
            for number in range(count):
                outbox = SendBuffer()
                outbox.add(encode(post(table, number, number.to_bytes(2))))
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
                said = await alice.hear(Posted)
                places[int.from_bytes(said.id)] = said.index
            assert places == {number: number for number in range(count)}

    run(story())


def test_threat_59_a_flood_of_single_posts_is_read_no_faster_than_allowed(tmp_path: Path) -> None:
    async def story() -> None:
        table = new_table()
        with running_relay(tmp_path, "--messages-per-second", "20", "--store", ":memory:") as slow:
            async with raw(slow.url) as mallory:
                await mallory.say(mallory.proof(table, ALICE))
                await mallory.hear(Proved)
                began = time.monotonic()
                for number in range(60):
                    await mallory.say(post(table, number, b"flood"))
                    await mallory.hear(Posted)
                assert time.monotonic() - began > 1.5  # 24 at once, after the proof

    run(story())


class _Client(Ear):
    """Whose posts are taken at once."""

    def refuse(self, about: bytes, reason: Reason, detail: str, id_: bytes = b"") -> None:
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


def test_threat_59_what_waits_for_the_disk_is_bounded_for_single_posts(tmp_path: Path) -> None:
    async def story() -> None:
        limits = Limits(messages_per_second=10**6, bytes_per_second=10**9, game_bytes=10**9, game_entries=10**6)
        inside = await Inside.start(tmp_path / "relay.sqlite", Clock(), limits)
        services, table, nonce = _services(inside, limits), new_table(), bytes(32)
        account = services.accounts.of("192.0.2.1")
        seats = Seats(_Client(), services, account, Meter(account, services.turns, limits))
        expiry = int(time.time()) + 60
        signature = ALICE.sign(proof_digest("ws://relay", table.id, ALICE.address, expiry, nonce))
        await seats.prove(Prove(table, ALICE.address, "ws://relay", expiry, signature.compact), nonce)
        taken = 0
        for number in range(1_000):  # no turn of the loop in between: nothing is committed meanwhile
            taken += seats.take(post(table, number, bytes(50_000)), 50_000, time.monotonic())
        assert 0 < taken * 50_000 < PENDING
        await inside.stop()

    run(story())


def test_a_single_post_is_refused_where_nobody_has_proved_to_take_part(relay: RelayProcess) -> None:
    async def story() -> None:
        table = new_table()
        async with raw(relay.url) as alice, raw(relay.url) as mallory:
            await alice.say(alice.proof(table, ALICE))
            await alice.hear(Proved)
            await mallory.opened(table.id)
            for number in range(3):
                await mallory.say(post(table, number, b"not mine"))
                assert (await mallory.hear(RequestRefused)).reason == Reason.NOT_PROVED.value

    run(story())
