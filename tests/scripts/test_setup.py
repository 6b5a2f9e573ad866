"""Set-up, on a project so small that nothing has to be fetched: it is done once, and again after what spoils it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[2] / "scripts"
ANALYSIS_LOCK = "requirements-analysis.lock"
DOCS_LOCK = "requirements-docs.lock"
_PYPROJECT = """
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
"""
_BACKEND = """
from pathlib import Path
from zipfile import ZipFile

FILES = {
    "tiny.pth": str(Path(__file__).parent),
    "tiny-1.dist-info/METADATA": "Metadata-Version: 2.1\\nName: tiny\\nVersion: 1\\n",
    "tiny-1.dist-info/WHEEL": "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
    "tiny-1.dist-info/RECORD": "",
}

def build_editable(folder, settings=None, metadata=None):
    with ZipFile(Path(folder) / "tiny-1-py3-none-any.whl", "w") as wheel:
        for name, text in FILES.items():
            wheel.writestr(name, text)
    return "tiny-1-py3-none-any.whl"
"""


@dataclass(frozen=True)
class Project:
    """A project with a set-up of its own."""

    root: Path

    def set_up(self, purposes: str = "play", path: str | None = None) -> subprocess.CompletedProcess[str]:
        return run([self.root / "scripts" / "setup", *purposes.split()], path)

    @property
    def environment(self) -> Path:
        return self.root / ".venv"

    def has_package(self) -> bool:
        python = self.environment / "bin" / "python"
        return run([python, "-c", "import importlib.metadata as m; m.version('tiny')"]).returncode == 0


def run(command: Sequence[str | Path], path: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run a program from the root folder, as a user without an active environment would."""
    environment = {"HOME": os.environ["HOME"], "PATH": os.environ["PATH"] if path is None else path}
    return subprocess.run(  # noqa: S603  # the project's own programs
        command, cwd="/", env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )


