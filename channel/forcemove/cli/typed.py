"""What is typed: lines of standard input, from a terminal, a file or a pipe, while other tasks go on; and answers to
questions."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import threading
from collections.abc import Callable
from typing import Any

__all__ = ["TypedLines", "ask"]


def ask(question: Callable[..., Any], text: str, **options: Any) -> Any:
    """The answer to a `question` of click's, on standard error. What was typed before it is shown answers nothing."""
    if sys.platform != "win32" and sys.stdin.isatty():
        import termios

        termios.tcflush(sys.stdin, termios.TCIFLUSH)
    return question(text, err=True, **options)


class TypedLines:
    """Lines of standard input. Nothing is read ahead: a line is read when a caller asks for it."""

    def __init__(self) -> None:
        self._wanted: asyncio.Future[str] | None = None

    async def read(self) -> str:
        """The next line, without its end. A cancelled call loses no line. Raises `EOFError` at the end of the input."""
        if self._wanted is None:
            loop = asyncio.get_running_loop()
            self._wanted = loop.create_future()
            # A daemon: a program that ends does not wait for a line that nobody types.
            threading.Thread(target=_read, args=(loop, self._wanted), daemon=True).start()
        line = await asyncio.shield(self._wanted)
        self._wanted = None
        if not line:
            raise EOFError
        return line.rstrip("\r\n")


def _read(loop: asyncio.AbstractEventLoop, wanted: asyncio.Future[str]) -> None:
    try:
        line = sys.stdin.readline()
    except (OSError, ValueError):  # closed, or no text
        line = ""
    with contextlib.suppress(RuntimeError):  # the event loop is closed
        loop.call_soon_threadsafe(_hand_over, wanted, line)


def _hand_over(wanted: asyncio.Future[str], line: str) -> None:
    if not wanted.done():
        wanted.set_result(line)
