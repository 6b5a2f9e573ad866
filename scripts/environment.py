"""Makes the project's environment: pinned Python packages in `.venv`, and Node's packages in `contracts`.

Runs on the system's Python with the standard library alone; `scripts/setup` finds one that is new enough. What is up to
date is left alone, what was interrupted is made anew, and of two set-ups at once the second waits for the first.

    scripts/setup play      what playing needs
    scripts/setup network   that, and anvil, for the demonstration over a network
    scripts/setup test      that, and what the tests need: the compiler, anvil, viem, an EVM of the next fork, and in an
                            environment of its own (`.venv/analysis`: it wants another web3) what analyses the
                            contracts: slither and halmos
    scripts/setup docs      the Python packages of the tests, and in an environment of its own that sees them
                            (`.venv/docs`) what builds the pages

Several of these at once take less time than one after the other.
`FORCEMOVE_VENV` names another folder for the Python environment.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = Path(os.environ.get("FORCEMOVE_VENV") or ROOT / ".venv").absolute()
CONTRACTS = ROOT / "contracts"
LOCKS = {"play": "requirements.lock", "test": "requirements-test.lock"}
PURPOSES = ("play", "network", "test", "docs")
OLDEST_NODE = 20

_INTERRUPTED = VENV / "set-up-under-way"
_ANNEX_STAMP = "set-up-complete"
_NODE_STAMP = CONTRACTS / "node_modules" / "set-up-complete"
# Settings of the user's shell that would send packages elsewhere, or take modules from there.
_MISLEADING = ("PIP_USER", "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PYTHONPATH", "PYTHONHOME")
_ENVIRONMENT = {name: value for name, value in os.environ.items() if name not in _MISLEADING}
_SHOWN_LINES = 30


class SetupFailed(Exception):
    """What is missing or went wrong, and what to do about it, for people."""


@dataclass(frozen=True)
class Annex:
    """An environment inside of `VENV` with a lock file of its own. `sees_ours`: it imports what `VENV` has, too."""

    name: str
    sees_ours: bool

    @property
    def folder(self) -> Path:
        """Where it is."""
        return VENV / self.name

    @property
    def stamp(self) -> str:
        """The text of its stamp, which is written once it is complete."""
        return f"{self.folder}\n{_digest(self.lock)}\n"

    @property
    def lock(self) -> Path:
        """Its lock file."""
        return ROOT / f"requirements-{self.name}.lock"


ANNEXES = {"test": Annex("analysis", sees_ours=False), "docs": Annex("docs", sees_ours=True)}


def set_up(purposes: Sequence[str]) -> None:
    """Make everything that the purposes need; errors that only people can mend are found before the long work. Node's
    packages and those of annexes come meanwhile: each waits for the network, and for one core."""
    needs_node = not {"network", "test"}.isdisjoint(purposes) and not is_node_set_up()
    if needs_node:
        require_node()
    python = "play" if {"test", "docs"}.isdisjoint(purposes) else "test"
    needs_python = not is_python_set_up(python)
    with ThreadPoolExecutor() as meanwhile:
        others = [meanwhile.submit(set_up_node)] if needs_node else []
        if needs_python:
            prepare_python()
        annexes = [annex for purpose, annex in ANNEXES.items() if purpose in purposes]
        others += [meanwhile.submit(set_up_annex, annex) for annex in annexes if not is_annex_set_up(annex)]
        if needs_python:
            set_up_python(python)
        for each in others:
            each.result()


def is_python_set_up(purpose: str) -> bool:
    """Whether `VENV` has what the purpose's lock file pins."""
    return not _INTERRUPTED.exists() and _python_stamp() in map(_read_stamp, _purposes_that_serve(purpose))


def prepare_python() -> None:
    """Make `VENV` have a Python and pip, and a mark that it is not finished."""
    if not _is_usable():
        _say(f"Making a Python environment in {VENV}")
        _make_venv(VENV)
    _INTERRUPTED.touch()


