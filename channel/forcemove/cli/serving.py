"""What commands share that listen for others: where, what they grant, and how their log is written."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from functools import partial

import click

from forcemove.cli.parameters import Typed, together
from forcemove.cli.wrapping import echo


def _host_and_port(example: str, text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not host or not port.isascii() or not port.isdecimal() or int(port) > 65_535:
        raise click.BadParameter(f"{text!r} is not a host and port, such as {example}")
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


def listen_option(example: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """--listen HOST:PORT, where the service listens unless another address is given."""
    help_ = "Where to listen; port 0 takes any that is free."
    type_ = Typed("HOST:PORT", partial(_host_and_port, example))
    return click.option("--listen", type=type_, default=example, show_default=True, help=help_)


json_option = click.option("--json", "as_json", is_flag=True, help="Write each line of the log as a JSON object.")


def with_limits(defaults: object, helps: Mapping[str, str]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """An option for each of the limits that a service grants. `defaults`: their values; `helps`: by name, what each
    is."""

    return together(*(_limit(name, getattr(defaults, name), help_) for name, help_ in helps.items()))


def _limit(name: str, default: float, help_: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    kind = click.FloatRange(0, min_open=True) if isinstance(default, float) else click.IntRange(1)
    return click.option(f"--{name.replace('_', '-')}", type=kind, default=default, show_default=True, help=help_)


def say_ready(facts: Mapping[str, str], words: str, as_json: bool) -> None:
    """One line on standard output, which a program that starts a service can wait for."""
    if as_json:
        click.echo(json.dumps(facts))
    else:
        echo(words)
