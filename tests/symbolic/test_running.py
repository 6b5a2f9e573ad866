"""A run of halmos ends in a verdict, or says why there is none."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from tests.symbolic import running
from tests.symbolic.proofs import Proof
from tests.symbolic.running import HalmosMissing, NoVerdict, TookTooLong, Verdict

PROVED = {"exitcode": 0, "num_bounded_loops": 0, "num_paths": [3, 2, 0], "time": [1.5, 1, 0], "models": []}
REFUTED = PROVED | {"exitcode": 1, "models": [{"is_valid": True}]}


def test_without_halmos_it_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(running, "_PROGRAMS", tmp_path / "nowhere")
    with pytest.raises(HalmosMissing):
        _run(tmp_path)


def test_at_the_limit_halmos_and_its_solver_are_ended(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    solver = tmp_path / "solver"
    _pretend(monkeypatch, tmp_path, f"sleep 1000 >/dev/null 2>&1 &\necho $! > {solver}\nwait")
    with pytest.raises(TookTooLong):
        _run(tmp_path, limit=2)
    _wait_until_ended(int(solver.read_text("utf-8")))


@pytest.mark.parametrize(
    ("result", "verdict"),
    [(PROVED, Verdict(True, 3, 1.5, "words\n")), (REFUTED, Verdict(False, 3, 1.5, "words\n"))],
    ids=["proved", "refuted"],
)
def test_a_verdict(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, result: dict[str, Any], verdict: Verdict) -> None:
    _pretend(monkeypatch, tmp_path, _reporting([result]))
    assert _run(tmp_path) == verdict


@pytest.mark.parametrize(
    "results",
    [
        [],
        [PROVED, PROVED],
        [PROVED | {"num_bounded_loops": 1}],
        [PROVED | {"exitcode": 2}],
        [PROVED | {"exitcode": 4}],
        [REFUTED | {"models": [{"is_valid": False}]}],
    ],
    ids=["nothing run", "two run", "a loop not followed", "solver gave up", "nothing happens", "no sure example"],
)
def test_no_verdict(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, results: list[dict[str, Any]]) -> None:
    _pretend(monkeypatch, tmp_path, _reporting(results))
    with pytest.raises(NoVerdict) as none:
        _run(tmp_path)
    assert none.value.said == "words\n"


def test_the_report_of_an_earlier_run_does_not_count(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "check_it.json").write_text(json.dumps({"test_results": {"C": [PROVED]}}), "utf-8")
    _pretend(monkeypatch, tmp_path, "echo words")
    with pytest.raises(NoVerdict):
        _run(tmp_path)


def _run(folder: Path, limit: float = 60) -> Verdict:
    return running.run(folder, Proof("C", "check_it", limit=limit), "check_it")


def _reporting(results: list[dict[str, Any]]) -> str:
    return f"echo words\ncat > check_it.json <<'EOF'\n{json.dumps({'test_results': {'C': results}})}\nEOF"


def _pretend(monkeypatch: pytest.MonkeyPatch, folder: Path, script: str) -> None:
    """Let a script be what is run instead of halmos, in the folder."""
    monkeypatch.setattr(running, "_PROGRAMS", folder)
    program = folder / "halmos"
    program.write_text(f"#!/bin/sh\ncd {folder}\n{script}\n", "utf-8")
    program.chmod(0o700)


def _wait_until_ended(process: int) -> None:
    """A killed orphan stays listed until it is collected by anyone who inherits it."""
    deadline = time.monotonic() + 10
    while _is_running(process):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
        return Path(f"/proc/{process}/stat").read_text("utf-8").rsplit(")", 1)[1].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False
