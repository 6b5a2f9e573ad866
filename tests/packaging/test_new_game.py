"""A game for three, begun with the wheel in an empty folder, as a stranger would."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.packaging.wheel import run


class Begun(NamedTuple):
    """The programs of the environment, and the game's folder."""

    programs: Path
    folder: Path


@pytest.fixture(scope="module")
def begun(programs: Path, tmp_path_factory: pytest.TempPathFactory) -> Begun:
    place = tmp_path_factory.mktemp("stranger")
    said = run(programs / "forcemove", "new", "take-three", "--seats", "3", folder=place)
    assert "forcemove demo --game take-three" in said
    pip = (sys.executable, "-m", "pip", "--python", programs / "python", "install", "--quiet")
    run(*pip, "--no-deps", "--no-build-isolation", "--editable", place / "take-three", folder=place)
    return Begun(programs, place / "take-three")


def test_its_own_tests_pass(begun: Begun) -> None:
    said = run(begun.programs / "python", "-m", "pytest", "-q", folder=begun.folder)
    assert "15 passed" in said


def test_its_own_tests_fail_when_the_languages_differ(begun: Begun) -> None:
    rules = begun.folder / "take_three" / "rules.py"
    honest = rules.read_text("utf-8")
    rules.write_text(honest.replace("heap - after.heap > MOST:", "heap - after.heap > MOST + 1:"), "utf-8")
    try:
        done = subprocess.run(  # noqa: S603  # a program that we have just made
            [begun.programs / "python", "-m", "pytest", "-q", "-k", "alike"],
            cwd=begun.folder,
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        rules.write_text(honest, "utf-8")
    assert done.returncode == 1
    assert "TakeThree and its twin differ about" in done.stdout


def test_three_play_it_in_the_demonstration(begun: Begun) -> None:
    said = run(begun.programs / "forcemove", "demo", "--game", "take-three", "--json", folder=begun.folder.parent)
    (honest,) = (each for each in json.loads(said)["scenarios"] if each["scenario"] == "honest")
    assert honest["game"] == "take-three"
    assert len(honest["players"]) == 3


def test_it_is_typed_and_clean(begun: Begun, types: Sequence[str | Path]) -> None:
    tools = Path(sys.executable).parent
    python = begun.programs / "python"
    run(tools / "mypy", *types, "--python-executable", python, "take_three", folder=begun.folder)
    run(
        tools / "ruff",
        "check",
        "--isolated",
        "--select",
        "E,F,I,B,UP",
        "--line-length",
        "120",
        ".",
        folder=begun.folder,
    )
