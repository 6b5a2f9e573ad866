"""A person, or a script, without a screen: the content of a screen is printed when there is something to decide, and
each line of standard input is an answer."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Sequence

from forcemove.cli.person.layout import content_lines, option_lines
from forcemove.cli.terminal import Terminal
from forcemove.cli.typed import TypedLines
from forcemove.cli.wrapping import width_of
from forcemove.tables.playing.content import TableContent

__all__ = ["Lines"]

_POLL_SECONDS = 0.02
_WIDTH = 120
"""Columns where the output is no terminal."""


class Lines:
    """The player's output where there is no screen: lines, one after the other. It has the same methods as `Screen`."""

    def __init__(
        self,
        take: Callable[[str], str],
        options: Callable[[], Sequence[tuple[str, str]]],
        is_asked: Callable[[], bool],
        aside: Callable[[], Exception],
        terminal: Terminal,
    ) -> None:
        """Print on `terminal`, and read what is typed.

        - `take`: does what was typed, and returns what is wrong with it.
        - `options`: what can be typed, with an explanation each.
        - `is_asked`: whether the person is to decide now.
        - `aside`: makes the error that ends the game for a person whose input has ended.
        - `terminal`: where the lines are printed.
        """
        self._take, self._options, self._is_asked, self._aside = take, options, is_asked, aside
        self._terminal, self._typed, self._content = terminal, TypedLines(), TableContent("Waiting.")
        self.say, self.note = terminal.say, terminal.note

    def show(self, content: TableContent) -> None:
        """Keep another content, which is printed at the next decision."""
        self._content = content

    async def run(self) -> None:
        """Run until this is cancelled. Raises the error that `aside` makes where the input ends."""
        while True:
            while not self._is_asked():
                await asyncio.sleep(_POLL_SECONDS)
            self._print()
            try:
                typed = await self._typed.read()
            except EOFError:
                raise self._aside() from None
            self.say(f"> {typed}")
            if hint := self._take(typed):
                self.say(hint)

    def _print(self) -> None:
        width = width_of(sys.stdout) or _WIDTH
        for style, line in content_lines(self._content, width):
            self._terminal.say(line, style)
        for line in option_lines(self._options(), width):
            self.say(line)
