"""A person's screen: events scroll above; the board, the clock, the choices and a line to type stay below. Where there
is no screen the same is printed when there is something to decide, and each line of standard input is an answer.

Typed words do nothing before Enter: a slip of a finger plays no money.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from forcemove.cli.errors import EXIT_INTERRUPTED, Explained
from forcemove.cli.terminal import Terminal, has_screen, wants_colours
from forcemove.cli.typed import TypedLines
from forcemove.cli.wrapping import width_of, wrapped
from forcemove.sessions.playing.content import TableContent

if TYPE_CHECKING:
    from prompt_toolkit import Application
    from prompt_toolkit.formatted_text import StyleAndTextTuples
    from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
    from prompt_toolkit.layout import Layout

Styled = tuple[str, str]
"""A style of the screen, and a line."""
Options = Sequence[tuple[str, str]]
"""What can be typed, with an explanation each."""
_WORD = 10
_MORE = "There is more: make this terminal higher."
_FEW = 5
"""Options that each have a line of their own; more options stand two on a line, so that all fit on a screen."""


def content_lines(content: TableContent, width: int) -> Iterator[Styled]:
    """The lines from the headline to the warning."""
    for style, text in (
        ("bold", content.headline),
        *(("", f"    {line}") for line in content.board),
        ("", content.money and f"balances    {content.money}"),
        ("", content.outlook),
        ("bold red", content.warning),
    ):
        if text:
            yield from ((style, line) for line in wrapped(text, width))


def option_lines(options: Options, width: int) -> list[str]:
    """A line for each option; of many, two on a line where they fit."""
    texts = [f"  {word:<{_WORD}}{what}" for word, what in options]
    short = [len(text) for text in texts if len(texts) > _FEW and len(text) < width // 2]
    half = max(short, default=0) + 2
    lines, waiting = list[str](), ""
    for text in texts:
        is_short = len(text) in short
        if is_short and waiting:
            lines.append(f"{waiting:<{half}}{text}")
            waiting = ""
        elif is_short:
            waiting = text
        else:
            lines += [waiting] if waiting else []
            lines += wrapped(text, width, _WORD + 2)
            waiting = ""
    return [*lines, waiting] if waiting else lines


def _fitting(content: TableContent, options: Options, width: int, room: int) -> list[Styled]:
    """The lines of both, at most `room`. Where there are more, options are left out, and then the board; what would
    happen next, and the warning, stay."""
    shown: list[Styled] = [("", line) for line in option_lines(options, width)]
    lines = [*content_lines(content, width), *shown]
    if len(lines) <= room:
        return [("", ""), *lines][-room:]
    more = [("reverse", line) for line in wrapped(_MORE, width)]
    room = max(0, room - len(more))
    lines = list(content_lines(content, width))
    if len(lines) > room:
        lines = list(content_lines(replace(content, board=()), width))
    return [*[*lines, *shown][:room], *more]


_TICK = 0.5
"""Seconds between two looks at the clock."""


class PutAside(Explained):
    """The person has left the screen; the game goes on later."""

    exit_code = EXIT_INTERRUPTED

    def __init__(self, text: str, then: str = "Run the same command again to go on.") -> None:
        super().__init__(text, then)


class Screen:
    """A screen. `take`: does what was typed, and returns what is wrong with it. `options`: what can be typed. `aside`:
    makes the error that ends the game for a person who leaves the screen. `rings`: whether its bell calls."""

    rings = True

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
        if not self._app.is_running:  # nothing stands below yet
            self._flush()

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

    def ring(self) -> None:
        """Ring the terminal's bell, unless it was switched off."""
        if self.rings:
            self._app.output.bell()

    # -------------------------------------------------------------------------------------------------------- writing

    async def _notify(self) -> None:
        """Print lines above the part that stays below. The terminal stays as it is: `run_in_terminal` would let it read
        by lines meanwhile, and keys be lost."""
        while True:
            await self._has_said.wait()
            self._has_said.clear()
            if self._app.is_running:
                self._app.renderer.erase()
                self._flush()
                self._app.invalidate()

    def _flush(self) -> None:
        said, self._said = self._said, []
        for each in said:
            for line in wrapped(each, self._width):
                print(line)

    @property
    def _width(self) -> int:
        return self._app.output.get_size().columns

    def _text(self) -> StyleAndTextTuples:
        size, self._is_read = self._app.output.get_size(), True
        hint = wrapped(self._hint, size.columns) if self._hint else []
        lines = _fitting(self._content, self._options(), size.columns, size.rows - len(hint) - 1)
        return [(style, f"{line}\n") for style, line in [*lines, *(("reverse", line) for line in hint)]]

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
    @keys.add("<sigint>")  # as of `kill -INT`
    def _(event: KeyPressEvent) -> None:
        if event.app.is_running:  # a second signal may come later
            event.app.exit()

    return keys


_POLL_SECONDS = 0.02
_WIDTH = 120
"""Columns where the output is not a terminal."""


class Lines:
    """The player's output where there is no screen: lines, one after the other. It has the same methods as `Screen`."""

    rings = False

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

    def ring(self) -> None:
        """There is no bell."""

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


def person_output(
    take: Callable[[str], str],
    options: Callable[[], Options],
    is_asked: Callable[[], bool],
    aside: Callable[[], Exception],
    terminal: Terminal,
) -> Screen | Lines:
    """A screen where the terminal can have one, else lines.

    - `take`: does what was typed, and returns what is wrong with it.
    - `options`: what can be typed, with an explanation each.
    - `is_asked`: whether the person is to decide now.
    - `aside`: makes the error that ends the game for a person who leaves.
    - `terminal`: where lines are printed.
    """
    return Screen(take, options, aside) if has_screen() else Lines(take, options, is_asked, aside, terminal)
