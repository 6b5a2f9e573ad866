"""Standard output and standard error, on which nothing that is defended depends: what cannot be written falls silent,
and a reader that does not read is waited for once."""

from __future__ import annotations

import errno
import io
import os
import select
import sys
import threading
from collections.abc import Callable
from typing import Any, TextIO

import click

_PATIENCE, _LAST_PATIENCE = 0.25, 5.0
"""Seconds that a line waits for a reader that does not read, once until it reads again; and that a program does which
ends."""
_MOST, _AT_ONCE = 1 << 24, 1 << 16
"""Bytes that wait for a reader, before the stream falls silent; bytes that are written at once."""


class _Stream(io.FileIO):
    """A file that a thread of its own writes."""

    def __init__(self, file: int) -> None:
        super().__init__(file, "w", closefd=False)
        self._waiting, self._changed = bytearray(), threading.Condition()
        self._is_terminal, self._is_late, self._has_result = self.isatty(), False, False
        self._error: OSError | None = None
        threading.Thread(target=self._write_on, daemon=True).start()

    def write(self, data: Any, /) -> int:
        loops = sys.modules.get("asyncio")
        self._has_result |= loops is None or loops._get_running_loop() is None  # else it is a screen's
        with self._changed:
            self._waiting += b"" if self._error else data
            if len(self._waiting) > _MOST:
                self._error = OSError(errno.EAGAIN, "nobody reads it")
            self._changed.notify_all()
            self._is_late = not self._changed.wait_for(lambda: not self._waiting, 0 if self._is_late else _PATIENCE)
        return memoryview(data).nbytes

    def finish(self) -> None:
        sys.stdout.flush()
        with self._changed:
            self._changed.wait_for(lambda: not self._waiting, None if self._has_result else _LAST_PATIENCE)
        if self._error and self._has_result and not self._is_terminal:
            if isinstance(self._error, BrokenPipeError):
                raise click.exceptions.Exit(1)
            raise OSError(self._error.errno, self._error.strerror, "standard output")

    def _write_on(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting)
                data = bytes(self._waiting[:_AT_ONCE])
            written: int | None
            try:
                select.select([], [self], [])  # another program may have made it one that fails and does not wait
                written = super().write(data) or 0
            except OSError as error:
                self._error, written = error, None
            with self._changed:
                del self._waiting[:written]
                self._changed.notify_all()


def open_streams() -> Callable[[], None]:
    """Let this process write its standard output and standard error so. Returns what waits in the end until all is
    written. Where a command's result was not, it raises `OSError`; `click.exceptions.Exit` where its reader has left,
    such as `head`."""
    finishes = []
    # A program can be started with each of the three closed.
    sys.stdin = sys.stdin or open(os.devnull)  # noqa: SIM115  # as long as the program
    for name in ("stdout", "stderr"):
        old: TextIO = getattr(sys, name) or os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", closefd=False)
        stream = _Stream(old.fileno())
        text = io.TextIOWrapper(io.BufferedWriter(stream), old.encoding, "backslashreplace", line_buffering=True)
        setattr(sys, name, text)
        finishes.append(stream.finish)
    return finishes[0]