def set_up_python(purpose: str) -> None:
    """Make `VENV` have what the purpose's lock file pins, and this project, editable."""
    stamp = _python_stamp()  # of what is installed now: a file may change meanwhile
    for each in LOCKS:
        _stamp_path(each).unlink(missing_ok=True)
    _install_pinned(VENV, ROOT / LOCKS[purpose], "a minute or two")
    _finish("installing the project", _pip_install(VENV, "--no-deps", "--no-build-isolation", "--editable", str(ROOT)))
    _INTERRUPTED.unlink()
    _stamp_path(purpose).write_text(stamp, "utf-8")


def _purposes_that_serve(purpose: str) -> tuple[str, ...]:
    """The test packages are a superset of those for playing, at the same versions."""
    return ("test",) if purpose == "test" else ("play", "test")


def _python_stamp() -> str:
    """Changes whenever the environment must be looked at again. The first line is its place: scripts in it name it."""
    return f"{VENV}\n{_digest(ROOT / 'pyproject.toml', *(ROOT / name for name in LOCKS.values()))}\n"


def _digest(*files: Path) -> str:
    return hashlib.sha256(b"\0".join(file.read_bytes() for file in files)).hexdigest()


def _stamp_path(purpose: str) -> Path:
    return VENV / f"set-up-complete-{purpose}"


def _read_stamp(purpose: str) -> str | None:
    path = _stamp_path(purpose)
    return path.read_text("utf-8") if path.exists() else None


def _install_pinned(venv: Path, lock: Path, duration: str, *options: str) -> None:
    count = sum("==" in line for line in lock.read_text("utf-8").splitlines() if line[:1].isalnum())
    _say(f"Installing {count} pinned Python packages ({duration}, once)")
    command = _pip_install(venv, *options, "--require-hashes", "--requirement", str(lock))
    _finish("installing Python packages", command, count)


def _pip_install(venv: Path, *arguments: str) -> list[str]:
    """The command to install with the pip of `VENV`, the only environment that has one."""
    place = () if venv == VENV else ("--python", str(venv / "bin" / "python"))
    options = ("--disable-pip-version-check", "--no-input", "--progress-bar", "off")
    return [str(VENV / "bin" / "python"), "-m", "pip", *place, "install", *options, *arguments]


def _is_usable() -> bool:
    """Whether the environment can be updated: it was completed, and has not been moved."""
    python = VENV / "bin" / "python"
    places = {stamp.partition("\n")[0] for stamp in map(_read_stamp, LOCKS) if stamp is not None}
    if _INTERRUPTED.exists() or not python.exists() or places - {str(VENV)}:
        return False
    check = "import pip, sys; sys.exit(sys.version_info < (3, 11))"
    return subprocess.run([python, "-c", check], env=_ENVIRONMENT, capture_output=True, check=False).returncode == 0


def _make_venv(venv: Path) -> None:
    """Make an empty environment, with a mark that it is not finished."""
    if find_spec("venv") is None or find_spec("ensurepip") is None:
        raise SetupFailed(
            f"{sys.executable} has no module venv. On Debian and Ubuntu: sudo apt install python3-venv; elsewhere "
            "install Python from python.org."
        )
    if venv.exists():
        shutil.rmtree(venv)
    venv.mkdir(parents=True)
    if venv == VENV:
        _INTERRUPTED.touch()
    options = () if venv == VENV else ("--without-pip",)
    _finish("making the Python environment", [sys.executable, "-m", "venv", *options, str(venv)])


# ------------------------------------------------------------------------------------------------------------- annexes


def set_up_annex(annex: Annex) -> None:
    """Make the environment again; it is complete once it has its stamp. Most of its modules are never imported, so each
    is compiled when it is."""
    _make_venv(annex.folder)
    _install_pinned(annex.folder, annex.lock, "up to a minute", "--no-compile")
    if annex.sees_ours:
        ours, its = (next(venv.glob("lib/python3*/site-packages")) for venv in (VENV, annex.folder))
        (its / "ours.pth").write_text(f"{ours}\n", "utf-8")
    (annex.folder / _ANNEX_STAMP).write_text(annex.stamp, "utf-8")


