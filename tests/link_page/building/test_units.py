"""The unit tests of the machine, the codecs and the games pass in Pyodide, too: all that need nothing but what a page
has."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.structure.imports import ROOT

HERE = Path(__file__).parent
NOT_THERE = (
    "No module named",  # a library that these tests compare with
    "fixture 'anvil' not found",
    "stack switching not supported",  # an event loop that is run to its end within a test
    "does not support processes",
)
"""What the tests need that are not run here, in the words of their failures."""
NOT_IN_A_PAGE = ("tests/games/sra", "tests/games/discard_sra", "tests/games/three")
HYPOTHESIS = re.compile(r"^hypothesis==.*?(?=^\S|\Z)", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Hypothesis, which has code in C, as a wheel for Pyodide."""
    folder = tmp_path_factory.mktemp("libraries")
    found = HYPOTHESIS.search((ROOT / "requirements-test.lock").read_text("utf-8"))
    assert found
    (folder / "wanted.txt").write_text(found[0], "utf-8")
    pip = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "download", "--no-deps")
    where = ("--platform", "pyemscripten_2026_0_wasm32", "--python-version", "314", "--only-binary", ":all:")
    command = [*pip, *where, "--require-hashes", "--dest", str(folder), "-r", str(folder / "wanted.txt")]
    subprocess.run(command, check=True)  # noqa: S603  # our own arguments
    (wheel,) = folder.glob("*.whl")
    with ZipFile(wheel) as opened:
        opened.extractall(folder / "unpacked")
    return folder / "unpacked"


@pytest.mark.long
@pytest.mark.parametrize(("tests", "least"), [("protocol", 800), ("games", 800)])
def test_they_pass_in_pyodide(node_build: Path, libraries: Path, tests: str, least: int) -> None:
    site = Path(pytest.__file__).parents[1]
    folders = (node_build, ROOT, site, libraries)
    left_out = [f"--ignore={each}" for each in NOT_IN_A_PAGE]
    command = ["node", *map(str, (HERE / "units_in_pyodide.mjs", *folders)), f"tests/{tests}", *left_out]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603  # our own program
    assert done.returncode == 0, done.stderr[-2_000:]
    results = json.loads(done.stdout.splitlines()[-1])
    faults = results["failed"] | results["unimported"]
    assert {name: why for name, why in faults.items() if not any(each in why for each in NOT_THERE)} == {}
    assert results["passed"] >= least
