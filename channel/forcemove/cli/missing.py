"""Types of parameters that say what to do where one is left out."""

from __future__ import annotations

from pathlib import Path

import click

from forcemove.cli.games import installed_names

__all__ = ["GAME_NAME", "KEY_FILE"]


class _KeyFile(click.Path):
    """A key file, which a command may be the first to ask for."""

    def get_missing_message(self, param: click.Parameter, ctx: click.Context | None) -> str:  # noqa: ARG002  # as click calls it
        """See `click.ParamType.get_missing_message`."""
        return "`forcemove key new FILE` makes a key file."


class _GameName(click.ParamType[str]):
    """The name of a game, installed or not: what is wrong with it is said where it is looked for."""

    name = "GAME"

    def get_missing_message(self, param: click.Parameter, ctx: click.Context | None) -> str:  # noqa: ARG002  # as click calls it
        """See `click.ParamType.get_missing_message`."""
        return f"Installed are: {', '.join(installed_names()) or 'none'}."


GAME_NAME = _GameName()
KEY_FILE = _KeyFile(dir_okay=False, path_type=Path)
