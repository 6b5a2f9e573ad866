"""What the pages' commands show on a terminal of 80 columns: no word is cut, and none is lost. Wrapping to any width is
tested below without a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from forcemove.cli.play.screen import content_lines, option_lines
from forcemove.cli.wrapping import wrapped
from forcemove.sessions.playing.content import TableContent
from tests.cli.nodes import Node
from tests.cli.saved import Saved, state_of
from tests.cli.screens import COMMAND, Screen
from tests.cli.words import COLUMNS, RECORDING, SAID, SCENE, forget, require_all, require_whole


def on(folder: Path, *arguments: str) -> Screen:
    return Screen(COMMAND, *arguments, columns=COLUMNS, rows=24, folder=folder, before=RECORDING)


def require_whole_end(screen: Screen, folder: Path, *typed: str, is_all: bool = True, code: int = 0) -> None:
    seen = screen.end()
    assert seen.code == code, seen.lines
    require_whole(seen.lines, folder, typed)
    if is_all:
        require_all(seen.lines, (folder / SAID).read_text("utf-8"))


def require_whole_scene(screen: Screen, folder: Path, *typed: str) -> None:
    """As it is now."""
    lines = screen.settle()
    require_whole(lines, folder, typed)
    require_all(lines, (folder / SCENE).read_text("utf-8"))


@pytest.mark.parametrize(
    "arguments",
    [
        ("demo", "--game", "rock-paper-scissors", "--scenario", "stall"),
        ("demo", "--game", "tic-tac-toe", "--scenario", "cheat"),
        ("demo", "--game", "discard-sra"),
        ("new", "take-five", "--seats", "3"),
        pytest.param(("demo",), marks=pytest.mark.long),
    ],
    ids=" ".join,
)
def test_what_is_told_without_a_node(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    require_whole_end(on(tmp_path, *arguments), tmp_path)


@pytest.mark.parametrize(
    "arguments",
    [
        ("demo", "--game", "chess"),
        ("demo", "--stake", "300000 ether"),
        ("inspect", "nowhere.json"),
        ("verify", "--chain", "http://127.0.0.1:1"),
        ("key", "fund", "nowhere.json", "--chain", "http://127.0.0.1:1"),
    ],
    ids=" ".join,
)
def test_errors(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    require_whole_end(on(tmp_path, *arguments), tmp_path, is_all=False, code=1)


def test_a_state_that_is_inspected(tmp_path: Path) -> None:
    file = Saved().save(state_of(5), str(tmp_path / "state.json"))
    require_whole_end(on(tmp_path, "inspect", file), tmp_path)


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Node]:
    node = Node(tmp_path)
    yield node
    node.stop()


def test_the_commands_on_a_node(tmp_path: Path, node: Node) -> None:
    where = ("--chain", node.endpoint)
    for arguments in (
        ("key", "new", "alice.json"),
        ("key", "show", "alice.json"),
        ("key", "fund", "alice.json", *where),
        ("deploy", *where, "--key", "alice.json"),
        ("verify", *where),
        ("demo", *where, "--key", "alice.json", "--game", "rock-paper-scissors", "--scenario", "honest"),
    ):
        forget(tmp_path)
        require_whole_end(on(tmp_path, *arguments), tmp_path)


@pytest.mark.parametrize(
    ("game", "asks", "first", "reaches"),
    [
        ("tic-tac-toe", "Your turn to place the first X.", "4", "Bob placed an O"),
        ("rock-paper-scissors", "Your turn to choose a weapon.", "paper", "Bob asked for another round."),
        ("discard-sra", "it is your turn", "1", "Bob d"),
    ],
)
def test_a_person_against_the_bot(tmp_path: Path, game: str, asks: str, first: str, reaches: str) -> None:
    screen = on(tmp_path, "demo", "--game", game, "--play")
    screen.reach(asks)
    require_whole_scene(screen, tmp_path)
    screen.type(f"{first}\r")
    screen.reach(reaches)
    screen.reach("help  ")
    require_whole_scene(screen, tmp_path)
    screen.type("nonsense\r")
    screen.reach("Type ")
    require_whole_scene(screen, tmp_path)
    screen.type("help\r")
    screen.reach("Ctrl-C, or Ctrl-D")
    require_whole_scene(screen, tmp_path)
    screen.type("leave\r")
    if game != "discard-sra":
        screen.reach("no        play on")
        require_whole_scene(screen, tmp_path)
        screen.type("yes\r")
    require_whole_end(screen, tmp_path, is_all=False)


def test_two_processes_side_by_side(tmp_path: Path) -> None:
    screen = on(tmp_path, "demo", "--network", "--scenario", "cheat", "--game", "rock-paper-scissors")
    require_whole_end(screen, tmp_path, is_all=False)


# ----------------------------------------------------------------------------------------------------------- wrapping


@pytest.mark.parametrize("width", [20, 39, 80, 120])
def test_a_line_is_broken_between_words_alone(width: int) -> None:
    text = "turn    4   Alice placed an X; run `forcemove channel list` at ws://127.0.0.1:4600 for 0x" + "ab" * 32
    lines = wrapped(text, width)
    assert " ".join(" ".join(lines).split()) == " ".join(text.split())
    assert any("`forcemove channel list`" in line for line in lines) or width < 30
    assert all(len(line) <= width for line in lines if "0x" not in line and "`" not in line)


@pytest.mark.parametrize(
    ("text", "indent"),
    [
        ("turn    4   " + "word " * 20, 12),
        ("  name            " + "word " * 20, 18),
        ("    board " + "word " * 20, 4),
        ("word " * 20, 0),
    ],
)
def test_the_rest_of_a_line_begins_where_its_own_text_does(text: str, indent: int) -> None:
    first, *rest = wrapped(text.rstrip(), 40)
    assert rest
    assert all(len(line) - len(line.lstrip()) == indent for line in rest)
    assert first == text[: len(first)]


def test_what_fits_stays_as_it_is_and_lines_stay_lines() -> None:
    assert wrapped("a  b\n\n c", 10) == ["a  b", "", " c"]


@pytest.mark.parametrize("width", [80, 120])
def test_many_options_fit_on_a_small_screen(width: int) -> None:
    options = [*((str(number), f"mark the cell {number}") for number in range(9)), ("leave", "end " * 14)]
    lines = option_lines(options, width)
    assert len(lines) <= 6
    assert all(len(line) <= width for line in lines)
    assert [word for line in lines for word in line.split() if word.isdecimal()][::2] == [str(n) for n in range(9)]
    scene = TableContent("Turn 6.", ("row",) * 6, "you 1 ether", "word " * 30, "word " * 20)
    assert len([*content_lines(scene, width), *lines]) < 24
