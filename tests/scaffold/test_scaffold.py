"""`forcemove new`: what is written, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from forcemove import InvalidValue, load_artifact
from forcemove.contracts.project import build_project, stale_artifacts
from forcemove.scaffold import scaffold
from forcemove.scaffold.scaffold import FolderInUse, GameNames, names_of, write_game

TEMPLATE = Path(scaffold.__file__).parent / "template"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("nim", GameNames("nim", "nim", "Nim", "Nim")),
        ("take-five", GameNames("take-five", "take_five", "TakeFive", "Take five")),
        ("a1-b2", GameNames("a1-b2", "a1_b2", "A1B2", "A1 b2")),
    ],
)
def test_a_game_has_one_name_in_four_forms(name: str, expected: GameNames) -> None:
    assert names_of(name) == expected


@pytest.mark.parametrize(
    "name", ["", "Nim", "take_five", "-a", "a-", "a--b", "1a", "../a", "a/b", "é", "a" * 41, "a\n"]
)
def test_what_is_no_name_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidValue):
        write_game(name, tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["json", "class", "tests", "forcemove", "async"])
def test_a_name_that_python_has_already_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidValue, match="no package of Python"):
        write_game(name, tmp_path)


@pytest.mark.parametrize("seats", [1, 9])
def test_so_many_cannot_play(seats: int, tmp_path: Path) -> None:
    with pytest.raises(InvalidValue, match="2 to 8"):
        write_game("nim", tmp_path, seats)


def test_nothing_is_written_over(tmp_path: Path) -> None:
    (tmp_path / "nim").mkdir()
    with pytest.raises(FolderInUse):
        write_game("nim", tmp_path)
    assert list((tmp_path / "nim").iterdir()) == []


def test_a_game_is_written_wholly_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(scaffold, "_write_artifact", fail)
    with pytest.raises(OSError, match="No space left"):
        write_game("nim", tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_every_file_of_the_template_is_written_under_its_own_name(tmp_path: Path) -> None:
    folder = write_game("take-five", tmp_path)
    written = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert written == {
        *(".gitignore", "README.md", "pyproject.toml", "tests/__init__.py", "tests/test_take_five.py"),
        *("take_five/TakeFive.json", "take_five/TakeFive.sol", "take_five/__init__.py", "take_five/bot.py"),
        *("take_five/game.py", "take_five/picture.py", "take_five/position.py", "take_five/rules.py"),
    }
    for path in written:
        text = (folder / path).read_text("utf-8").lower()
        assert not [old for old in ("heap_game", "heapgame", "heap-game", "heap game") if old in text], path


def test_the_template_is_compiled_from_its_sources() -> None:
    assert stale_artifacts(TEMPLATE) == [], "run `forcemove compile channel/forcemove/scaffold/template`"


def test_the_compiler_makes_the_very_artifact_that_is_written(tmp_path: Path) -> None:
    """The contract's name is not part of its code."""
    folder = write_game("take-five", tmp_path, seats=3)
    path = folder / "take_five" / "TakeFive.json"
    before = path.read_text("utf-8")
    assert stale_artifacts(folder) == []
    path.unlink()
    assert [built.path for built in build_project(folder)] == [path]
    assert json.loads(path.read_text("utf-8")) == json.loads(before)
    assert load_artifact(path).name == "TakeFive"


def test_a_changed_source_makes_the_artifact_stale(tmp_path: Path) -> None:
    folder = write_game("nim", tmp_path)
    source = folder / "nim" / "Nim.sol"
    source.write_text(source.read_text("utf-8").replace("MOST = 3", "MOST = 4"), "utf-8")
    assert stale_artifacts(folder) == [folder / "nim" / "Nim.json"]


def test_the_template_has_nothing_but_its_files() -> None:
    assert not [path for path in TEMPLATE.rglob("*") if path.name.startswith(".") or path.suffix == ".pyc"]
