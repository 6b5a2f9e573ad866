"""Commands that are printed run as they are printed, wherever the program is."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.cli.nodes import PASSPHRASE
from tests.cli.screens import forcemove

HERE = Path(forcemove())


def printed(called: Sequence[str | Path], folder: Path, path: str) -> str:
    """The command that is printed where a key file is missing, after it was run as it is."""
    environment = {"PATH": path, "FORCEMOVE_PASSPHRASE": PASSPHRASE}
    said = run([*map(str, called), "key", "show", "key.json"], folder, environment)
    command = said.stderr.partition("`")[2].partition("`")[0]
    run(["/bin/sh", "-c", command], folder, environment).check_returncode()
    assert (folder / "key.json").exists()
    return command


def run(command: Sequence[str], folder: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)  # noqa: S603, PLW1510


def test_by_its_name_where_that_leads_to_it(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "forcemove").symlink_to(HERE)
    path = f"{tmp_path / 'bin'}:/usr/bin:/bin"
    assert printed([HERE], tmp_path, path) == "forcemove key new key.json"


def test_by_its_path_where_its_name_leads_nowhere(tmp_path: Path) -> None:
    called = os.path.relpath(HERE, tmp_path)
    assert printed([called], tmp_path, "/usr/bin:/bin") == f"{HERE} key new key.json"


def test_by_its_path_where_its_name_leads_to_another(tmp_path: Path) -> None:
    other = tmp_path / "a bin" / "forcemove"
    other.parent.mkdir()
    shutil.copy(HERE, other)
    assert printed([other], tmp_path, f"{HERE.parent}:/usr/bin:/bin") == f"{shlex.quote(str(other))} key new key.json"


@pytest.mark.parametrize("has_path", [False, True])
def test_a_module_that_is_run_is_the_program_beside_its_python(tmp_path: Path, has_path: bool) -> None:
    path = f"{HERE.parent}:/usr/bin:/bin" if has_path else "/usr/bin:/bin"
    called = "forcemove" if has_path else str(HERE)
    assert printed([sys.executable, "-m", "forcemove"], tmp_path, path) == f"{called} key new key.json"
