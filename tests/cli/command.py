"""Runs the command line inside this process, as `main` does, and keeps what it says."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from msgspec import ValidationError, convert, to_builtins

from forcemove.cli.main import call
from forcemove.inspect.documents import Document
from scripts.documents import DOCUMENTS, structs


@dataclass(frozen=True)
class Said:
    """An exit code, and what came out and what was complained about."""

    code: int
    out: str
    err: str


def require_shape(arguments: Sequence[str], out: str) -> None:
    """Fail where a command has printed JSON that is not of the shape that is documented, to the last member."""
    words = " ".join(arguments)
    shape = next((shape for command, shape in DOCUMENTS.items() if words.startswith(command)), None)
    if shape is None or not out.startswith("{") or (content := json.loads(out)).keys() == {"error"}:
        return
    fitting = [each for each in structs(shape) if fits(content, each)]
    assert len(fitting) == 1, f"{words}: {out}"


def fits(content: Any, document: type[Document]) -> bool:
    """Whether this is what the document's class says, and no member is missing."""
    try:
        return bool(to_builtins(convert(content, document)) == content)
    except ValidationError:
        return False


@dataclass(frozen=True)
class Command:
    """Call it with arguments; where `code` is given, it must be the exit code."""

    capture: pytest.CaptureFixture[str]

    def __call__(self, *arguments: str, code: int | None = None) -> Said:
        self.capture.readouterr()
        said = Said(call(arguments), *self.capture.readouterr())
        if "--json" in arguments and said.code in (0, 1):
            require_shape(arguments, said.out)
        assert "Traceback" not in said.err
        assert code in (None, said.code), said
        return said
