"""A question that binds is answered by what is typed once it is shown, and by nothing before."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import forcemove.cli
from tests.cli.screens import COMMAND, Screen
from tests.cli.tables import House, link_of

CLI = Path(forcemove.cli.__file__).parent
ASKS = """
import select, sys
import click
from forcemove.cli.typed import ask
select.select([sys.stdin], [], [])  # somebody has typed a line
print("agreed" if ask(click.confirm, "Do you agree?") else "refused")
"""


def test_what_was_typed_before_the_question_does_not_answer_it(tmp_path: Path) -> None:
    screen = Screen(sys.executable, "-c", ASKS, columns=80, folder=tmp_path)
    screen.type("y\r")
    screen.answer("Do you agree?", "n\r")
    assert "refused" in screen.end().lines


@pytest.mark.parametrize(("answer", "said"), [("y", "agreed"), ("n", "refused")])
def test_a_script_answers_beforehand(answer: str, said: str) -> None:
    command = [sys.executable, "-c", ASKS]
    asked = subprocess.run(command, input=f"{answer}\n", capture_output=True, text=True, check=True)  # noqa: S603
    assert asked.stdout.endswith(f"{said}\n")


def test_nobody_joins_by_what_was_typed_before_the_terms(house: House) -> None:
    host = house.play(house.alice, "--create", "--stake", "0")
    guest = house.sit(house.bob, "--join", link_of(host))
    guest.type("y")
    guest.answer("Join on these terms?", "n")
    assert guest.end().code == 130


@pytest.mark.parametrize("way", ["\x03", signal.SIGINT, signal.SIGTERM])
def test_a_question_that_nobody_answers_keeps_no_program_from_its_end(house: House, way: str | signal.Signals) -> None:
    host = house.play(house.alice, "--create", "--stake", "0")
    guest = house.sit(house.bob, "--join", link_of(host))
    guest.reach("Join on these terms?")
    if isinstance(way, str):
        guest.screen.type(way)
    else:
        guest.screen.send_signal(way)
    assert guest.end().code == (143 if way is signal.SIGTERM else 130)


def test_who_leaves_reads_first_what_that_costs(tmp_path: Path) -> None:
    screen = Screen(COMMAND, "demo", "--game", "tic-tac-toe", "--play", columns=80, rows=40, folder=tmp_path)
    screen.answer("help  ", "4\r")
    screen.answer("place an X in the upper left", "leave\ryes\r")
    screen.answer("yes       leave", "no\r")
    screen.answer("leave     end the game", "\x03")
    assert screen.end().code == 130


def test_each_question_is_asked_so() -> None:
    calls = re.compile(r"(click\.(prompt|confirm)|getpass)\(")
    assert [file.name for file in CLI.rglob("*.py") if calls.search(file.read_text("utf-8"))] == []
