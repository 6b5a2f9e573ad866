"""Games without money in the demonstration: two bots play one, or a person plays seat 0."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from forcemove.channel.cli.demo.show import shortened
from forcemove.channel.cli.demo.signals import run_until_stopped, stopped_by_signals
from forcemove.channel.cli.errors import EXIT_INTERRUPTED, Explained

if TYPE_CHECKING:
    from forcemove.channel.cli.games import TableGame
    from forcemove.channel.cli.terminal import Terminal

__all__ = ["LeftTheTable", "watch", "sit_down"]


class LeftTheTable(Explained):
    """The person has ended the input or interrupted the game."""

    exit_code = EXIT_INTERRUPTED

    def __init__(self) -> None:
        super().__init__("You have left the table, and the game is over.", "It had no stake: nothing is lost.")


def watch(game: TableGame, names: tuple[str, str], terminal: Terminal, *, quiet: bool) -> dict[str, Any]:
    """Two bots play one game; its result."""

    def tell(line: str) -> None:
        if not quiet:
            terminal.say(shortened(line))

    tell(game.title)
    terminal.status("Playing")
    try:
        with stopped_by_signals():
            return dict(run_until_stopped(game.demonstrate(tell, names)))
    except KeyboardInterrupt:
        raise LeftTheTable from None
    finally:
        terminal.close()


def sit_down(game: TableGame, names: tuple[str, str], terminal: Terminal) -> dict[str, Any]:
    """A person plays seat 0 on standard input, which must be a terminal; the result. Raises `LeftTheTable`."""

    async def ask(prompt: str, options: Sequence[str]) -> int:
        return await _ask(terminal, prompt, options)

    terminal.say(game.title, "bold")
    terminal.say(f"You are {names[0]}. Ctrl-D leaves the table.")
    try:
        with stopped_by_signals():
            return dict(run_until_stopped(game.play(lambda line: terminal.say(shortened(line)), ask, names)))
    except (EOFError, KeyboardInterrupt):
        terminal.say("")
        raise LeftTheTable from None


async def _ask(terminal: Terminal, prompt: str, options: Sequence[str]) -> int:
    terminal.say(prompt, "bold")
    for number, option in enumerate(options, 1):
        terminal.say(f"{number:>4}  {option}")
    while True:
        terminal.ask(f"Your choice, 1 to {len(options)}: ")
        chosen = _chosen((await _read_line()).strip(), options)
        if chosen is not None:
            return chosen
        terminal.say(f"Type a number from 1 to {len(options)}, or one of the options.")


def _chosen(answer: str, options: Sequence[str]) -> int | None:
    """By its number, or by its own words."""
    if answer.isascii() and answer.isdecimal() and len(answer) < 10:
        return int(answer) - 1 if 1 <= int(answer) <= len(options) else None
    words = [option.strip().casefold() for option in options]
    return words.index(answer.casefold()) if answer.casefold() in words else None


async def _read_line() -> str:
    """A line of the terminal, while the other players go on. Raises `EOFError` at its end."""
    loop, ready = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(sys.stdin.fileno(), ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(sys.stdin.fileno())
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    return line
