"""The options that several commands have, and how options are put together."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import click
from click.core import ParameterSource

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


PAGE = together(
    click.option(
        "--port",
        type=click.IntRange(0, 65_535),
        default=0,
        help="With --browser: where to listen.  [default: any free one]",
    ),
    click.option(
        "--open/--no-open", "opens", default=True, help="With --browser: whether to open the page.  [default: --open]"
    ),
)
_OF_A_PAGE = (("port", "--port"), ("opens", "--open"))


def is_typed(ctx: click.Context, name: str) -> bool:
    """Whether the user has typed the option of this parameter."""
    return ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE


def require_no_page_options(ctx: click.Context) -> None:
    """Raise `click.UsageError` where an option of a page was typed: there is no --browser."""
    for name, option in _OF_A_PAGE:
        if is_typed(ctx, name):
            raise click.UsageError(f"{option} is for --browser.")
