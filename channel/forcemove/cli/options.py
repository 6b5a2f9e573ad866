"""The options that several commands have, and how options are put together."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import click

__all__ = ["ENDPOINT", "FILE", "JSON", "NODE", "together"]

_Command = TypeVar("_Command", bound=Callable[..., object])

FILE = click.Path(dir_okay=False, path_type=Path)
"""The type of a file's path, whether there is one or not."""
JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON for a program to read.")
NODE = click.option(
    "--chain", "endpoint", required=True, metavar="URL", help="The node: http(s)://, ws(s)://, or an IPC path."
)
ENDPOINT = click.option(
    "--chain", "endpoint", metavar="URL", help="Look at the chain, too: http(s)://, ws(s)://, or an IPC path."
)


def together(*options: Callable[[_Command], _Command]) -> Callable[[_Command], _Command]:
    """One decorator in place of several, in the order in which they would be written."""

    def decorate(command: _Command) -> _Command:
        for option in reversed(options):  # the last one first, as decorators are
            command = option(command)
        return command

    return decorate
