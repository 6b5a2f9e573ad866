"""`forcemove compile` on a game that `forcemove new` has begun."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.command import Command

SOURCE, ARTIFACT = Path("nim/nim/Nim.sol"), Path("nim/nim/Nim.json")


@pytest.fixture(autouse=True)
def _nim(forcemove: Command) -> None:
    assert forcemove("new", "nim").code == 0


def change_source() -> None:
    SOURCE.write_text(SOURCE.read_text("utf-8").replace("MOST = 3", "MOST = 4"), "utf-8")


def test_what_is_up_to_date_is_left_alone(forcemove: Command) -> None:
    before = ARTIFACT.stat().st_mtime_ns

    checked, compiled = forcemove("compile", "nim", "--check"), forcemove("compile", "nim")

    assert (checked.code, checked.out) == (compiled.code, compiled.out) == (0, "")
    assert compiled.err == "Nothing to do: each artifact is made of the sources as they are.\n"
    assert ARTIFACT.stat().st_mtime_ns == before


def test_a_changed_source_is_named_and_then_compiled(forcemove: Command) -> None:
    before = ARTIFACT.read_text("utf-8")
    change_source()

    stale = forcemove("compile", "nim", "--check")
    assert (stale.code, stale.out) == (
        1,
        f"{ARTIFACT} is not made of the sources as they are; run `forcemove compile`.\n",
    )
    assert ARTIFACT.read_text("utf-8") == before

    compiled = forcemove("compile", "nim")
    assert (compiled.code, f"Wrote {ARTIFACT}" in compiled.out + compiled.err) == (0, True)
    assert ARTIFACT.read_text("utf-8") != before
    assert forcemove("compile", "nim", "--check").code == 0


def test_a_mistake_in_the_source_is_told_with_its_place(forcemove: Command) -> None:
    SOURCE.write_text(SOURCE.read_text("utf-8").replace("MOST = 3", "MOST = three"), "utf-8")

    said = forcemove("compile", "nim", code=1)

    assert "Nim.sol" in said.err
    assert "three" in said.err


def test_a_folder_without_sources_is_an_error_with_words(forcemove: Command) -> None:
    Path("empty").mkdir()

    said = forcemove("compile", "empty", code=1)

    assert said.err.startswith("Error: The folder empty has no Solidity source")
