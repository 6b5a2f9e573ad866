"""A player's own name, as it is typed."""

from __future__ import annotations

import unicodedata
from typing import Any

import click

__all__ = ["NAME"]


class _Name(click.ParamType[str]):
    """A name that others are shown as it is typed."""

    name = "NAME"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """See `click.ParamType.convert`."""
        from forcemove.errors import InvalidValue
        from forcemove.text.names import shown_name
        from forcemove.transport.offers import require_name

        name = unicodedata.normalize("NFC", str(value)).strip()
        try:
            require_name(name)
        except InvalidValue as error:
            self.fail(f"A name has {error.reason}.", param, ctx)
        if shown_name(name) != name:
            self.fail("Others would not be shown that name: take letters of one script, digits and spaces.", param, ctx)
        return name


NAME = _Name()
"""The type of `--name`."""
