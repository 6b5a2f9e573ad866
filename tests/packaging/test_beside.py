"""The wheel beside a program of its user's that has packages called `games`, `channel` and `contracts`, too."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.packaging.wheel import run

PROGRAM = '''\
"""A user's program: plays a round of the user's own making on a local table."""

from __future__ import annotations

from channel import NAME
from contracts import OWNER
from games import best_cell

from forcemove import ChooseMove, ConcludeWanted, CounterpartyError, LocalTable, MoveChosen, local_table
from forcemove_games.tic_tac_toe import GAME, rules


def choose(question: ChooseMove) -> MoveChosen | ConcludeWanted:
    """Mark the best cell."""
    cell = best_cell()
    return ConcludeWanted() if cell is None else MoveChosen(*rules.mark(question.state, cell))


def main() -> int:
    """The amount that X has in the end, in wei."""
    table: LocalTable = local_table(GAME, choose, choose, stake=2 * 10**17)
    try:
        table.play()
    except CounterpartyError as error:
        print(error)
    return table.outcome[0].amount


print(NAME, OWNER, main())
'''
GAMES = '''\
"""The user's own games."""

from collections.abc import Iterator

_CELLS: Iterator[int] = iter([4, 0, 2, 1, 6])


def best_cell() -> int | None:
    """The next cell to mark."""
    return next(_CELLS, None)
'''


@pytest.fixture
def program(tmp_path: Path) -> Path:
    for name, source in (
        ("games", GAMES),
        ("channel", '"""A channel of another kind."""\n\nNAME = "television"\n'),
        ("contracts", '"""Contracts on paper."""\n\nOWNER = "the user"\n'),
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(source, "utf-8")
    (tmp_path / "program.py").write_text(PROGRAM, "utf-8")
    return tmp_path / "program.py"


def test_a_users_packages_of_the_same_names_are_left_alone(programs: Path, program: Path) -> None:
    assert run(programs / "python", program, folder=program.parent) == "television the user 1200000000000000000\n"


def check_types(programs: Path, program: Path, types: Sequence[str | Path]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603  # our own mypy
        [sys.executable, "-m", "mypy", *types, "--python-executable", programs / "python", program.name],
        cwd=program.parent,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_users_program_passes_a_strict_type_check(programs: Path, program: Path, types: Sequence[str | Path]) -> None:
    done = check_types(programs, program, types)
    assert done.returncode == 0, done.stdout


def test_a_users_mistake_is_found_by_the_type_check(programs: Path, program: Path, types: Sequence[str | Path]) -> None:
    program.write_text(PROGRAM.replace("stake=2 * 10**17", 'stake="much"'), "utf-8")
    said = check_types(programs, program, types).stdout
    assert 'Argument "stake" to "local_table" has incompatible type "str"; expected "int"' in said


@pytest.mark.parametrize("short", ["channel", "games", "contracts"])
def test_nothing_of_ours_is_found_under_a_short_name(programs: Path, tmp_path: Path, short: str) -> None:
    program = f"import importlib.util; print(importlib.util.find_spec({short!r}))"
    assert run(programs / "python", "-c", program, folder=tmp_path) == "None\n"
