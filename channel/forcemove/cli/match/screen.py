"""A person's screen: events scroll above; the board, the clock, the choices and a line to type stay below.

Typed words do nothing before Enter: a slip of a finger plays no money.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from forcemove.cli.errors import EXIT_INTERRUPTED, Explained
from forcemove.cli.person.layout import Styled, content_lines, option_lines
from forcemove.cli.terminal import wants_colours
from forcemove.cli.wrapping import wrapped
from forcemove.tables.playing.content import TableContent

if TYPE_CHECKING:
    from prompt_toolkit import Application
    from prompt_toolkit.formatted_text import StyleAndTextTuples
    from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
    from prompt_toolkit.layout import Layout

__all__ = ["PutAside", "Screen"]

_TICK = 0.5
"""Seconds between two looks at the clock."""


class PutAside(Explained):
    """The person has left the screen; the game goes on later."""

    exit_code = EXIT_INTERRUPTED

    def __init__(self, text: str, then: str = "Run the same command again to go on.") -> None:
        super().__init__(text, then)


class Screen:
    """A screen. `take`: does what was typed, and returns what is wrong with it. `options`: what can be typed. `aside`:
    makes the error that ends the game for a person who leaves the screen."""

    def __init__(
        self,
        take: Callable[[str], str],
        options: Callable[[], Sequence[tuple[str, str]]],
        aside: Callable[[], Exception],
    ) -> None:
        self._take, self._options, self._aside = take, options, aside
        self._content, self._hint = TableContent("Waiting."), ""
        self._is_read = True
        self._app = _application(self._text, self._accept)
        self._said: list[str] = []
        self._has_said = asyncio.Event()

    async def run(self) -> None:
        """Show the screen until this is cancelled. Raises the error that `aside` makes where the person leaves."""
        reporting = asyncio.create_task(self._notify())
        try:
            await self._app.run_async(set_exception_handler=False)
            raise self._aside()
        finally:
            reporting.cancel()
            await asyncio.wait([reporting])
            self._flush()

    def say(self, text: str) -> None:
        """Print a line that stays."""
        self._said.append(text)
        self._has_said.set()

    def note(self, text: str) -> None:
        """Print a line about an error."""
        self.say(text)

    def show(self, content: TableContent) -> None:
        """Show another content."""
        if content != self._content:
            if content.headline != self._content.headline:
                self._hint = ""  # the hint was about the content before
            self._content = content
            self._app.invalidate()

    # -------------------------------------------------------------------------------------------------------- writing

    async def _notify(self) -> None:
        """Print lines above the part that stays below."""
        from prompt_toolkit.application import run_in_terminal

        while True:
            await self._has_said.wait()
            self._has_said.clear()
            if self._app.is_running:
                await run_in_terminal(self._flush)

    def _flush(self) -> None:
        said, self._said = self._said, []
        for each in said:
            for line in wrapped(each, self._width):
                print(line)

    @property
    def _width(self) -> int:
        return self._app.output.get_size().columns

    def _text(self) -> StyleAndTextTuples:
        width, self._is_read = self._width, True
        lines: list[Styled] = [("", ""), *content_lines(self._content, width)]
        lines += (("", line) for line in option_lines(self._options(), width))
        lines += (("reverse", line) for line in (wrapped(self._hint, width) if self._hint else ()))
        return [(style, f"{line}\n") for style, line in lines]

    # --------------------------------------------------------------------------------------------------------- typing

    def _accept(self, typed: str) -> None:
        if self._is_read:  # what is typed before a question is shown does not answer it
            self._hint = self._take(typed)
            self._is_read = not self._hint
        self._app.invalidate()


def _application(text: Callable[[], StyleAndTextTuples], accept: Callable[[str], None]) -> Application[None]:
    from prompt_toolkit import Application
    from prompt_toolkit.output import ColorDepth
    from prompt_toolkit.output.vt100 import Vt100_Output

    output = Vt100_Output.from_pty(sys.stdout)
    output.enable_cpr = False  # not every terminal says where its cursor is
    return Application(
        layout=_layout(text, accept),
        key_bindings=_keys(),
        refresh_interval=_TICK,
        erase_when_done=True,
        color_depth=None if wants_colours() else ColorDepth.DEPTH_1_BIT,
        output=output,
    )


def _layout(text: Callable[[], StyleAndTextTuples], accept: Callable[[str], None]) -> Layout:
    from prompt_toolkit.buffer import Buffer
    from prompt_toolkit.layout import BufferControl, FormattedTextControl, HSplit, Layout, Window
    from prompt_toolkit.layout.processors import BeforeInput

    def handle(buffer: Buffer) -> bool:
        accept(buffer.text)
        return False  # the line is empty again

    line = Buffer(multiline=False, accept_handler=handle)
    shown = Window(FormattedTextControl(text), wrap_lines=True, dont_extend_height=True)
    typed = Window(BufferControl(line, input_processors=[BeforeInput("> ")]), height=1)
    return Layout(HSplit([shown, typed]), focused_element=typed)


def _keys() -> KeyBindings:
    from prompt_toolkit.key_binding import KeyBindings

    keys = KeyBindings()

    @keys.add("c-c")
    @keys.add("c-d")
    def _(event: KeyPressEvent) -> None:
        event.app.exit()

    return keys
