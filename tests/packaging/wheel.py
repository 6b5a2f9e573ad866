"""Builds the wheel, and installs it where nothing else is."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

ROOT = Path(__file__).parents[2]
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
    options = ("--no-deps", "--no-build-isolation", "--wheel-dir", folder)
    run(sys.executable, "-m", "pip", "wheel", *options, ROOT, folder=folder)
    (wheel,) = folder.glob("*.whl")
    return wheel


def install(wheel: Path, folder: Path) -> Path:
    """The programs of a new environment that has the wheel and what the lock file pins."""
    venv.create(folder, with_pip=False, symlinks=True)
    pip = (sys.executable, "-m", "pip", "--python", folder / "bin" / "python", "install", "--quiet")
    run(*pip, "--require-hashes", "--requirement", ROOT / "requirements.lock", folder=folder)
    run(*pip, "--no-deps", wheel, folder=folder)
    run(sys.executable, "-m", "pip", "--python", folder / "bin" / "python", "check", folder=folder)
    return folder / "bin"


def install_beside_ours(wheel: Path, folder: Path) -> Path:
    """The programs of a new environment that has the wheel, and what it needs from our own environment: where it is not
    the emptiness that is tested."""
    venv.create(folder, with_pip=False, symlinks=True)
    ours = sysconfig.get_path("purelib")
    (site,) = folder.glob("lib/python*/site-packages")
    (site / "borrowed.pth").write_text(f"{ours}\n", "utf-8")
    run(
        sys.executable,
        "-m",
        "pip",
        "--python",
        folder / "bin" / "python",
        "install",
        "--quiet",
        "--no-deps",
        wheel,
        folder=folder,
    )
    return folder / "bin"
