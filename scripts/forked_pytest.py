#!/usr/bin/env python3
"""Runs pytest in processes that need not import anything: forked from one that has.

Most of what the tests of one mutation take are imports. So one process imports what the tests use of
others, and nothing of this project, and forks for each run. It reads orders from its input, a line of JSON each, and
answers with two lines: the number of the process that it has forked, and then how that has ended.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

_IMPORTED = (
    "aiohttp.web",
    "eth_account",
    "eth_tester",
    "jinja2",
    "prompt_toolkit",
    "psycopg",
    "pyrevm",
    "pytest",
    "rich.live",
    "sqlalchemy",
    "web3",
)
"""What many tests use. Whatever is a plugin of pytest is missing: pytest has to import it itself."""


class ForkedPytest:
    """A process that forks for each run of pytest; one run at a time. It ends with the process that has made it."""

    def __init__(self) -> None:
        self._server = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )

    def run(
        self, arguments: Sequence[str], folder: Path, environment: Mapping[str, str], seconds: float
    ) -> subprocess.CompletedProcess[str]:
        """Run pytest, and return its status and all that it has printed.

        - `arguments`: pytest's.
        - `folder`: where it runs.
        - `environment`: of its process. What PYTHONPATH names is searched for modules before everything else.
        - `seconds`: how long it may take.

        Raises `subprocess.TimeoutExpired`, once all its processes were killed.
        """
        order = {"arguments": list(arguments), "folder": str(folder), "environment": dict(environment)}
        with TemporaryFile("w+") as output:
            order["output"] = f"/proc/{os.getpid()}/fd/{output.fileno()}"
            process = int(self._ask(json.dumps(order)))
            status = self._wait(process, seconds)
            output.seek(0)
            return subprocess.CompletedProcess(arguments, status, output.read(), "")

    def _ask(self, order: str) -> str:
        print(order, file=_of(self._server.stdin))
        return _of(self._server.stdout).readline()

    def _wait(self, process: int, seconds: float) -> int:
        is_late = threading.Event()

        def end() -> None:
            is_late.set()
            with contextlib.suppress(ProcessLookupError):  # it has just ended
                os.killpg(process, signal.SIGKILL)

        timer = threading.Timer(seconds, end)
        timer.start()
        try:
            status = int(_of(self._server.stdout).readline())
        finally:
            timer.cancel()
        if is_late.is_set():
            raise subprocess.TimeoutExpired("pytest", seconds)
        return status


def _of(stream: IO[str] | None) -> IO[str]:
    if stream is None:
        raise ValueError("the process was made without this stream")
    return stream


# ------------------------------------------------------------------------------------------- in the process that forks


def _serve() -> None:
    """Fork for each order; ends with the input."""
    for name in _IMPORTED:
        importlib.import_module(name)
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            _become(json.loads(line))
        with contextlib.suppress(OSError):  # the child has done so, and may have ended
            os.setpgid(child, child)
        print(child, flush=True)
        try:
            _, status = os.waitpid(child, 0)
        except BaseException:
            os.killpg(child, signal.SIGKILL)
            raise
        print(os.waitstatus_to_exitcode(status), flush=True)


def _become(order: dict[str, Any]) -> None:
    """Run pytest in this process, and end it."""
    import pytest

    os.setpgid(0, 0)
    with open(os.devnull) as nothing, open(order["output"], "r+") as output:
        os.dup2(nothing.fileno(), 0)
        os.dup2(output.fileno(), 1)
        os.dup2(output.fileno(), 2)
    os.chdir(order["folder"])
    os.environ.clear()
    os.environ.update(order["environment"])
    sys.path[0:1] = [*filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep)), order["folder"]]
    status = pytest.main(order["arguments"])
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    _serve()
