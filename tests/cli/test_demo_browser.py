"""`forcemove demo --browser`: an address that works once, and an end in order."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path

import pytest

from tests.cli.command import Command
from tests.sampled import sampled

_ADDRESS = re.compile(r"http://127\.0\.0\.1:(\d+)(/enter\?token=[\w-]{43})")
_SECONDS = 60


@contextmanager
def started(folder: Path, *options: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "forcemove", "demo", "--browser", "--no-open", *options]
    environment = os.environ | {"PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(  # noqa: S603  # our own command
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def address_of(process: subprocess.Popen[str]) -> tuple[int, str]:
    """The port and the path of the address, which has a line of its own."""
    assert process.stdout is not None
    for line in process.stdout:
        if found := _ADDRESS.fullmatch(line.strip()):
            return int(found[1]), found[2]
    raise AssertionError("there was no address")


def get(port: int, path: str, cookie: str = "") -> tuple[int, str, str]:
    """The status, where it leads or what it shows, and the cookie."""
    connection = HTTPConnection("127.0.0.1", port, timeout=_SECONDS)
    connection.request("GET", path, headers={"Cookie": cookie})
    answer = connection.getresponse()
    location, body = answer.getheader("Location", ""), answer.read().decode()
    connection.close()
    return answer.status, location or body, answer.getheader("Set-Cookie", "").partition(";")[0]


@pytest.mark.parametrize("number", sampled([signal.SIGINT, signal.SIGTERM], 2))
def test_the_address_opens_a_game_once_and_the_command_ends_in_order(tmp_path: Path, number: signal.Signals) -> None:
    with started(tmp_path, "--game", "rock-paper-scissors") as process:
        port, path = address_of(process)
        status, place, cookie = get(port, path)
        assert status == 303
        assert get(port, path)[0] == 403
        status, page, _ = get(port, place, cookie)
        assert status == 200
        assert "Rock-paper-scissors" in page
        process.send_signal(number)
        out, err = process.communicate(timeout=_SECONDS)

    assert process.returncode == (0 if number is signal.SIGINT else 128 + number)
    assert "Traceback" not in out + err
    assert "The playground has ended, and its chain with it." in out + err
    assert list(tmp_path.iterdir()) == []


def test_a_port_that_is_taken_is_an_error_with_words(tmp_path: Path) -> None:
    with started(tmp_path) as first:
        port, _ = address_of(first)
        with started(tmp_path, "--port", str(port)) as second:
            _, err = second.communicate(timeout=_SECONDS)
            assert second.returncode == 1
            assert str(port) in err
            assert "Traceback" not in err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--browser", "--json"), "leave --json out"),
        (("--browser", "--play"), "leave --play out"),
        (("--browser", "--scenario", "stall"), "leave --scenario out"),
        (("--port", "1"), "--port is for --browser"),
        (("--no-open",), "--open is for --browser"),
        (("--browser", "--stake", "0"), "stake"),
    ],
)
def test_what_makes_no_sense_beside_it_is_wrong_usage(
    forcemove: Command, arguments: tuple[str, ...], words: str
) -> None:
    said = forcemove("demo", *arguments)

    assert said.code == 2
    assert words in said.err
