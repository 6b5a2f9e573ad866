"""What stands in for the C libraries gives the same bytes as they do, and refuses the same."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from scripts.page.build import build
from tests.link_page import computed

HERE = Path(__file__).parent


def in_pyodide(node_build: Path, program: str) -> str:
    """What a program finds."""
    path = node_build / "program.py"
    path.write_text(program, "utf-8")
    command = ["node", str(HERE / "in_pyodide.mjs"), str(node_build), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603  # our own program
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("count", [300, pytest.param(10_000, marks=pytest.mark.long)])
def test_signatures_addresses_hashes_and_points_are_those_of_the_c_libraries(count: int, node_build: Path) -> None:
    program = (HERE / "computed.py").read_text("utf-8").replace("COUNT = 10\n", f"COUNT = {count}\n")
    assert json.loads(in_pyodide(node_build, program)) == json.loads(computed.compute(count))


def test_the_same_sources_give_the_same_bytes(files: Path, tmp_path: Path) -> None:
    build(tmp_path / "again")
    assert (tmp_path / "again" / "files.json").read_bytes() == (files / "files.json").read_bytes()
