"""How pages of text are laid out: titles and named fields."""

from __future__ import annotations

import click

__all__ = ["WIDTH", "show_field", "show_title"]

WIDTH = 16
"""Columns of a field's name."""


def show_title(text: str) -> str:
    """The title of a part of a page."""
    return "\n" + click.style(text, bold=True)


def show_field(name: str, value: object) -> str:
    """A field's name and value; further lines of the value are indented."""
    first, *rest = str(value).splitlines() or [""]
    return "\n".join([f"  {name:<{WIDTH}}{first}", *(" " * (WIDTH + 2) + line for line in rest)])
