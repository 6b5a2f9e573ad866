"""The options of commands that say more of a page, and mean nothing without --browser."""

from __future__ import annotations

import click
from click.core import ParameterSource

from forcemove.cli.options import together

__all__ = ["PAGE", "is_typed", "require_no_page_options"]

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
