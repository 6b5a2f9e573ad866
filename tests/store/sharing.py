"""Statements of journals, compiled once for all that a process of the tests opens. Each of thousands would compile the
same dozen for itself: a quarter of the CPU of a test in which two nodes play."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Engine, create_engine

from forcemove.store import sqlite

__all__ = ["share"]

_FIRST = create_engine("sqlite://")
_FIRST.connect().close()  # it asks for what its dialect has to know
_COMPILED: dict[Any, Any] = {}


def share() -> None:
    """From now on, in this process. A program opens one journal, and would save nothing."""
    setattr(sqlite, "create_engine", _sharing)  # noqa: B010  # the module exports no such name


def _sharing(*arguments: Any, **options: Any) -> Engine:
    engine = create_engine(*arguments, execution_options={"compiled_cache": _COMPILED}, **options)
    engine.dialect = _FIRST.dialect  # what is compiled is found by it
    return engine
