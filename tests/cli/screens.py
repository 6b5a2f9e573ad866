"""Programs on a terminal: a pseudo-terminal for them to write on, and a screen that shows what a person sees."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyte

from tests.cli import warm
from tests.cli.nodes import PASSPHRASE

COMMAND = "forcemove"
"""The command, without a start from nothing: see `warm`."""
_ROWS = 40
_SECONDS = 120.0
_QUIET = 0.3
"""Seconds without a byte after which a screen counts as written."""


@dataclass(frozen=True)
class Shown:
    """What was on a terminal in the end: the lines with those that had scrolled off, every byte, and the exit code.
    `frames`: the lowest line with anything on it, whenever something was written."""

    lines: list[str]
    data: bytes
    code: int
    frames: list[str]


class Screen:
    """A program with a terminal of this many columns and rows as standard input, output and error."""

    def __init__(
        self,
        *arguments: str,
        columns: int,
        rows: int = _ROWS,
        folder: Path,
        environment: Mapping[str, str] | None = None,
        before: str = "",
    ) -> None:
        """`arguments`: `COMMAND` and its arguments, or any program and its. `before`: as of `warm.start`."""
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        known = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS", "LINES")}
        known |= {"TERM": "xterm-256color", "FORCEMOVE_PASSPHRASE": PASSPHRASE} | dict(environment or {})
        self._process: warm.Process | subprocess.Popen[bytes]
        if arguments[0] == COMMAND:
            files = warm.Files(slave, slave, slave)
            self._process = warm.start(
                arguments[1:], files, folder=folder, environment=known, before=before, has_terminal=True
            )
        else:
            self._process = _start_program(arguments, slave, folder, known)
        os.close(slave)
        self._screen = pyte.HistoryScreen(columns, rows, history=100_000, ratio=0.5)
        self._stream = pyte.ByteStream(self._screen)
        self._data, self._frames = bytearray(), list[str]()

    def type(self, text: str) -> None:
        """Press keys."""
        os.write(self._master, text.encode())

    def reach(self, text: str) -> None:
        """Wait until this is on the screen."""
        self._read_until(lambda: any(text in line for line in self._screen.display))

    def reach_times(self, text: str, count: int) -> None:
        """Wait until this is on the screen so often."""
        self._read_until(lambda: sum(text in line for line in self._screen.display) >= count)

    def answer(self, question: str, keys: str) -> None:
        """Press keys once this is on the screen."""
        self.reach(question)
        self.type(keys)

    def lose(self, text: str) -> None:
        """Wait until this is on the screen no more."""
        self._read_until(lambda: not any(text in line for line in self._screen.display))

    def resize(self, *, columns: int, rows: int) -> None:
        """Make the terminal as large as this."""
        self._screen.resize(rows, columns)
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def hang_up(self) -> None:
        """Close the terminal, as its window would be closed."""
        os.close(self._master)

    def send_signal(self, number: int) -> None:
        """To the program, as a terminal does at Ctrl-C while it is not read key by key."""
        self._process.send_signal(number)

    def end_by(self, number: int) -> int:
        """The exit code after a signal."""
        self.send_signal(number)
        return self._process.wait(_SECONDS)

    @property
    def shows_what_is_typed(self) -> bool:
        """Whether the terminal does, as it does where no program has said otherwise."""
        return bool(termios.tcgetattr(self._master)[3] & termios.ECHO)

    @property
    def hides_cursor(self) -> bool:
        """Whether the terminal's cursor is not to be seen."""
        return bool(self._screen.cursor.hidden)

    def settle(self) -> list[str]:
        """What is on the screen once nothing more is written for a while."""
        quiet_since = time.monotonic()
        seen = len(self._data)
        while time.monotonic() - quiet_since < _QUIET:
            self._read_until(lambda: True, once=True)
            if len(self._data) != seen:
                seen, quiet_since = len(self._data), time.monotonic()
        return self.lines

    def look(self) -> None:
        """Wait until something is written."""
        count = len(self._frames)
        self._read_until(lambda: len(self._frames) > count)

    @property
    def lines(self) -> list[str]:
        """What is on the screen now."""
        return list(self._screen.display)

    def end(self) -> Shown:
        """What is to be seen when the program has ended."""
        self._read_until(lambda: False)
        top = [
            "".join(line[column].data for column in range(self._screen.columns)) for line in self._screen.history.top
        ]
        lines = [line.rstrip() for line in (*top, *self._screen.display)]
        os.close(self._master)
        return Shown(lines, bytes(self._data), self._process.wait(_SECONDS), self._frames)

    def _read_until(self, holds: Callable[[], bool], *, once: bool = False) -> None:
        """`once`: at least one look, however it stands."""
        deadline = time.monotonic() + _SECONDS
        while once or not holds():
            assert time.monotonic() < deadline, "\n".join(self._screen.display)
            if not select.select([self._master], [], [], _QUIET / 10 if once else 1.0)[0]:
                if once:
                    return
                continue
            once = False
            try:
                data = os.read(self._master, 65_536)
            except OSError:  # the last one to write has left
                return
            if not data:
                return
            self._data += data
            self._stream.feed(data)
            self._frames.append(self._lowest_line())

    def _lowest_line(self) -> str:
        """With anything on it; `display` would draw all lines for each look."""
        rows = (self._screen.buffer[number] for number in reversed(range(self._screen.lines)))
        lines = ("".join(row[column].data for column in range(self._screen.columns)).rstrip() for row in rows)
        return next(filter(None, lines), "")


def _start_program(
    arguments: Sequence[str], terminal: int, folder: Path, environment: Mapping[str, str]
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603  # our own program
        [*arguments],
        cwd=folder,
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509  # so that Ctrl-C reaches it
        env=environment,
    )


def forcemove() -> str:
    """The installed program."""
    return str(Path(sys.executable).with_name("forcemove"))
