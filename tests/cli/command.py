"""Runs the command line inside this process, as `main` does, and keeps what it says."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from forcemove.cli.main import call


@dataclass(frozen=True)
class Said:
    """An exit code, and what came out and what was complained about."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Command:
    """Call it with arguments."""

    capture: pytest.CaptureFixture[str]

    def __call__(self, *arguments: str) -> Said:
        self.capture.readouterr()
        code = call(arguments)
        out, err = self.capture.readouterr()
        assert "Traceback" not in err
        return Said(code, out, err)
