"""The one writer of a command: lines that stay, and beneath them a status line that disappears.

Where standard output and standard error are the same terminal, one console writes both, so that neither overwrites the
other. A pipe, and a dumb terminal, get plain lines and no status.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, TextIO

from forcemove.cli.wrapping import width_of, wrapped
from forcemove.text.harmless import harmless

if TYPE_CHECKING:
    from rich.console import Console
    from rich.live import Live
    from rich.spinner import Spinner

    from forcemove.sessions.playing.content import TableContent

_BLANK = " " * 12
_SPINNER_CELLS = 4


def wants_colours() -> bool:
    """Whether `NO_COLOR` is unset or empty (https://no-color.org), and the terminal knows styles."""
    return not os.environ.get("NO_COLOR") and not _is_dumb()


def has_terminal() -> bool:
    """Whether a person can read and type here."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def has_screen() -> bool:
    """Whether a person can, on a terminal that can write above what it has written."""
    return has_terminal() and not _is_dumb()


def _is_dumb() -> bool:
    return os.environ.get("TERM", "").lower() in ("dumb", "unknown")


def show_cursor() -> None:
    """Show the terminal's cursor, at any moment: past what is just being written there."""
    if sys.stderr.isatty() and not _is_dumb():
        os.write(sys.stderr.fileno(), b"\x1b[?25h")


class Terminal:
    """Standard output and standard error of this process, as they are when it is made.

    `indent`: how many columns the rest of a line that is too long for the terminal is set in; see `wrapped`.
    `is_quiet`: whether lines on standard output are not printed, since that is for JSON.
    """

    def __init__(self, *, indent: int | None = len(_BLANK), is_quiet: bool = False) -> None:
        self._out, self._err, self._indent, self.is_quiet = sys.stdout, sys.stderr, indent, is_quiet
        self._output = _console(self._out)
        self._progress = self._output if _are_one(self._out, self._err) else _console(self._err)
        self._live: Live | None = None

    def say(self, text: str, style: str = "") -> None:
        """Print a line that stays, on standard output. `style`: as rich names it, such as "bold green"."""
        if not self.is_quiet:
            self._write(self._output, self._out, text, style)

    def say_whole(self, text: str) -> None:
        """Print a line that is meant to be copied: we never break it, however narrow the terminal is."""
        if not self.is_quiet:
            self._write(self._output, self._out, text, "", is_whole=True)

    def note(self, text: str) -> None:
        """Print a line that stays, on standard error."""
        self._write(self._progress, self._err, text, "")

    def ask(self, prompt: str) -> None:
        """Write a question, and leave the cursor behind it."""
        self.status("")
        self._out.write(_fitting(harmless(prompt), self._out))
        self._out.flush()

    def status(self, text: str) -> None:
        """Show a status beneath all other lines; an empty text removes it."""
        if self._progress is None:
            return
        if not text:
            self.close()
        elif self._live is None:
            self._live = _live(self._progress, text)
            self._live.start()
        else:
            self._live.update(_spinner(self._progress, text))

    def close(self) -> None:
        """Remove the status line. Later lines are printed all the same."""
        live, self._live = self._live, None
        if live is None:
            return
        try:
            live.stop()
        except BaseException as error:
            live.console.show_cursor()  # which it hides
            if not isinstance(error, IndexError):  # it was interrupted in its beginning, and has only a part to undo
                raise

    def _write(self, console: Console | None, stream: TextIO, text: str, style: str, *, is_whole: bool = False) -> None:
        text = harmless(text, keep="\n")
        if console is None:
            width = None if is_whole else width_of(stream)
            lines = [text] if width is None else wrapped(text, width, self._indent)
            stream.write("".join(f"{_fitting(line, stream)}\n" for line in lines))
            stream.flush()  # a reader of a pipe sees each line when it happens
            return
        from rich.text import Text

        for line in [text] if is_whole else wrapped(text, console.width, self._indent):
            console.print(Text(_fitting(line, stream), style), soft_wrap=True)


class TerminalOutput:
    """Shows a table as lines of a terminal, with the present headline beneath them. See `Output`."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self.note = terminal.note

    def say(self, text: str) -> None:
        """See `Output`."""
        self._terminal.say(text)

    def show(self, content: TableContent) -> None:
        """See `Output`."""
        self._terminal.status(content.headline)


@contextmanager
def waiting(message: str) -> Iterator[Terminal]:
    """Show `message` as the status line while the block runs; the block prints through the terminal that it is
    given."""
    with closing(Terminal(indent=None)) as terminal:
        terminal.status(message)
        yield terminal


def _console(stream: TextIO) -> Console | None:
    """A console for a terminal; None for a dumb one, and for any other stream. Without colours it writes no styles at
    all."""
    if not stream.isatty() or _is_dumb():
        return None
    from rich.console import Console

    if wants_colours():
        return Console(file=stream, force_terminal=True, highlight=False)
    return Console(file=stream, force_terminal=True, highlight=False, color_system=None)


def _are_one(first: TextIO, second: TextIO) -> bool:
    return first.isatty() and second.isatty() and os.path.sameopenfile(first.fileno(), second.fileno())


def _live(console: Console, text: str) -> Live:
    from rich.live import Live

    # Other output of this process is not redirected: it may be meant for a pipe.
    return Live(_spinner(console, text), console=console, transient=True, redirect_stdout=False, redirect_stderr=False)


def _spinner(console: Console, text: str) -> Spinner:
    from rich.spinner import Spinner
    from rich.text import Text

    shown = Text(_fitting(harmless(text), console.file))
    shown.truncate(max(1, console.width - _SPINNER_CELLS), overflow="ellipsis" if _is_unicode(console.file) else "crop")
    return Spinner("dots" if _is_unicode(console.file) else "line", shown)


def _fitting(text: str, stream: object) -> str:
    """The text with a substitute for each character that the stream cannot write."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    if _is_unicode(stream):
        return text
    return text.replace("\u2026", "...").encode(encoding, "replace").decode(encoding)


def _is_unicode(stream: object) -> bool:
    return (getattr(stream, "encoding", None) or "utf-8").lower().replace("-", "").startswith("utf")
