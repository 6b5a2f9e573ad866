"""What is generated in the README is current, and the script that generates it says so where it is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from forcemove.channel.game import Game
from forcemove.games.discard.rules import TABLE as DISCARD
from scripts import diagrams
from tests.installed import each_game
from tests.readme.text import README


@pytest.fixture
def copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the README that the script takes for the README."""
    copied = tmp_path / README.name
    copied.write_text(README.read_text("utf-8"), "utf-8")
    monkeypatch.setattr(diagrams, "README", copied)
    return copied


def replace_in(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")


def test_everything_generated_is_current(capsys: pytest.CaptureFixture[str]) -> None:
    code = diagrams.main(["--check"])

    assert (code, capsys.readouterr().err) == (0, "")


@pytest.mark.parametrize(
    ("part", "line", "changed"),
    [
        ("rock-paper-scissors", "B signs accept [+1]", "A signs accept [+1]"),
        ("tic-tac-toe", "O signs win [+2]", "O signs win [+1]"),
        ("discard", "A discards the last card", "B discards the last card"),
        ("life", "the mover signs a move", "anybody signs a move"),
        ("gas", "| respond | ", "| respond | 1"),
        ("smallest-app", "_count(from.appData) + 1", "_count(from.appData) + 2"),
    ],
)
def test_a_stale_part_is_named_then_brought_up_to_date(
    copy: Path, capsys: pytest.CaptureFixture[str], part: str, line: str, changed: str
) -> None:
    replace_in(copy, line, changed)
    stale = copy.read_text("utf-8")

    assert diagrams.main(["--check"]) == 1
    assert capsys.readouterr().err == f"{part}: stale\n"
    assert copy.read_text("utf-8") == stale

    assert diagrams.main([]) == 0
    assert copy.read_text("utf-8") == README.read_text("utf-8")


@pytest.mark.parametrize("marker", ["<!-- begin gas -->", "<!-- end gas -->"])
def test_a_missing_marker_is_told_and_nothing_written(
    copy: Path, capsys: pytest.CaptureFixture[str], marker: str
) -> None:
    replace_in(copy, marker, "")
    before = copy.read_text("utf-8")

    assert diagrams.main([]) == 1
    assert "has 0 places between <!-- begin gas -->" in capsys.readouterr().err
    assert copy.read_text("utf-8") == before


@each_game
def test_a_games_diagram_shows_every_row_of_its_table_with_its_signer(game: Game) -> None:
    arrows = [line.strip() for line in diagrams.parts()[game.name].splitlines() if "-->" in line]
    rows = [
        f"{row.from_type.label} --> {row.to_type.label} : {row.signer} signs {row.move} [{row.stakes}]"
        for row in game.table
    ]

    assert arrows[1:] == rows
    assert arrows[0].startswith(f"[*] --> {game.table[0].from_type.label} ")


def test_the_diagram_of_discard_shows_every_row_of_its_table() -> None:
    arrows = [line.strip() for line in diagrams.parts()["discard"].splitlines() if "-->" in line]

    assert arrows[1:-1] == [f"{row.from_phase.label} --> {row.to_phase.label} : {row.what}" for row in DISCARD]
