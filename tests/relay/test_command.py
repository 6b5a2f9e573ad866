"""`forcemove relay` as an operator meets it: ready, healthy, stopped, and what keeps it from starting."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import sqlite3
import ssl
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import aiohttp
import pytest

from forcemove.store.opening import open_journal
from forcemove.transport.errors import RelayUnreachable
from forcemove.transport.websocket.connection import RelayConnection
from tests.certificate import make_certificate
from tests.cli.command import Command
from tests.relay.process import RelayProcess, running_relay
from tests.relay.raw import raw
from tests.serving.rubbish import lines_after
from tests.transport.people import ALICE, new_table, read


@pytest.fixture
def relay(tmp_path: Path) -> Iterator[RelayProcess]:
    with running_relay(tmp_path) as relay:
        yield relay


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(capsys)


async def get(url: str, path: str) -> tuple[int, str]:
    async with aiohttp.ClientSession() as session, session.get(url.replace("ws", "http", 1) + path) as answer:
        return answer.status, await answer.text()


def test_a_malformed_request_is_one_line_of_its_log(relay: RelayProcess) -> None:
    said = lines_after(relay.port, relay.log)

    assert [each["event"] for each in said] == ["Error handling request from 127.0.0.1: BadStatusLine"]


async def test_it_tells_how_it_is(relay: RelayProcess) -> None:
    async with RelayConnection(relay.url) as connection:
        alice = await connection.join(new_table(), ALICE)
        for _ in range(3):
            await alice.post(b"12345")
        status, text = await get(relay.url, "/health")
        facts = {"connections": 1, "tables": 1, "offers": 0, "pages": False, "urls": [relay.url]}
        assert (status, json.loads(text)) == (200, {"status": "ok", **facts})
        status, text = await get(relay.url, "/metrics")
        found = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
        assert status == 200
        assert float(found["forcemove_relay_entries_total"]) == 3
        assert float(found["forcemove_relay_entry_bytes_total"]) == 15
        assert float(found["forcemove_relay_connections"]) == 1
        assert float(found["forcemove_relay_tables_in_use"]) == 1
        status, text = await get(relay.url, "/")
        assert status == 426
        assert "WebSocket" in text


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_stop_keeps_what_was_posted_and_tells_clients(relay: RelayProcess, number: signal.Signals) -> None:
    table = new_table()
    async with RelayConnection(relay.url) as connection, raw(relay.url) as other:
        alice = await connection.join(table, ALICE)
        posting = [asyncio.create_task(alice.post(b"%d" % each)) for each in range(50)]
        await posting[0]
        relay.process.send_signal(number)
        assert await other.closed() == aiohttp.WSCloseCode.GOING_AWAY
        assert await asyncio.to_thread(relay.process.wait, 20) == 0
        done = sum(each.done() for each in posting)
        await asyncio.to_thread(relay.start)
        await asyncio.gather(*posting)
        assert await read(alice.reader(), 50) == [b"%d" % each for each in range(50)]
        assert alice.length() == 50
        assert done > 0


async def test_each_line_of_the_log_is_an_object(relay: RelayProcess) -> None:
    async with raw(relay.url) as mallory:
        await mallory.socket.send_bytes(b"rubbish")
        await mallory.closed()
    relay.stop()
    lines = [json.loads(line) for line in relay.log().splitlines()]
    assert [line["event"] for line in lines] == ["listening", "closed a connection", "stopping"]
    assert all({"time", "level"} <= line.keys() for line in lines)
    assert lines[0]["urls"] == [relay.url]


def test_people_get_words(tmp_path: Path) -> None:
    arguments = ["relay", "--listen", "127.0.0.1:0", "--store", str(tmp_path / "relay.sqlite")]
    with subprocess.Popen(  # noqa: S603  # our own command
        [sys.executable, "-m", "forcemove", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={"PYTHONPATH": ":".join(sys.path)},
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("The relay listens at ws://127.0.0.1:")
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=20)
    assert process.returncode == 0
    assert [line.split(" ", 2)[2].split(",")[0] for line in said.splitlines()] == ["listening", "stopping"]


async def test_a_disk_that_takes_nothing_is_told_and_acknowledges_nothing(relay: RelayProcess) -> None:
    table = new_table()
    async with RelayConnection(relay.url) as connection:
        alice = await connection.join(table, ALICE)
        await alice.post(b"kept")
        moved = relay.store.with_name("moved.sqlite")
        relay.store.rename(moved)
        posting = asyncio.create_task(alice.post(b"late"))
        while (await get(relay.url, "/health"))[0] == 200:
            await asyncio.sleep(0)
        assert not posting.done()
        assert "failing" in (await get(relay.url, "/health"))[1]
        moved.rename(relay.store)
        await posting
        assert await read(alice.reader(), 2) == [b"kept", b"late"]
        assert (await get(relay.url, "/health"))[0] == 200


def test_a_port_that_is_taken(command: Command, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        listen = f"127.0.0.1:{taken.getsockname()[1]}"
        said = command("relay", "--listen", listen, "--store", str(tmp_path / "relay.sqlite"))
    assert said.code == 1
    assert "Nothing can listen at 127.0.0.1" in said.err
    assert "--listen" in said.err


def test_a_store_that_is_in_use(relay: RelayProcess) -> None:
    arguments = ["relay", "--listen", "127.0.0.1:0", "--store", str(relay.store)]
    with subprocess.Popen(  # noqa: S603  # our own command
        [sys.executable, "-m", "forcemove", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={"PYTHONPATH": ":".join(sys.path)},
    ) as second:
        try:
            assert second.stdout is not None
            assert second.stdout.readline() == ""
            _, said = second.communicate(timeout=20)
        finally:
            second.kill()
    assert second.returncode == 1
    assert f"Another relay is running on the store {relay.store}." in said


def test_a_store_is_free_again_when_its_relay_was_killed(relay: RelayProcess) -> None:
    relay.kill()
    relay.start()


def test_files_that_are_something_else_are_left_as_they_are(command: Command, tmp_path: Path) -> None:
    text, foreign, journal = tmp_path / "text", tmp_path / "foreign", tmp_path / "journal"
    text.write_text("a shopping list")
    with sqlite3.connect(foreign) as connection:
        connection.execute("CREATE TABLE things (thing)")
    connection.close()
    open_journal(str(journal), owner=bytes(16)).close()
    for path in (text, foreign, journal):
        before = path.read_bytes()
        said = command("relay", "--listen", "127.0.0.1:0", "--store", str(path))
        assert said.code == 1
        assert f"{path} is not a relay's store" in said.err
        assert path.read_bytes() == before


def test_a_store_that_cannot_be(command: Command, tmp_path: Path) -> None:
    said = command("relay", "--listen", "127.0.0.1:0", "--store", str(tmp_path / "missing" / "relay.sqlite"))
    assert said.code == 1
    assert "cannot be used" in said.err


def test_a_damaged_store(command: Command, relay: RelayProcess) -> None:
    relay.stop()
    data = bytearray(relay.store.read_bytes())
    data[200:4_000] = bytes(3_800)
    relay.store.write_bytes(data)
    said = command("relay", "--listen", "127.0.0.1:0", "--store", str(relay.store))
    assert said.code == 1
    assert "cannot be used" in said.err


def test_a_place_that_another_program_has_is_said_in_words(relay: RelayProcess, command: Command) -> None:
    said = command("relay", "--listen", f"127.0.0.1:{relay.port}", "--store", ":memory:", code=1)
    assert said.err.startswith(
        f"Error: Nothing can listen at 127.0.0.1, port {relay.port}: Address already in use.\nAnother program may"
    )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--listen", "4600"], "not a host and port"),
        (["--listen", "127.0.0.1:65536"], "not a host and port"),
        (["--listen", "0.0.0.0:0"], "the addresses by which clients know it are given, too (--url)"),
        (["--url", "http://relay.example"], "ws://host:port"),
        (["--connections", "0"], "--connections"),
        (["--bytes-per-second", "10"], "one frame"),
        (["--days", "0"], "--days"),
    ],
)
def test_options_that_make_no_sense(command: Command, tmp_path: Path, options: list[str], words: str) -> None:
    said = command("relay", "--store", str(tmp_path / "relay.sqlite"), *options)
    assert said.code in (1, 2)
    assert words in said.err
    assert not (tmp_path / "relay.sqlite").exists()


# ------------------------------------------------------------------------------------------------------------ wss://


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[Path, Path]:
    return make_certificate(tmp_path)


async def test_wss_with_a_certificate_that_is_trusted_and_with_one_that_is_not(
    tmp_path: Path, certificate: tuple[Path, Path]
) -> None:
    public, private = map(str, certificate)
    with running_relay(tmp_path, "--tls-cert", public, "--tls-key", private) as relay:
        assert relay.url.startswith("wss://")
        trusting = ssl.create_default_context(cafile=public)
        async with RelayConnection(relay.url, ssl=trusting) as connection:
            alice = await connection.join(new_table(), ALICE)
            await alice.post(b"in private")
            assert await alice.reader().read() == b"in private"
        with pytest.raises(RelayUnreachable):
            async with RelayConnection(relay.url, patience=1.0):
                raise AssertionError("nobody has vouched for it")


def test_a_certificate_that_is_none(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "nonsense.pem"
    file.write_text("nonsense")
    store = str(tmp_path / "relay.sqlite")
    both = command("relay", "--store", store, "--tls-cert", str(file), "--tls-key", str(file))
    assert (both.code, "not a certificate and key" in both.err) == (1, True)
    one = command("relay", "--store", store, "--tls-cert", str(file))
    assert (one.code, "go together" in one.err) == (2, True)
