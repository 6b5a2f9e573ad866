"""What is generated in the pages is current, and the script that generates it says so where it is not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from forcemove.game import Game
from forcemove_games.discard_sra.rules import TABLE as DISCARD
from scripts import diagrams, excerpt
from scripts.excerpt import figures_aside
from tests.installed import each_game
from tests.readme.text import ROOT


@pytest.fixture
def copies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with copies of the pages that the script takes for the pages."""
    for page in diagrams.PAGES:
        (tmp_path / page).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / page).write_text((ROOT / page).read_text("utf-8"), "utf-8")
    monkeypatch.setattr(diagrams, "PAGES_IN", tmp_path)
    return tmp_path


def texts(folder: Path) -> dict[str, str]:
    return {page: (folder / page).read_text("utf-8") for page in diagrams.PAGES}


def replace_in(folder: Path, part: str, old: str, new: str) -> None:
    """In the page that shows the part."""
    page = folder / diagrams.PAGE_OF.get(part, diagrams.GAMES)
    text = page.read_text("utf-8")
    assert old in text
    page.write_text(text.replace(old, new), "utf-8")


def test_everything_generated_is_current(capsys: pytest.CaptureFixture[str]) -> None:
    code = diagrams.main(["--check"])

    assert (code, capsys.readouterr().err) == (0, "")


@pytest.mark.parametrize(
    ("part", "line", "changed"),
    [
        ("rock-paper-scissors", "B signs accept [+1]", "A signs accept [+1]"),
        ("tic-tac-toe", "O signs win [+2]", "O signs win [+1]"),
        ("discard-sra", "A discards the last card", "B discards the last card"),
        ("demo", "Bob has lost this round", "Bob has won this round"),
        ("life", "the mover signs a move", "anybody signs a move"),
        ("rooms-picture", "chain --> contracts", "chain --> flow"),
        ("rooms", "| store | The journal: ", "| store | A journal: "),
        ("gas", "| respond | ", "| respond | 1"),
        ("api-forcemove", "| `repeat` | ", "| `repeats` | "),
        ("smallest-app", "_count(from.appData) + 1", "_count(from.appData) + 2"),
    ],
)
def test_a_stale_part_is_named_then_brought_up_to_date(
    copies: Path, capsys: pytest.CaptureFixture[str], part: str, line: str, changed: str
) -> None:
    replace_in(copies, part, line, changed)
    stale = texts(copies)

    assert diagrams.main(["--check"]) == 1
    assert capsys.readouterr().err == f"{part}: stale\n"
    assert texts(copies) == stale

    assert diagrams.main([]) == 0
    assert figures_aside(str(texts(copies))) == figures_aside(str(texts(ROOT)))


def test_the_figures_of_a_demonstration_may_be_others(copies: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shown = (copies / diagrams.CHANNEL).read_text("utf-8")
    weapon, gas = re.search(r"Alice revealed (\w+)\.", shown), re.search(r"Bob deposits \([\d,]+ gas\)", shown)
    assert weapon
    assert gas
    replace_in(copies, "demo", weapon[0], "Alice revealed rock." if weapon[1] != "rock" else "Alice revealed paper.")
    replace_in(copies, "demo", gas[0], "Bob deposits (30,000 gas)")
    other = texts(copies)

    assert diagrams.main([]) == 0
    assert capsys.readouterr().err == ""
    assert texts(copies) == other != texts(ROOT)


def test_a_demonstration_that_fails_is_shown_by_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(excerpt, "COMMAND", ("demo", "--game", "missing"))

    with pytest.raises(excerpt.ScenarioFailed, match="missing"):
        excerpt.excerpt.__wrapped__()  # what the others have cached stays


@pytest.mark.parametrize("marker", ["<!-- begin gas -->", "<!-- end gas -->"])
def test_a_missing_marker_is_told_and_nothing_written(
    copies: Path, capsys: pytest.CaptureFixture[str], marker: str
) -> None:
    replace_in(copies, "gas", marker, "")
    before = texts(copies)

    assert diagrams.main([]) == 1
    assert "README.md has 0 places between <!-- begin gas -->" in capsys.readouterr().err
    assert texts(copies) == before


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
    arrows = [line.strip() for line in diagrams.parts()["discard-sra"].splitlines() if "-->" in line]

    assert arrows[1:-1] == [f"{row.from_phase.label} --> {row.to_phase.label} : {row.what}" for row in DISCARD]
