"""The demonstration over a network: two player processes, a relay process, and an anvil; one player is killed."""

from __future__ import annotations

import json
import re
import signal
from pathlib import Path

import pytest

from tests.cli.command import Command
from tests.cli.nodes import spawn
from tests.cli.screens import COMMAND, Screen

SCENARIOS = ("honest", "stall", "stale-state", "cheat")


@pytest.mark.long
@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("game", ["rock-paper-scissors", "tic-tac-toe"])
def test_each_story_pays_what_its_last_state_says(forcemove: Command, scenario: str, game: str) -> None:
    said = forcemove("demo", "--network", "--scenario", scenario, "--game", game, "--json")
    assert said.code == 0, said.err
    (story,) = json.loads(said.out)["scenarios"]
    assert (story["scenario"], story["game"]) == (scenario, game)
    assert [each["paid"] for each in story["players"]] == [each["expected"] for each in story["players"]]
    assert sum(int(each["paid"]) for each in story["players"]) == 2 * 10**18


@pytest.mark.parametrize("columns", [80, pytest.param(120, marks=pytest.mark.long)])
def test_both_players_are_seen_side_by_side_with_one_set_of_names(tmp_path: Path, columns: int) -> None:
    arguments = ("demo", "--network", "--scenario", "stale-state", "--game", "tic-tac-toe")
    screen = Screen(COMMAND, *arguments, columns=columns, folder=tmp_path)
    screen.reach("killed")
    screen.reach("Bob challenges with turn")
    seen = screen.end()
    assert seen.code == 0, seen.lines
    text = "\n".join(seen.lines)
    assert "The scenario ended with the balances that were expected." in text
    assert f"{'Alice':<{columns // 2}}Bob" in seen.lines
    assert not re.search(r"\b(Host|Guest)\b", text)
    columns_ = [line.rstrip() for line in seen.lines if line.startswith(" " * (columns // 2))]
    assert any("placed an" in line for line in columns_)  # a turn that Bob's process has printed
    assert all(len(line) < columns for line in columns_)


@pytest.mark.parametrize("options", [("--chain", "anvil"), ("--key", "key.json"), ("--seats", "2")])
def test_what_a_network_brings_itself_is_wrong_usage(forcemove: Command, options: tuple[str, ...]) -> None:
    said = forcemove("demo", "--network", *options)
    assert said.code == 2
    assert f"leave {options[0]} out" in said.err


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 143)])
def test_a_network_that_is_cut_off_promises_nothing(tmp_path: Path, sent: signal.Signals, code: int) -> None:
    """Its chain and its journals go with it."""
    demo = spawn(tmp_path, "--network", "--game", "tic-tac-toe", "--scenario", "honest")
    demo.reach("$ forcemove play")
    assert demo.end(by=sent) == code
    assert "Error: Interrupted.\nThe chain lived only for this run: nothing of value is lost." in demo.complained
