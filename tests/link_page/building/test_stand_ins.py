"""What stands in for the C libraries gives the same bytes as they do, and refuses the same."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from zipfile import ZipFile

import pytest

from scripts.page.build import build
from scripts.page.files import standard_imports
from tests.link_page.building import computed
from tests.structure.imports import ROOT, source_files

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


def test_what_our_modules_import_is_there(node_build: Path) -> None:
    """All modules of a build, and what they import of the standard library, in functions too, as far as Pyodide has
    it."""
    ours = {name: path for name, path in source_files().items() if not name.startswith("scripts")}
    wanted = {name: sorted(standard_imports({name: path})) for name, path in ours.items()}
    program = (HERE / "imported.py").read_text("utf-8").replace("= {}", f"= {wanted}", 1)
    found = json.loads(in_pyodide(node_build, program))
    with ZipFile(ROOT / "contracts" / "node_modules" / "pyodide" / "python_stdlib.zip") as whole:
        there = {name.partition("/")[0].removesuffix(".py") for name in whole.namelist()}
    assert found["imported"] > 300
    assert {name: of for name, of in found["missing"].items() if name.partition(".")[0] in there} == {}


def test_a_tab_compiles_no_dataclass_and_no_template_of_ours(node_build: Path) -> None:
    before, after = json.loads(in_pyodide(node_build, (HERE / "begun.py").read_text("utf-8")))
    assert before == after
    assert len(before) > 300


def test_the_same_sources_give_the_same_bytes(files: Path, tmp_path: Path) -> None:
    build(tmp_path / "again")
    assert (tmp_path / "again" / "files.json").read_bytes() == (files / "files.json").read_bytes()
