"""`forcemove new`: the repository of a game of one's own."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import click

from forcemove.cli.errors import Explained
from forcemove.cli.wrapping import echo


@click.command()
@click.argument("game", metavar="GAME")
@click.option(
    "--seats", type=click.IntRange(2, 8), default=2, show_default=True, help="How many participants the game has."
)
@click.option(
    "--in",
    "parent",
    default=".",
    type=click.Path(exists=True, file_okay=False, writable=True, path_type=Path),
    help="Where the game's folder is made.  [default: the current directory]",
)
def new(game: str, seats: int, parent: Path) -> None:
    """Begin a game of your own.

    GAME is its name in commands, lower-case words joined by hyphens, such as take-five. Writes a folder of that name
    with everything that a game has: rules in Solidity and their twin in Python, the compiled contract, a bot, a
    picture, tests, and a page that says how to go on. What it begins with is a whole game, in which participants take
    from a heap; play it, and then change it into yours.
    """
    from forcemove.cli.games import installed_names
    from forcemove.scaffold.scaffold import write_game

    if game in installed_names():
        raise Explained(
            f"A game {game} is installed already: no command could tell two of them apart.", "Choose another name."
        )
    folder = write_game(game, parent, seats)
    python = shlex.quote(sys.executable)
    echo(f"Wrote {folder}. Install it beside Forcemove, play it, and run its tests:\n")
    click.echo(f"  cd {shlex.quote(str(folder))}")
    click.echo(f"  {python} -m pip install --editable '.[test]'")
    click.echo(f"  {python} -m forcemove demo --game {game}")
    click.echo(f"  {python} -m pytest\n")
    echo("Its README.md says what is in which file, and how to change it.")
