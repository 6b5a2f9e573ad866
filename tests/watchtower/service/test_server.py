"""A real `forcemove watch`, on a real anvil: it answers for who is away, killed in between or not, and bears clients of
every kind."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import subprocess
import time
import zlib
from collections.abc import Callable, Coroutine, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from msgspec import structs

from forcemove import TowerClient, UnknownVersion
from forcemove.chain.local import AnvilChain
from forcemove.protocol.rule_errors import WrongSigner
from forcemove.watchtower.appointment import (
    MAX_APPOINTMENT,
    RECEIPTS,
    AppointmentReceipt,
    decode,
    give_receipt,
    sign_appointment,
)
from forcemove.watchtower.client_errors import TowerBusy, TowerRefused, TowerUnreachable
from forcemove.watchtower.errors import OtherReceipt
from tests.scenarios.story import ALICE, BOB, MALLORY, Playground, Story
from tests.serving.rubbish import lines_after
from tests.watchtower.keeper import ETHER, OTHER_TOWER, TOWER, newest, stale
from tests.watchtower.service.process import TowerProcess, running_tower

_PATIENCE = 30.0

_LONG_LEASE = "15"
"""Seconds for which a tower that a slow machine holds up still has its lease."""


@pytest.fixture(scope="module")
def playground(anvil: AnvilChain) -> Playground:
    return Playground.on(anvil)


@pytest.fixture
def tower(playground: Playground, tmp_path: Path) -> Iterator[TowerProcess]:
    with running_tower(tmp_path, playground) as tower:
        yield tower


def until(condition: Callable[[], bool], seconds: float = _PATIENCE) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it has not happened"
        time.sleep(0.02)


def run(story: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(asyncio.wait_for(story, 2 * _PATIENCE))


def give(tower: TowerProcess, story: Story) -> AppointmentReceipt:
    """Again and again, while it stands by, or we have sent too much."""

    async def giving() -> AppointmentReceipt:
        while True:
            try:
                return await tower.client().send_appointment(newest(story), ALICE)
            except TowerBusy as error:
                if error.reason not in ("StandingBy", "NotWatched", "TooFast"):
                    raise
                await asyncio.sleep(0.1)

    return run(giving())  # type: ignore[no-any-return]


async def ask(tower: TowerProcess, method: str, path: str, **options: Any) -> tuple[int, bytes, Any]:
    async with aiohttp.ClientSession() as session, session.request(method, tower.url + path, **options) as answer:
        return answer.status, await answer.read(), answer.headers


def post(tower: TowerProcess, body: bytes) -> tuple[int, Any]:
    status, said, _ = run(ask(tower, "POST", "/appointments", data=body))
    return status, json.loads(said)


# ----------------------------------------------------------------------------------------------------------- it works


def test_threat_22_it_answers_for_who_is_away(tower: TowerProcess, story: Story) -> None:
    receipt = give(tower, story)
    assert receipt.turn_num == 6
    before = story.chain.balance(TOWER.address)
    story.challenge(1, *stale(story))
    until(lambda: story.record == (6, False))
    spent = before - story.chain.balance(TOWER.address)
    until(lambda: tower.metrics().get('forcemove_tower_answers_total{kind="checkpoint",result="mined"}') == 1)
    found = tower.metrics()
    assert found["forcemove_tower_appointments_total"] == 1
    assert found["forcemove_tower_spent_wei_total"] == spent > 0
    until(lambda: budget_left(tower.metrics()) == float(ETHER - spent))  # what is reserved is given back a poll later


def budget_left(metrics: dict[str, float]) -> float:
    (left,) = (value for name, value in metrics.items() if name.startswith("forcemove_tower_budget_left_wei"))
    return left


@pytest.mark.parametrize("is_challenged_first", [False, True])
def test_threat_22_killed_in_between_it_answers_after_its_restart(
    tower: TowerProcess, story: Story, is_challenged_first: bool
) -> None:
    first = give(tower, story)
    if is_challenged_first:
        tower.process.send_signal(signal.SIGSTOP)  # it sees nothing of the challenge any more
        story.challenge(1, *stale(story))
    tower.kill()
    if not is_challenged_first:
        story.challenge(1, *stale(story))
    assert story.record == (3, True)
    tower.start()
    until(lambda: story.record == (6, False))
    assert give(tower, story) == first


def test_it_tells_how_it_is(tower: TowerProcess, story: Story) -> None:
    give(tower, story)
    until(lambda: tower.metrics()["forcemove_tower_channels"] == 1)
    status, said, _ = run(ask(tower, "GET", "/health"))
    found = json.loads(said)
    assert (status, found["status"], found["driving"], found["channels"]) == (200, "ok", True, 1)
    assert found["seconds_since_look"] < _PATIENCE
    status, said, _ = run(ask(tower, "GET", "/"))
    assert (status, b"watchtower" in said) == (200, True)


def test_a_page_of_any_host_may_give_appointments_and_reads_nothing_else(tower: TowerProcess) -> None:
    def allowed(method: str, path: str) -> tuple[int, str | None]:
        status, _, headers = run(ask(tower, method, path, headers={"Origin": "https://relay.example"}))
        return status, headers.get("Access-Control-Allow-Origin")

    assert allowed("OPTIONS", "/appointments") == (204, "*")
    assert allowed("POST", "/appointments") == (400, "*")
    for path in ("/", "/health", "/metrics"):
        assert allowed("GET", path)[1] is None
        assert allowed("OPTIONS", path)[0] == 405


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stop_ends_it_with_0_and_gives_the_lease_back(
    tower: TowerProcess, story: Story, number: signal.Signals
) -> None:
    give(tower, story)
    assert tower.stop(number) == 0
    tower.start()
    status, said, _ = run(ask(tower, "GET", "/health"))
    found = json.loads(said)
    assert (status, found["driving"], found["channels"]) == (200, True, 1)
    lines = [json.loads(line) for line in tower.log().splitlines()]
    assert [line["event"] for line in lines] == ["listening", "stopping", "listening"]


def test_a_second_process_stands_by_and_takes_over(playground: Playground, story: Story, tmp_path: Path) -> None:
    start_tower = partial(running_tower, tmp_path, playground, "--lease", _LONG_LEASE)
    with start_tower() as tower, start_tower() as second:
        give(tower, story)
        assert json.loads(run(ask(second, "GET", "/health"))[1])["status"] == "standing by"
        with pytest.raises(TowerBusy) as refused:
            run(second.client().send_appointment(newest(story), ALICE))
        assert refused.value.reason == "StandingBy"
        tower.kill()
        story.challenge(1, *stale(story))
        until(lambda: story.record == (6, False), 2 * _PATIENCE)


@pytest.mark.parametrize("is_long", [False, pytest.param(True, marks=pytest.mark.long)])
def test_an_endpoint_that_falls_silent_is_told_and_costs_nothing(
    tower: TowerProcess, anvil: AnvilChain, story: Story, is_long: bool
) -> None:
    """The node answers nothing for a while; then all is well again, and nothing was lost."""
    give(tower, story)
    process = process_of(anvil)
    process.send_signal(signal.SIGSTOP)
    try:
        until(lambda: tower.metrics().get('forcemove_tower_troubles_total{error="Unreachable"}', 0) > 0, 60)
        if is_long:
            until(lambda: run(ask(tower, "GET", "/health"))[0] == 503, 60)
    finally:
        process.send_signal(signal.SIGCONT)
    until(lambda: run(ask(tower, "GET", "/health"))[0] == 200)
    story.challenge(1, *stale(story))
    until(lambda: story.record == (6, False))


def process_of(anvil: AnvilChain) -> subprocess.Popen[bytes]:
    """As the chain itself ends it."""
    end = anvil._end.peek()
    assert end is not None
    process: subprocess.Popen[bytes] = end[2][0]
    return process


# ------------------------------------------------------------------------------------------------- clients of all kinds


def rubbish_in_an_envelope() -> bytes:
    from forcemove.protocol.codec.msgpack_codec import Codec
    from forcemove.watchtower.appointment import SignedAppointment, appointment_digest

    codec: Codec[SignedAppointment] = Codec("signed appointment", SignedAppointment)
    content = b"\xc0" * 100
    return codec.encode(SignedAppointment(content, ALICE.sign(appointment_digest(TOWER.address, content))))


@pytest.mark.parametrize(
    ("make", "status", "error"),
    [
        (lambda _: b"", 400, "MalformedBytes"),
        (lambda _: b"rubbish", 400, "MalformedBytes"),
        (lambda _: b"\x91" * MAX_APPOINTMENT, 400, "MalformedBytes"),
        (lambda _: bytes(MAX_APPOINTMENT + 1), 413, "TooLong"),
        (lambda _: rubbish_in_an_envelope(), 400, "MalformedBytes"),
        (lambda story: sign_appointment(newest(story), TOWER.address, ALICE)[:-1], 400, "MalformedBytes"),
        (lambda story: sign_appointment(newest(story), TOWER.address, MALLORY), 403, "NotServed"),
        (lambda story: sign_appointment(newest(story), TOWER.address, BOB), 403, "NotServed"),
        (lambda story: sign_appointment(newest(story), OTHER_TOWER.address, ALICE), 403, "NotServed"),
    ],
)
def test_what_is_refused_is_an_error_with_a_name_and_changes_nothing(
    tower: TowerProcess, story: Story, make: Callable[[Story], bytes], status: int, error: str
) -> None:
    found, said = post(tower, make(story))
    assert (found, said["error"]) == (status, error)
    assert said["detail"]
    assert tower.metrics()[f'forcemove_tower_refused_total{{reason="{error}"}}'] == 1
    assert tower.metrics()["forcemove_tower_channels"] == 0
    assert give(tower, story).turn_num == 6


def test_a_client_gets_typed_errors(tower: TowerProcess, story: Story) -> None:
    with pytest.raises(TowerRefused) as refused:
        run(tower.client().send_appointment(newest(story), MALLORY))
    assert (refused.value.url, refused.value.reason) == (tower.url, "NotServed")
    assert "NotServed" in refused.value.detail
    tower.stop()
    with pytest.raises(TowerUnreachable):
        run(tower.client().send_appointment(newest(story), ALICE))


def test_a_malformed_request_is_one_line_of_its_log(tower: TowerProcess) -> None:
    said = lines_after(tower.port, tower.log)

    assert [each["event"] for each in said] == ["Error handling request from 127.0.0.1: BadStatusLine"]


def test_a_body_without_a_length_is_not_read(tower: TowerProcess, story: Story) -> None:
    with socket.create_connection(("127.0.0.1", tower.port), _PATIENCE) as mallory:
        mallory.sendall(b"POST /appointments HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n")
        assert mallory.recv(4_096).startswith(b"HTTP/1.1 411 ")
    assert give(tower, story).turn_num == 6


def test_a_body_that_is_packed_is_not_unpacked(tower: TowerProcess, story: Story) -> None:
    """A few bytes could become very many."""
    packed = zlib.compress(sign_appointment(newest(story), TOWER.address, ALICE))
    status, said, _ = run(ask(tower, "POST", "/appointments", data=packed, headers={"Content-Encoding": "deflate"}))
    assert (status, json.loads(said)["error"]) == (400, "MalformedBytes")


def test_who_sends_too_much_is_refused_for_a_while_and_challenges_are_answered(
    playground: Playground, story: Story, tmp_path: Path
) -> None:
    with running_tower(tmp_path, playground, "--bytes-per-second", "200000") as tower:
        give(tower, story)
        body = b"\x91" * MAX_APPOINTMENT

        async def flood() -> list[tuple[int, bytes, Any]]:
            return await asyncio.gather(*(ask(tower, "POST", "/appointments", data=body) for _ in range(12)))

        answers = run(flood())
        story.challenge(1, *stale(story))
        until(lambda: story.record == (6, False))
        refused = [(json.loads(said)["error"], headers) for status, said, headers in answers if status == 429]
        assert {error for error, _ in refused} == {"TooFast"}
        assert len(refused) >= 9
        assert all(int(headers["Retry-After"]) > 0 for _, headers in refused)


def test_one_address_has_so_many_connections(playground: Playground, tmp_path: Path) -> None:
    with running_tower(tmp_path, playground, "--per-address", "4") as tower:
        idle = [socket.create_connection(("127.0.0.1", tower.port), _PATIENCE) for _ in range(4)]
        try:
            with socket.create_connection(("127.0.0.1", tower.port), _PATIENCE) as fifth:
                assert _is_cut_off(fifth)
            for each in idle:
                each.close()
            until(lambda: _is_let_in(tower))
        finally:
            for each in idle:
                each.close()


def _is_cut_off(connection: socket.socket) -> bool:
    try:
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
        return connection.recv(1) == b""
    except OSError:
        return True


def _is_let_in(tower: TowerProcess) -> bool:
    with socket.create_connection(("127.0.0.1", tower.port), _PATIENCE) as connection:
        return not _is_cut_off(connection)


# ------------------------------------------------------------------------------------------------ towers of other kinds


class Liar:
    """Answers every appointment with this."""

    def __init__(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self._answer = (status, body, headers or {})

    async def __aenter__(self) -> TowerClient:
        from aiohttp import web

        status, body, headers = self._answer

        async def answer(_: web.Request) -> web.Response:
            return web.Response(status=status, body=body, headers=headers)

        app = web.Application()
        app.router.add_post("/appointments", answer)
        self._runner = web.AppRunner(app)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        return TowerClient(f"http://127.0.0.1:{self._runner.addresses[0][1]}", TOWER.address)

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()


@pytest.mark.parametrize(
    ("status", "body", "headers", "kind"),
    [
        (200, b"rubbish", {}, TowerUnreachable),
        (200, b"\x92\x02\x80", {}, UnknownVersion),
        (200, b"x" * 100_000, {}, TowerUnreachable),
        (500, b"<html>", {}, TowerUnreachable),
        (404, b"[]", {}, TowerUnreachable),
        (302, b"", {"Location": "http://127.0.0.1:1/"}, TowerUnreachable),
        (503, b'{"error": "Stopping", "detail": "soon"}', {"Retry-After": "9999999"}, TowerBusy),
        (503, b'{"error": "Stopping", "detail": "soon"}', {"Retry-After": "tomorrow"}, TowerBusy),
        (403, b'{"error": "NotServed", "detail": "no\\u001b[2J"}', {}, TowerRefused),
    ],
)
def test_a_client_believes_nothing_else(
    story: Story, status: int, body: bytes, headers: dict[str, str], kind: type[Exception]
) -> None:
    async def asking() -> None:
        async with Liar(status, body, headers) as client:
            await client.send_appointment(newest(story), ALICE)

    with pytest.raises(kind) as raised:
        run(asking())
    if isinstance(raised.value, TowerBusy):
        assert 0 < raised.value.seconds <= 60
    assert "\x1b" not in str(raised.value)


def test_a_client_believes_no_receipt_of_another_tower_or_for_something_else(story: Story) -> None:
    given = newest(story)
    older = structs.replace(given, supported=story.alice.states[:2])
    signed = decode(sign_appointment(given, TOWER.address, ALICE))
    right = give_receipt(given, signed, ALICE.address, story.chain.now(), TOWER)
    forged = give_receipt(given, signed, ALICE.address, story.chain.now(), OTHER_TOWER)
    replayed = give_receipt(
        older, decode(sign_appointment(older, TOWER.address, ALICE)), ALICE.address, right.time, TOWER
    )
    late = give_receipt(given, signed, ALICE.address, right.time + 1_000, TOWER)

    async def asking(receipt: AppointmentReceipt) -> AppointmentReceipt:
        async with Liar(200, RECEIPTS.encode(receipt)) as client:
            return await client.send_appointment(given, ALICE, now=right.time)

    assert run(asking(right)) == right
    for wrong, kind in ((forged, WrongSigner), (replayed, OtherReceipt), (late, OtherReceipt)):
        with pytest.raises(kind):
            run(asking(wrong))