def is_annex_set_up(annex: Annex) -> bool:
    """Whether the packages of its lock file are installed, at this place."""
    path = annex.folder / _ANNEX_STAMP
    return path.exists() and path.read_text("utf-8") == annex.stamp


# ---------------------------------------------------------------------------------------------------------------- Node


def set_up_node() -> None:
    """Install what `contracts/package-lock.json` pins: the compiler, OpenZeppelin's contracts, anvil and viem."""
    _say("Installing the Solidity compiler, anvil and viem (half a minute, once)")
    # npm ci empties node_modules first, the stamp with it. Nobody's install scripts run: anvil's binary needs none.
    _finish(
        "installing Node's packages", ["npm", "ci", "--include=dev", "--ignore-scripts", "--no-audit"], folder=CONTRACTS
    )
    _require_anvil()
    _NODE_STAMP.write_text(_node_stamp(), "utf-8")


def is_node_set_up() -> bool:
    """Whether what the lock file pins is installed."""
    return _NODE_STAMP.exists() and _NODE_STAMP.read_text("utf-8") == _node_stamp()


def _node_stamp() -> str:
    return _digest(CONTRACTS / "package.json", CONTRACTS / "package-lock.json")


def _require_anvil() -> None:
    """npm has it for the commonest platform; for others it is installed by hand."""
    if shutil.which("anvil") is None and not any(CONTRACTS.glob("node_modules/@foundry-rs/anvil-*/bin/anvil")):
        raise SetupFailed("This needs anvil, and npm has none for this machine: install it from getfoundry.sh.")


def require_node() -> None:
    """Refuse a machine without Node, or with one that is too old."""
    advice = f"This needs Node {OLDEST_NODE} or newer with npm: https://nodejs.org, or your system's packages."
    if shutil.which("node") is None or shutil.which("npm") is None:
        raise SetupFailed(f"There is no node or no npm on the PATH. {advice}")
    said = subprocess.run(["node", "--version"], capture_output=True, text=True, check=False).stdout.strip()
    major = said.removeprefix("v").partition(".")[0]
    if not major.isdecimal() or int(major) < OLDEST_NODE:
        raise SetupFailed(f"node is {said or 'broken'}. {advice}")


# ------------------------------------------------------------------------------------------------------------- running


def _finish(doing: str, command: list[str], packages: int = 0, *, folder: Path = ROOT) -> None:
    """Run a command to its end; of pip's output show how far it has come with this many packages.

    Raises `SetupFailed` with the last of what the command said.
    """
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=_ENVIRONMENT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    last: deque[str] = deque(maxlen=_SHOWN_LINES)
    collected = 0
    for line in process.stdout or ():
        last.append(line)
        if packages and line.startswith(("Collecting ", "Processing ")):
            collected += 1
            if collected % 10 == 0:
                _say(f"  {collected} of {packages} found")
        elif packages and line.startswith("Installing collected packages"):
            _say("  unpacking")
    if process.wait():
        raise SetupFailed(f"{''.join(last)}\nSet-up failed while {doing}; above is the end of what it said.")


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


@contextmanager
def _alone() -> Iterator[None]:
    """Hold a lock that ends with this process; another set-up of the same clone waits for it."""
    with (ROOT / "pyproject.toml").open() as held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _say("Waiting for another set-up of this clone")
            fcntl.flock(held, fcntl.LOCK_EX)
        yield


def main(arguments: list[str]) -> int:
    """Set up for some of `PURPOSES`. Returns 0, 1 where it failed, 2 for wrong usage."""
    if not arguments or not set(arguments) <= set(PURPOSES):
        _say(f"usage: scripts/setup {'|'.join(PURPOSES)}...")
        return 2
    try:
        with _alone():
            set_up(arguments)
    except (SetupFailed, OSError) as error:
        _say(str(error))
        return 1
    except KeyboardInterrupt:
        _say("Interrupted; the next set-up goes on from here.")
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
