"""A passphrase that a person types: asked for again where it is wrong, and for nothing where the link is to another
game."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from forcemove import write_key_file
from tests.cli.nodes import PASSPHRASE
from tests.cli.screens import COMMAND, Screen
from tests.cli.tables import House, link_of
from tests.protocol.builders import ALICE

ASKED = "import os; del os.environ['FORCEMOVE_PASSPHRASE']"
"""Nothing in the environment answers for the person."""
_QUESTION = "Passphrase of a.key:"
"""What is typed before it is asked is thrown away, and seen."""
_WRONG = "That is not its passphrase. Try again."


@pytest.fixture
def screen(tmp_path: Path) -> Screen:
    """A command that wants the passphrase: its file names no address."""
    file = tmp_path / "a.key"
    write_key_file(file, ALICE, PASSPHRASE, scrypt_work=2**4)
    file.write_text(json.dumps(json.loads(file.read_text()) | {"address": None}))
    return Screen(COMMAND, "key", "show", "a.key", columns=80, folder=tmp_path, before=ASKED)


def test_a_wrong_passphrase_is_asked_for_again(screen: Screen) -> None:
    screen.answer(_QUESTION, "another\r")
    screen.reach_times(_QUESTION, 2)
    screen.type(f"{PASSPHRASE}\r")
    shown = screen.end()
    assert shown.code == 0
    assert _WRONG in shown.lines
    assert any(line.endswith("  a.key") for line in shown.lines)
    assert PASSPHRASE.encode() not in shown.data


def test_while_a_key_file_is_opened_that_is_said(screen: Screen) -> None:
    """It takes a second, on a small machine several."""
    screen.answer(_QUESTION, f"{PASSPHRASE}\r")
    assert b" Opening a.key" in screen.end().data


def test_it_is_not_asked_for_without_end(screen: Screen) -> None:
    for number in range(1, 4):
        screen.reach_times(_QUESTION, number)
        screen.type("another\r")
    shown = screen.end()
    assert shown.code == 1
    assert shown.lines.count(_WRONG) == 2
    assert "Error: The passphrase does not open a.key." in shown.lines


def test_a_link_to_another_game_is_refused_before_a_passphrase_is_asked_for(house: House) -> None:
    host = house.play(house.alice, "--create", "--stake", "0")
    arguments = (*house.arguments(house.bob, "tic-tac-toe"), "--join", link_of(host))
    shown = Screen(COMMAND, *arguments, columns=120, folder=house.bob, before=ASKED).end()
    assert shown.code == 1
    assert "Error: The offer is for another game: rock-paper-scissors, and not tic-tac-toe." in shown.lines
    assert not any("Passphrase" in line for line in shown.lines)


def test_where_the_relay_is_away_the_passphrase_is_asked_for(house: House) -> None:
    link = link_of(house.play(house.alice, "--create", "--stake", "0"))
    house.carrier.kill()
    arguments = (*house.arguments(house.bob, "tic-tac-toe"), "--join", link)
    screen = Screen(COMMAND, *arguments, columns=120, folder=house.bob, before=ASKED)
    screen.answer("Passphrase of key.json:", "\x03")
    assert screen.end().code == 130
