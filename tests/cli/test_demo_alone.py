"""A person, or a script, plays against the bot: every installed game, on a terminal and without one."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.cli import warm
from tests.cli.command import Command
from tests.cli.nodes import wait_until
from tests.cli.screens import COMMAND, Screen
from tests.installed import GAMES, GAMES_FOR_TWO
from tests.plugin.distribution import Environment

FIRST = {"tic-tac-toe": "4", "rock-paper-scissors": "rock", "discard": "draw"}
"""What a person may type first, by game."""
SECOND = {"tic-tac-toe": "turn    5", "rock-paper-scissors": "turn    7", "discard": "turn   11"}
"""Where it is asked again."""
SIZES = [(80, 24), (120, 40)]
HOLDS = """
import time
from pathlib import Path
from forcemove.cli.play import screen
def hold(line):
    Path("prints").touch()
    while not Path("go-on").exists():
        time.sleep(0.01)
    print(line)
screen.print = hold
"""
"""A screen that is not done with a line before it is let go on."""
BALANCE = re.compile(r"(?:balance     | {12})(Alice \(you\)|Bob): (\S+) ether before, (\S+) ether now")


def scripted(folder: Path, game: str, *lines: str) -> tuple[int, str, str]:
    typed = "".join(f"{line}\n" for line in lines)
    done = warm.run(["demo", "--game", game, "--play"], folder=folder, environment=os.environ, typed=typed)
    return done.returncode, done.stdout, done.stderr


def test_every_game_for_two_has_a_script() -> None:
    """Games for more are played so in `test_play_three.py`."""
    assert FIRST.keys() == {game.name for game in GAMES_FOR_TWO}


@pytest.mark.parametrize("game", FIRST)
def test_a_script_plays_leaves_and_is_paid(tmp_path: Path, game: str) -> None:
    code, said, complained = scripted(tmp_path, game, FIRST[game], "leave", "yes")

    assert (code, complained) == (0, "")
    assert "You are Alice, and play against Bob" in said
    assert "deposit: in block" in said
    assert said.count("   Dealing\N{HORIZONTAL ELLIPSIS}") == (game == "discard")
    assert "conclude: in block" in said
    found = {name: (float(before), float(after)) for name, before, after in BALANCE.findall(said)}
    won = {name: after - before for name, (before, after) in found.items()}
    assert won.keys() == {"Alice (you)", "Bob"}
    assert -0.01 < sum(won.values()) < 0  # the gas
    assert re.search(r"^result      (You lose 0.2 ether|You win 0.2 ether|No gain, no loss); ", said, re.MULTILINE)
    assert list(tmp_path.iterdir()) == []


def test_a_stake_is_not_lost_without_a_question(tmp_path: Path) -> None:
    code, said, _ = scripted(tmp_path, "tic-tac-toe", "4", "leave", "no", "leave", "yes")

    assert code == 0
    asked = "Leave now: you are paid 0.8 ether, and lose 0.2 ether of this round. Type yes or no."
    assert said.count(asked) == 2
    assert "result      You lose 0.2 ether; 0.8 ether was paid to you." in said


def test_who_leaves_between_rounds_is_told_what_is_paid(tmp_path: Path) -> None:
    code, said, _ = scripted(tmp_path, "tic-tac-toe", "leave", "yes")

    assert code == 0
    assert "Leave now: you are paid 1 ether. Type yes or no." in said
    assert "result      No gain, no loss; 1 ether was paid to you." in said


def test_the_rules_are_told_by_either_word(tmp_path: Path) -> None:
    for words in ("rules", "help rules", "Help  Rules"):
        _, said, _ = scripted(tmp_path, "tic-tac-toe", words, "leave", "yes")
        assert f"> {words}\n{GAMES_FOR_TWO[-1].rules_text[0]}" in said, words


def test_what_the_chain_costs_and_what_has_happened_is_said_at_the_table(tmp_path: Path) -> None:
    code, said, _ = scripted(tmp_path, "tic-tac-toe", "history", "4", "leave", "yes")

    assert code == 0
    assert re.search(r"leave     end the game .* \(about \d\d,000 gas\)", said)
    told = said.partition("> history\n")[2].partition("> 4\n")[0]
    for words in ("You signed turn 0: ", "Bob signed turn 1: ", "Paid in; the channel holds 2 ether"):
        assert words in told


def test_an_input_that_ends_leaves_the_table(tmp_path: Path) -> None:
    code, said, complained = scripted(tmp_path, "tic-tac-toe", "4")

    assert code == 130
    assert "turn    5" in said
    assert "You have left the table" in complained
    assert "nothing is lost" in complained


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("game", FIRST)
def test_a_person_plays_on_a_screen(tmp_path: Path, game: str, size: tuple[int, int]) -> None:
    columns, rows = size
    screen = Screen(COMMAND, "demo", "--game", game, "--play", columns=columns, rows=rows, folder=tmp_path)
    screen.reach(f"  {FIRST[game]}  ")
    screen.type(f"{FIRST[game]}\r")
    screen.reach(SECOND[game])
    screen.reach("help ")
    screen.type("help\r")
    screen.reach("Ctrl-C, or Ctrl-D: you leave the table")
    screen.type("leave\r")
    screen.reach("no        play on")
    screen.type("y\r")
    seen = screen.end()

    assert seen.code == 0
    assert any(BALANCE.fullmatch(line) for line in seen.lines)


def test_on_a_dumb_terminal_lines_are_printed_and_none_is_drawn_anew(tmp_path: Path) -> None:
    arguments, dumb = ("demo", "--game", "tic-tac-toe", "--play"), {"TERM": "dumb"}
    screen = Screen(COMMAND, *arguments, columns=80, folder=tmp_path, environment=dumb)
    screen.answer("help      what can be done here", "4\n")
    screen.answer("0.2 ether in play", "leave\n")
    screen.answer("no        play on", "yes\n")
    seen = screen.end()

    assert seen.code == 0
    assert b"\x1b" not in seen.data
    assert any(BALANCE.fullmatch(line) for line in seen.lines)


def test_on_a_low_terminal_what_may_happen_is_shown_before_the_board(tmp_path: Path) -> None:
    """And what is wrong with what was typed; the rest is said to be missing."""
    screen = Screen(COMMAND, "demo", "--game", "tic-tac-toe", "--play", columns=100, rows=10, folder=tmp_path)
    screen.reach("Bob can challenge you.")
    screen.reach("There is more: make this terminal higher.")
    screen.answer(">", "nonsense\r")
    screen.reach("Type one of these: 0, 1")
    assert "There is more: make this terminal higher." in map(str.rstrip, screen.settle())
    screen.resize(columns=100, rows=40)
    screen.reach("place an X in the lower right corner")
    screen.reach(" 6 | 7 | 8")
    screen.lose("There is more")
    screen.type("\x03")
    assert screen.end().code == 130


def test_a_person_may_go_at_any_time(tmp_path: Path) -> None:
    screen = Screen(COMMAND, "demo", "--game", "tic-tac-toe", "--play", columns=80, rows=24, folder=tmp_path)
    screen.reach("leave ")
    screen.type("\x03")
    seen = screen.end()

    assert seen.code == 130
    assert any("You have left the table" in line for line in seen.lines)
    assert not any("Traceback" in line for line in seen.lines)


@pytest.mark.parametrize("key", ["\x03", "\x04"])
def test_a_key_that_is_pressed_while_a_line_is_printed_is_not_lost(tmp_path: Path, key: str) -> None:
    arguments = ("demo", "--game", "tic-tac-toe", "--play")
    screen = Screen(COMMAND, *arguments, columns=80, folder=tmp_path, before=HOLDS)
    wait_until((tmp_path / "prints").exists)
    screen.type(key)
    (tmp_path / "go-on").touch()
    assert screen.end().code == 130


def test_a_game_of_somebody_else_is_played_by_three(tmp_path: Path) -> None:
    for folder in ("site", "work"):
        (tmp_path / folder).mkdir()
    environment = Environment(tmp_path / "site", tmp_path / "work")
    environment.install_counting()
    ran = environment("demo", "--game", "counting", "--play", "--seats", "3", typed="\nleave\nyes\n")

    assert (ran.code, ran.err) == (0, "")
    assert "play against Bob and Carol" in ran.out
    assert re.search(r"^ {12}Carol: 1000000 ether before", ran.out, re.MULTILINE)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ("--play",),
            f"--play wants --game with the game that you want to play: {', '.join(game.name for game in GAMES)}",
        ),
        (("--play", "--game", "tic-tac-toe", "--chain", "anvil"), "leave --chain out"),
        (("--play", "--game", "tic-tac-toe", "--json"), "leave --json out"),
        (("--play", "--game", "tic-tac-toe", "--scenario", "honest"), "leave --scenario out"),
        (("--play", "--game", "tic-tac-toe", "--seats", "3"), "Nothing can be played with 3 players"),
        (("--play", "--game", "tic-tac-toe", "--stake", "0"), "stake"),
    ],
)
def test_what_makes_no_sense_beside_it_is_wrong_usage(
    forcemove: Command, arguments: tuple[str, ...], words: str
) -> None:
    said = forcemove("demo", *arguments)

    assert said.code == 2
    assert words in said.err