def make_project(root: Path) -> Project:
    (root / "scripts").mkdir(parents=True)
    for name in ("setup", "environment.py"):
        shutil.copy(SCRIPTS / name, root / "scripts" / name)
    (root / "pyproject.toml").write_text(_PYPROJECT, "utf-8")
    (root / "backend.py").write_text(_BACKEND, "utf-8")
    for lock in ("requirements.lock", "requirements-test.lock", ANALYSIS_LOCK, DOCS_LOCK):
        (root / lock).write_text("# nothing is needed\n", "utf-8")
    (root / "contracts").mkdir()
    for lock in ("package.json", "package-lock.json"):
        (root / "contracts" / lock).write_text("{}", "utf-8")
    return Project(root)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Set up once."""
    made = make_project(tmp_path_factory.mktemp("projects") / "a clone")
    done = made.set_up()
    assert done.returncode == 0, done.stderr
    assert made.has_package()
    return made


def test_a_second_set_up_has_nothing_to_do(project: Project) -> None:
    done = project.set_up()
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def fail(project: Project) -> None:
    """The set-up says why; its project is as before, but for the environment."""
    lock = project.root / "requirements.lock"
    before = lock.read_text("utf-8")
    lock.write_text("this is not a requirement\n", "utf-8")
    failed = project.set_up()
    lock.write_text(before, "utf-8")
    assert failed.returncode == 1
    assert "Invalid requirement: 'this is not a requirement'" in failed.stderr
    assert "Set-up failed while installing Python packages" in failed.stderr


@pytest.mark.long
def test_the_set_up_after_one_that_failed_begins_anew(tmp_path: Path) -> None:
    project = make_project(tmp_path / "clone")
    assert project.set_up().returncode == 0
    fail(project)
    (project.environment / "bin" / "python").unlink()
    assert project.set_up().returncode == 0
    assert project.has_package()


@pytest.mark.long
def test_a_clone_that_was_moved_gets_a_new_environment(tmp_path: Path) -> None:
    project = make_project(tmp_path / "clone")
    assert project.set_up().returncode == 0
    moved = Project(project.root.rename(tmp_path / "moved"))
    done = moved.set_up()
    assert done.returncode == 0
    assert "Making a Python environment" in done.stderr
    assert str(project.root) not in (moved.environment / "bin" / "pip").read_text("utf-8")


@pytest.mark.long
def test_the_analysis_has_an_environment_of_its_own_and_only_for_tests(project: Project, tmp_path: Path) -> None:
    """It is made anew when its lock changes, and left alone otherwise."""
    analysis, lock = project.environment / "analysis", project.root / ANALYSIS_LOCK
    assert not analysis.exists()
    npm = "mkdir -p node_modules/@foundry-rs/anvil-here/bin && touch node_modules/@foundry-rs/anvil-here/bin/anvil"
    path = programs(tmp_path / "bin", node="echo v22.0.0", npm=npm) + os.pathsep + os.environ["PATH"]

    assert project.set_up("test docs", path).returncode == 0
    assert (analysis / "bin" / "python").exists()
    for purposes in ("test", "docs", "test docs"):
        assert project.set_up(purposes, path).stderr == ""

    lock.write_text("# nothing is needed any more\n", "utf-8")
    (analysis / "old").touch()
    assert "Installing 0 pinned Python packages" in project.set_up("test", path).stderr
    assert not (analysis / "old").exists()


@pytest.mark.long
def test_what_builds_the_pages_has_an_environment_of_its_own_and_sees_ours(tmp_path: Path) -> None:
    project = make_project(tmp_path / "clone")
    assert project.set_up("docs").returncode == 0
    python = project.environment / "docs" / "bin" / "python"
    assert run([python, "-c", "import importlib.metadata as m; m.version('tiny')"]).returncode == 0
    assert not (project.environment / "analysis").exists()
    assert project.set_up("docs").stderr == ""


def test_a_set_up_that_failed_says_why(project: Project) -> None:
    """The last with this project: the next set-up would take its time and begin anew."""
    fail(project)


def test_wrong_usage_is_told(tmp_path: Path) -> None:
    done = make_project(tmp_path / "clone").set_up("sing")
    assert (done.returncode, done.stderr) == (2, "usage: scripts/setup play|network|test|docs...\n")


# ------------------------------------------------------------------------------------------------ what may be missing


def programs(folder: Path, *names: str, **texts: str) -> str:
    """A PATH on which there are these programs of the system, and scripts with these texts."""
    folder.mkdir()
    for name in names:
        (folder / name).symlink_to(shutil.which(name) or name)
    for name, text in texts.items():
        (folder / name).write_text(f"#!/bin/sh\n{text}\n", "utf-8")
        (folder / name).chmod(0o755)
    return str(folder)


def test_without_python_it_says_which_one_to_install(tmp_path: Path) -> None:
    done = make_project(tmp_path / "clone").set_up(path=programs(tmp_path / "bin", "dirname"))
    assert done.returncode == 1
    assert "needs Python 3.11 or newer" in done.stderr


def test_an_old_python_is_not_taken(tmp_path: Path) -> None:
    old = 'test "$1" = --version && echo Python 3.9.2; exit 1'
    done = make_project(tmp_path / "clone").set_up(path=programs(tmp_path / "bin", "dirname", python3=old))
    assert done.returncode == 1
    assert "(python3 is Python 3.9.2.)" in done.stderr


def test_a_python_without_venv_says_how_to_get_it(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import sys; sys.modules['ensurepip'] = None", "utf-8")
    python = os.path.realpath(sys.executable)
    bare = f'PYTHONPATH={tmp_path} exec {python} "$@"'
    done = make_project(tmp_path / "clone").set_up(path=programs(tmp_path / "bin", "dirname", python3=bare))
    assert done.returncode == 1
    assert "has no module venv. On Debian and Ubuntu: sudo apt install python3-venv" in done.stderr


@pytest.mark.parametrize("version", ["v18.20.4", "", "nonsense"])
def test_an_old_node_is_not_taken(tmp_path: Path, version: str) -> None:
    path = programs(tmp_path / "bin", node=f"echo {version}", npm="echo unused") + os.pathsep + os.environ["PATH"]
    done = make_project(tmp_path / "clone").set_up("test", path)
    assert done.returncode == 1
    assert done.stderr.startswith(f"node is {version or 'broken'}. This needs Node 20 or newer")


def test_without_node_nothing_is_begun(tmp_path: Path) -> None:
    python = f'exec {os.path.realpath(sys.executable)} "$@"'
    done = make_project(tmp_path / "clone").set_up("test", programs(tmp_path / "bin", "dirname", python3=python))
    assert done.returncode == 1
    assert done.stderr.startswith("There is no node or no npm on the PATH.")
    assert not (tmp_path / "clone" / ".venv").exists()
