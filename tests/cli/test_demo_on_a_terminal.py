"""What a person sees of a demonstration: every line of the scenario whole, and the status beneath it while it lasts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from forcemove.demo.output import shortened
from tests.cli.nodes import IMPATIENT, Node, spawn, start_demo
from tests.cli.screens import COMMAND, Screen, Shown, forcemove

STYLE = re.compile(rb"\x1b\[[0-9;:]*m")
STORY_LINE = re.compile(
    r"|Tic-tac-toe: .*|turn +\d+   .*|chain       .*|result      .*|gas         .*|net         .*|balance     .*"
    r"|channel     0x[0-9a-f]{64}|refused     .*| {12}.*|\(This chain's .*|Bob .*|Alice .*|Nobody answered .*"
    r"|The .*"
)
LAST = "The scenario ended with the balances that were expected."


def shown(folder: Path, columns: int, *arguments: str, **environment: str) -> Shown:
    return Screen(COMMAND, *arguments, columns=columns, folder=folder, environment=environment).end()


def require_whole(lines: list[str]) -> None:
    """Whatever is there is a line of the scenario as it is written, with nothing of a status in it or left over."""
    for line in lines:
        assert STORY_LINE.fullmatch(line), line
        assert "Playing" not in line
    assert lines.count(LAST) == 1


@pytest.mark.parametrize(
    ("scenario", "columns"),
    [
        ("honest", 80),
        ("stall", 80),
        ("stale-state", 120),
        pytest.param("honest", 120, marks=pytest.mark.long),
        pytest.param("stall", 120, marks=pytest.mark.long),
        pytest.param("stale-state", 80, marks=pytest.mark.long),
    ],
)
def test_no_line_of_a_story_is_damaged_or_lost(tmp_path: Path, columns: int, scenario: str) -> None:
    seen = shown(tmp_path, columns, "demo", "--game", "tic-tac-toe", "--scenario", scenario, "--chain", "anvil")

    assert seen.code == 0
    require_whole(seen.lines)
    turns = [int(line[5:9]) for line in seen.lines if line.startswith("turn")]
    assert sorted(set(turns)) == list(range(max(turns) + 1))
    assert b"Playing" in seen.data, "the status was never there"


def test_a_line_that_is_too_long_goes_on_below_its_own_text(tmp_path: Path) -> None:
    seen = shown(tmp_path, 80, "demo", "--game", "tic-tac-toe", "--scenario", "cheat")

    assert seen.code == 0
    refused = next(index for index, line in enumerate(seen.lines) if line.startswith("refused") and len(line) > 70)
    assert re.match(r" {12}\S", seen.lines[refused + 1])
    assert all(len(line) <= 80 for line in seen.lines)


def test_nothing_is_styled_where_no_colour_is_wanted(tmp_path: Path) -> None:
    plain = shown(tmp_path, 80, "demo", "--game", "tic-tac-toe", "--scenario", "honest", NO_COLOR="1")
    usual = shown(tmp_path, 80, "demo", "--game", "tic-tac-toe", "--scenario", "honest", NO_COLOR="")

    assert not STYLE.search(plain.data)
    assert STYLE.search(usual.data)
    require_whole(plain.lines)


@pytest.mark.parametrize(
    "arguments",
    [
        ("--help",),
        ("demo", "--stake", "0"),
        ("demo", "--stake", "300000 ether"),
        ("demo", "--game", "chess"),
        ("inspect", "nowhere.json"),
        ("inspect", "0x" + "00" * 288),
        ("verify", "--chain", "http://127.0.0.1:1"),
        ("deploy", "--chain", "http://127.0.0.1:1", "--key", "nowhere.json"),
        ("key", "show", "nowhere.json"),
    ],
    ids=" ".join,
)
def test_no_command_styles_anything_where_no_colour_is_wanted(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    assert not STYLE.search(shown(tmp_path, 80, *arguments, NO_COLOR="yes").data)


def test_what_is_inspected_has_no_styles_where_no_colour_is_wanted(tmp_path: Path) -> None:
    from tests.cli.saved import Saved, state_of

    file = Saved().save(state_of(5), str(tmp_path / "state.json"))
    assert STYLE.search(shown(tmp_path, 80, "inspect", file).data)
    assert not STYLE.search(shown(tmp_path, 80, "inspect", file, NO_COLOR="1").data)


def test_what_is_piped_has_no_escape_codes(tmp_path: Path) -> None:
    demo = spawn(tmp_path, "--game", "tic-tac-toe", "--scenario", "cheat", "--chain", "anvil")

    assert demo.end() == 0
    assert "\x1b" not in demo.said
    assert demo.complained == ""
    assert demo.said.endswith(LAST + "\n")


def test_a_terminal_that_knows_few_characters_is_written_in_those(tmp_path: Path) -> None:
    seen = shown(
        tmp_path, 80, "demo", "--game", "rock-paper-scissors", "--scenario", "honest", PYTHONIOENCODING="ascii"
    )

    assert seen.code == 0
    assert any(re.search(r"hidden \([0-9a-f]{4}\.\.\.[0-9a-f]{4}\)", line) for line in seen.lines)


def test_progress_goes_to_standard_error_where_only_that_is_a_terminal(tmp_path: Path) -> None:
    command = f"{forcemove()} demo --game tic-tac-toe --scenario honest --chain anvil > story.txt"
    seen = Screen("/bin/sh", "-c", command, columns=80, folder=tmp_path).end()

    assert seen.code == 0
    assert [line for line in seen.lines if line] == []
    assert b"Playing" in seen.data
    story = (tmp_path / "story.txt").read_text("utf-8")
    assert "\x1b" not in story
    require_whole(story.splitlines())


def test_nothing_is_told_twice(tmp_path: Path) -> None:
    demo = spawn(tmp_path, "--game", "tic-tac-toe", "--scenario", "cheat")

    assert demo.end() == 0
    told = [
        line for line in demo.said.splitlines() if line.startswith(("turn", "chain", "result", "channel", "refused"))
    ]
    assert len(told) == len(set(told))


def test_hashes_and_addresses_are_short_but_for_the_channels_id() -> None:
    address, hash_ = "0x" + "ab" * 20, "cd" * 32

    assert shortened(f"{address} and ({hash_}).") == "0xabab\u2026abab and (cdcd\u2026cdcd)."
    assert (
        shortened("turn 12, 100000000000000000000 wei, " + "a" * 39)
        == "turn 12, 100000000000000000000 wei, " + "a" * 39
    )


def test_the_full_id_stands_in_a_story_once(tmp_path: Path) -> None:
    demo = spawn(tmp_path, "--game", "rock-paper-scissors", "--scenario", "cheat")

    assert demo.end() == 0
    assert len(re.findall(r"[0-9a-fA-F]{40,}", demo.said)) == 1


def test_a_countdown_stays_until_the_challenge_is_over(tmp_path: Path) -> None:
    node = Node(tmp_path)
    start_demo(tmp_path, node, "--stake", "0").end()  # writes the key file
    options = ("--chain", node.endpoint, "--key", "alice.json", "--game", "tic-tac-toe", "--scenario", "stall")
    try:
        screen = Screen(COMMAND, "demo", *options, columns=80, folder=tmp_path, before=IMPATIENT)
        screen.reach("57 seconds left to answer")
        node.chain.rpc.ask("evm_increaseTime", 45)
        seen = screen.end()
    finally:
        node.stop()

    assert seen.code == 0
    require_whole(seen.lines)
    seconds = [int(found[1]) for frame in seen.frames if (found := re.search(r"(\d+) seconds left to answer", frame))]
    assert seconds[0] > 57
    assert seconds[-1] < 5
    assert seconds == sorted(seconds, reverse=True)
    assert any(re.search(r"Alice waits for Bob: \d more seconds", frame) for frame in seen.frames)
