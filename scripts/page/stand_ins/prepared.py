"""Code that Python writes itself while it runs, of dataclasses and of templates: a build has compiled it, since that
takes a tab half a second. In a build alone."""

from __future__ import annotations

import dataclasses
import marshal
from pathlib import Path
from types import CodeType
from typing import Any

from jinja2 import Environment

_PLACE = Path(__file__).with_name("prepared.bin")


def take(compiled: dict[str, CodeType]) -> dict[str, CodeType]:
    """Use this code from now on, by the text that it is of, and put with it what is not there; the same code."""
    compile_template: Any = Environment.compile

    def execute(text: str, *names: dict[str, Any]) -> None:
        if text not in compiled:
            compiled[text] = compile(text, "<string>", "exec", dont_inherit=True)
        exec(compiled[text], *names)  # noqa: S102  # as dataclasses do

    def template(environment: Environment, source: str, *names: str) -> CodeType:
        if source not in compiled:
            compiled[source] = compile_template(environment, source, *names)
        return compiled[source]

    dataclasses.exec = execute  # type: ignore[attr-defined]  # in place of the built-in function
    Environment.compile = template  # type: ignore[assignment, method-assign]  # without what only others ask for
    return compiled


def take_prepared() -> dict[str, CodeType]:
    """Use what the build has compiled."""
    return take(marshal.loads(_PLACE.read_bytes()))  # noqa: S302  # our own file
