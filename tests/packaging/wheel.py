"""Builds the wheel, and installs it where nothing else is."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
from importlib.metadata import distribution
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
LOCK = ROOT / "requirements.lock"
_OURS = ("PYTHON", "PIP_TARGET", "PIP_USER", "PIP_PREFIX", "VIRTUAL_ENV", "FORCEMOVE")


def run(*command: str | Path, folder: Path) -> str:
    """What a program prints that knows nothing of our environment; it must succeed."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
    done = subprocess.run(  # noqa: S603  # programs that we have just made
        command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def build_wheel(folder: Path) -> Path:
    """The wheel of the working tree, in a folder."""
    program = "import sys; from hatchling.build import build_wheel; build_wheel(sys.argv[1])"  # what pip asks for
    run(sys.executable, "-c", program, folder, folder=ROOT)
    (wheel,) = folder.glob("*.whl")
    return wheel


def install(wheel: Path, folder: Path) -> Path:
    """The programs of a new environment that has the wheel and what the lock file pins, from the package index."""
    venv.create(folder, with_pip=False, symlinks=True)
    _pip(folder, "install", "--quiet", "--require-hashes", "--requirement", LOCK)
    return _add_wheel(wheel, folder)


def install_from_ours(wheel: Path, folder: Path) -> Path:
    """The same, with what the lock file pins from our own environment, which set-up has installed."""
    venv.create(folder, with_pip=False, symlinks=True)
    site = _site_packages(folder)
    for each in _pinned():
        ours = distribution(each.name)
        assert each.specifier.contains(ours.version)
        for name in {file.parts[0] for file in ours.files or () if ".." not in file.parts}:
            if not (site / name).exists():
                (site / name).symlink_to(str(ours.locate_file(name)))
    return _add_wheel(wheel, folder)


def install_with_ours(wheel: Path, folder: Path) -> Path:
    """The programs of a new environment that has the wheel, and what it needs from our own environment: where it is not
    the emptiness that is tested."""
    venv.create(folder, with_pip=False, symlinks=True)
    (_site_packages(folder) / "borrowed.pth").write_text(f"{sysconfig.get_path('purelib')}\n", "utf-8")
    _pip(folder, "install", "--quiet", "--no-deps", wheel)
    return folder / "bin"


def _pinned() -> list[Requirement]:
    """What the lock file pins for this machine."""
    lines = LOCK.read_text("utf-8").splitlines()
    pinned = [Requirement(line.removesuffix("\\")) for line in lines if line[:1].isalnum()]
    return [each for each in pinned if each.marker is None or each.marker.evaluate()]


def _add_wheel(wheel: Path, folder: Path) -> Path:
    """To an environment that has all it needs, and nothing that contradicts."""
    _pip(folder, "install", "--quiet", "--no-deps", wheel)
    _pip(folder, "check")
    return folder / "bin"


def _site_packages(folder: Path) -> Path:
    (site,) = folder.glob("lib/python*/site-packages")
    return site


def _pip(environment: Path, *arguments: str | Path) -> None:
    run(
        sys.executable,
        "-m",
        "pip",
        "--python",
        environment / "bin" / "python",
        *arguments,
        folder=environment,
    )
