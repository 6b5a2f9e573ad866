"""The first page's three commands for a friend's game: a relay, and two people at two terminals."""

from __future__ import annotations

import shlex
import signal
import socket
from pathlib import Path

import pytest

from forcemove import local_keys, write_key_file
from forcemove.transport.links import LINK_HEAD
from tests.cli.nodes import PASSPHRASE, start
from tests.cli.screens import COMMAND, Screen
from tests.readme.text import ROOT, sections_with

RELAY = "127.0.0.1:4600"


def commands() -> list[str]:
    (section,) = [each for each in sections_with("text") if str(each).endswith("Play with a friend")]
    return section.blocks("text")[0].splitlines()


def free_address() -> str:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return f"127.0.0.1:{server.getsockname()[1]}"


@pytest.fixture
def homes(tmp_path: Path) -> list[Path]:
    homes = [tmp_path / name for name in ("relay", "alice", "bob")]
    for home in homes:
        home.mkdir()
    for home, key in zip(homes[1:], local_keys(), strict=False):
        write_key_file(home / f"{home.name}.json", key, PASSPHRASE, scrypt_work=2**4)
    return homes


def test_two_friends_play_by_the_three_commands(homes: list[Path]) -> None:
    relay, create, join = commands()
    address = free_address()

    def arguments(command: str, link: str = "LINK") -> list[str]:
        program, *others = shlex.split(command.replace(RELAY, address).replace("LINK", link))
        assert program == ".venv/bin/forcemove"
        return others

    serving = start(homes[0], *arguments(relay))
    try:
        serving.reach("listens at")
        alice = Screen(COMMAND, *arguments(create), columns=220, folder=homes[1])
        alice.reach(LINK_HEAD)
        link = next(word for line in alice.lines for word in line.split() if word.startswith(LINK_HEAD))
        bob = Screen(COMMAND, *arguments(join, link), columns=220, folder=homes[2])
        bob.reach("Join on these terms?")
        bob.type("y\r")
        for turn, cell in enumerate((0, 3, 1, 4, 2), 4):
            screen = (alice, bob)[turn % 2]
            screen.reach(f"turn {turn - 1:>4}" if turn > 4 else "Your turn to place the first X.")
            screen.reach(f"  {cell}         place an")
            screen.type(f"{cell}\r")
        bob.reach("Host wins the round: three in a row.")
        bob.type("leave\r")
        ends = [each.end() for each in (alice, bob)]
        assert [each.code for each in ends] == [0, 0], ends
        for each in ends:
            assert any("both have signed its end" in line for line in each.lines)
    finally:
        serving.process.send_signal(signal.SIGTERM)
    assert serving.end() == 0
    assert "Play with a friend" in (ROOT / "README.md").read_text()
