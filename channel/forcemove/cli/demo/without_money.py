"""Games without money in the demonstration: two bots play one, or a person plays seat 0."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from forcemove.cli.demo.signals import run_until_stopped, stopped_by_signals
from forcemove.cli.errors import EXIT_INTERRUPTED, Explained
from forcemove.cli.play.seats import Numbered
from forcemove.cli.play.signals import run_until_terminated
from forcemove.demo.output import shortened
from forcemove.inspect.documents import CommandErrorJson, Document
from forcemove.sessions.playing.played_channel import run_with_background

if TYPE_CHECKING:
    from forcemove.cli.terminal import Terminal
    from forcemove.sessions.ports import TableGame


class TableDemoDocument(Document):
    """What `demo` prints of a game without money. `result`: what the game itself says, null before its end."""

    game: str
    result: dict[str, Any] | None = None
    error: CommandErrorJson | None = None


class LeftTheTable(Explained):
    """The person has ended the input or interrupted the game."""

    exit_code = EXIT_INTERRUPTED

    def __init__(self) -> None:
        super().__init__("You have left the table, and the game is over.", "It had no stake: nothing is lost.")


def watch(game: TableGame, names: tuple[str, str], terminal: Terminal) -> dict[str, Any]:
    """Two bots play one game; its result."""
    terminal.say(shortened(game.title))
    terminal.status("Playing")
    try:
        with stopped_by_signals():
            return dict(run_until_stopped(game.demonstrate(lambda line: terminal.say(shortened(line)), names)))
    except KeyboardInterrupt:
        raise LeftTheTable from None
    finally:
        terminal.close()


def sit_down(game: TableGame, names: tuple[str, str], terminal: Terminal) -> dict[str, Any]:
    """A person plays seat 0, on a screen where there is one; the result. Raises `LeftTheTable`."""
    terminal.say(game.title, "bold")
    terminal.say(f"You are {names[0]}, and play against {names[1]}.")
    result: dict[str, Any] = {}

    async def play() -> None:
        aside = "you leave the table, and the game is over."
        person = Numbered(names[1], math.inf, LeftTheTable, aside, terminal)

        async def main() -> None:
            result.update(await game.play(lambda line: person.notify(shortened(line)), person.ask, names))

        await run_with_background(main(), person.run())

    try:
        run_until_terminated(play())
    except (EOFError, KeyboardInterrupt):
        raise LeftTheTable from None
    return result
