"""Games without money in the demonstration: found by their entry points, played by bots, or by a person."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Timer

import pytest

from forcemove.cli import games
from forcemove.registry import points_in
from tests.cli.command import Command
from tests.cli.screens import Screen
from tests.cli.table_game import installed
from tests.installed import GAMES

ROOT = Path(__file__).parents[2]

WITH_THE_GAME = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
import forcemove.registry
from forcemove.cli.main import main
from tests.cli.table_game import installed
forcemove.registry.entry_points = installed
main()
"""


@pytest.fixture
def higher(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The game, as if it were installed."""
    monkeypatch.setattr("forcemove.registry.entry_points", installed)
    for each in (games.table_game_names, points_in):
        each.cache_clear()
    yield
    for each in (games.table_game_names, points_in):
        each.cache_clear()


def at_the_table(folder: Path, *arguments: str) -> Screen:
    program = (sys.executable, "-c", WITH_THE_GAME, "demo", "--game", "higher")
    return Screen(*program, *arguments, columns=80, folder=folder)


@pytest.mark.usefixtures("higher")
def test_two_bots_play_it_line_by_line(forcemove: Command) -> None:
    said = forcemove("demo", "--game", "higher")

    assert (said.code, said.err) == (0, "")
    assert said.out.splitlines() == ["Higher number", "Alice says 1.", "Bob says 2, signed 0xabab\u2026abab."]


@pytest.mark.usefixtures("higher")
def test_its_result_is_json(forcemove: Command) -> None:
    said = forcemove("demo", "--game", "higher", "--json")

    assert json.loads(said.out) == {"game": "higher", "result": {"winner": "Bob"}, "error": None}


@pytest.mark.usefixtures("higher")
@pytest.mark.parametrize(
    ("arguments", "flag"),
    [
        (("--scenario", "honest"), "--scenario"),
        (("--chain", "eth-tester"), "--chain"),
        (("--key", "alice.json"), "--key"),
        (("--stake", "1"), "--stake"),
        (("--duration", "60"), "--duration"),
        (("--asset", "token"), "--asset"),
        (("--book", "book.json"), "--book"),
        (("--save", "states"), "--save"),
        (("--allow-mainnet",), "--allow-mainnet"),
    ],
)
def test_what_is_about_channels_is_wrong_usage(forcemove: Command, arguments: tuple[str, ...], flag: str) -> None:
    said = forcemove("demo", "--game", "higher", *arguments)

    assert said.code == 2
    assert f"Higher number is played without a channel: leave {flag} out." in said.err


def test_a_script_plays_where_there_is_no_terminal(tmp_path: Path) -> None:
    program = (sys.executable, "-c", WITH_THE_GAME, "demo", "--game", "higher", "--play")
    pipe = subprocess.PIPE
    process = subprocess.Popen(program, stdin=pipe, stdout=pipe, cwd=tmp_path, text=True)  # noqa: S603  # our own
    assert process.stdin is not None
    assert process.stdout is not None
    impatient = Timer(60, process.kill)
    impatient.start()
    before = ""
    while (line := process.stdout.readline()) != "Bob has counted to ten.\n":  # while nobody has typed anything
        assert line, before
        before += line
    after, _ = process.communicate("3\none\n")
    impatient.cancel()

    assert process.returncode == 0
    assert "Round 1, Alice?" in before
    assert "Alice says 3, Bob says 2." in after
    assert "Alice says 1, Bob says 2." in after
    assert "\x1b" not in before + after


@pytest.mark.usefixtures("higher")
def test_people_are_not_asked_for_json(forcemove: Command) -> None:
    said = forcemove("demo", "--game", "higher", "--play", "--json")

    assert said.code == 2
    assert json.loads(said.out)["error"]["type"] == "UsageError"


@pytest.mark.usefixtures("higher")
def test_an_unknown_game_is_told_with_all_that_are_installed(forcemove: Command) -> None:
    said = forcemove("demo", "--game", "chess")

    assert said.code == 1
    assert f"installed are: {', '.join(game.name for game in GAMES)}, discard-sra, higher." in said.err


def test_a_person_is_asked_again_until_the_answer_is_one_and_the_others_go_on(tmp_path: Path) -> None:
    screen = at_the_table(tmp_path, "--play")
    screen.reach("Round 1, Alice?")
    screen.reach("Bob has counted to ten.")  # while nobody has typed anything
    screen.type("\r")
    screen.reach("Type a number from 1 to 3, leave or help.")
    for typed in ("4", "0", "-1", "four"):
        screen.type(typed)
        screen.reach(f"> {typed}")
        screen.type("\r")
        screen.lose(f"> {typed}")  # what is typed before the answer to it is shown would count for nothing
        screen.reach("Type a number from 1 to 3, leave or help.")
    screen.type("3\r")
    screen.reach("Alice says 3, Bob says 2.")
    screen.reach("Round 2, Alice?")
    screen.type("ONE\r")
    seen = screen.end()

    assert seen.code == 0
    assert "You are Alice, and play against Bob." in seen.lines
    assert "Alice says 1, Bob says 2." in seen.lines


@pytest.mark.parametrize("key", ["\x04", "\x03"], ids=["end of input", "interrupt"])
def test_a_person_may_leave_at_any_time(tmp_path: Path, key: str) -> None:
    screen = at_the_table(tmp_path, "--play")
    screen.reach("Round 1, Alice?")
    screen.type(key)
    seen = screen.end()

    assert seen.code == 130
    assert any("You have left the table" in line for line in seen.lines)
    assert not any("Traceback" in line for line in seen.lines)


def test_a_game_that_does_not_know_how_to_be_left_ends_all_the_same(tmp_path: Path) -> None:
    screen = at_the_table(tmp_path, "--play")
    screen.reach("Round 1, Alice?")
    screen.type("leave\r")
    seen = screen.end()

    assert seen.code == 130
    assert any("You have left the table" in line for line in seen.lines)
