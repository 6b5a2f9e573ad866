"""What commands that are servers share: the address that they listen at, and the format of their log."""

from __future__ import annotations

import json
import logging
from typing import Any

import click

__all__ = ["HostAndPort", "log_to_stderr"]


class HostAndPort(click.ParamType[tuple[str, int]]):
    """HOST:PORT."""

    name = "HOST:PORT"

    def __init__(self, example: str) -> None:
        self._example = example

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, int]:
        """See `click.ParamType.convert`."""
        if isinstance(value, tuple):
            return value
        host, _, port = value.rpartition(":")
        if not host or not port.isascii() or not port.isdecimal() or int(port) > 65_535:
            self.fail(f"{value!r} is no host and port, such as {self._example}", param, ctx)
        return host.removeprefix("[").removesuffix("]"), int(port)


class _Json(logging.Formatter):
    """A line of the log as an object: time (Unix seconds), level, text, and the facts."""

    def format(self, record: logging.LogRecord) -> str:
        facts = getattr(record, "facts", {})
        line = {"time": round(record.created, 3), "level": record.levelname.lower(), "event": record.getMessage()}
        error = {"error": self.formatException(record.exc_info)} if record.exc_info else {}
        return json.dumps(line | error | facts)


class _Plain(logging.Formatter):
    """The same for people."""

    def format(self, record: logging.LogRecord) -> str:
        facts = getattr(record, "facts", {})
        shown = "".join(f", {name}: {value}" for name, value in facts.items())
        error = f"\n{self.formatException(record.exc_info)}" if record.exc_info else ""
        return f"{self.formatTime(record, '%Y-%m-%d %H:%M:%S')} {record.getMessage()}{shown}{error}"


def log_to_stderr(room: str, as_json: bool) -> None:
    """Log the messages of a package, such as `forcemove.relay`, and the warnings of the libraries that it uses."""
    handler = logging.StreamHandler()
    handler.setFormatter(_Json() if as_json else _Plain())
    logging.getLogger().addHandler(handler)
    logging.getLogger(room).setLevel(logging.INFO)
