"""Runs halmos on one function, within a time limit. Halmos is in the environment of the static analysis."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.symbolic.proofs import Proof

__all__ = ["HalmosMissing", "NoVerdict", "TookTooLong", "Verdict", "run"]

_PROGRAMS = Path(sys.prefix) / "analysis" / "bin"
_MEMORY = 1_900
"""How many megabytes the solver may use."""
_PROVED, _REFUTED = 0, 1


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of a function. `proved`: its claims hold on all of its paths; if not, there is a counterexample.
    `text`: what halmos said."""

    proved: bool
    paths: int
    seconds: float
    text: str


@dataclass(eq=False)
class HalmosMissing(Exception):
    """There is no halmos at this place: run `scripts/setup test`."""

    place: str


@dataclass(eq=False)
class NoVerdict(Exception):
    """The function was neither proved nor refuted: halmos' own words."""

    said: str


@dataclass(eq=False)
class TookTooLong(Exception):
    """There was no verdict within this many seconds."""

    seconds: float


def run(folder: Path, proof: Proof, function: str) -> Verdict:
    """What halmos says of a function without arguments. `folder`: what `building.build` has written. `proof`: where the
    function is, and its bounds. `function`: the name of the proof or of its twin. Waits until no other proof runs.

    Raises `HalmosMissing`, `NoVerdict`, `TookTooLong`.
    """
    if not (_PROGRAMS / "halmos").exists():
        raise HalmosMissing(str(_PROGRAMS / "halmos"))
    report = folder / f"{function}.json"
    report.unlink(missing_ok=True)
    command = [str(_PROGRAMS / "halmos"), *_arguments(folder, proof, function, report)]
    with _alone():
        said = _finish(command, _environment(folder), proof.limit)
    return _verdict(json.loads(report.read_text("utf-8")) if report.exists() else {}, said)


def _arguments(folder: Path, proof: Proof, function: str, report: Path) -> list[str]:
    return [
        *("--root", str(folder), "--contract", proof.contract, "--match-test", rf"^{function}\("),
        *("--loop", str(proof.loop), "--solver-timeout-branching", f"{proof.branching}ms"),
        *("--solver-threads", "1", "--solver-max-memory", str(_MEMORY), "--solver-timeout-assertion", "0"),
        *("--early-exit", "--no-status", "--json-output", str(report)),
    ]


def _environment(folder: Path) -> dict[str, str]:
    """Halmos wants foundry to build what it reads; all is built already."""
    forge = folder / "programs" / "forge"
    if not forge.exists():
        forge.parent.mkdir(exist_ok=True)
        forge.symlink_to(shutil.which("true") or "/bin/true")
    return os.environ | {"PATH": os.pathsep.join([str(forge.parent), str(_PROGRAMS), os.environ["PATH"]])}


@contextmanager
def _alone() -> Iterator[None]:
    """One proof at a time: two solvers would want more memory than there may be."""
    with Path(__file__).open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield


def _finish(command: list[str], environment: dict[str, str], limit: float) -> str:
    """Run to the end, solvers and all, or to the limit."""
    process = subprocess.Popen(  # noqa: S603  # halmos, with names of our own
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        return process.communicate(timeout=limit)[0]
    except subprocess.TimeoutExpired:
        raise TookTooLong(limit) from None
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()


def _verdict(report: dict[str, Any], said: str) -> Verdict:
    """A proof counts if every path was followed to its end, a counterexample if the solver stands by it."""
    results = [result for of_contract in report.get("test_results", {}).values() for result in of_contract]
    if len(results) != 1:
        raise NoVerdict(said)
    (result,) = results
    proved = result["exitcode"] == _PROVED and result["num_bounded_loops"] == 0
    refuted = result["exitcode"] == _REFUTED and any(model["is_valid"] for model in result["models"])
    if not proved and not refuted:
        raise NoVerdict(said)
    return Verdict(proved, result["num_paths"][0], result["time"][0], said)
