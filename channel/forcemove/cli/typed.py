"""What is typed: lines of standard input, from a terminal, a file or a pipe, while other tasks go on; and answers to
questions."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from forcemove.chain.threads import aside


def ask(question: Callable[..., Any], text: str, **options: Any) -> Any:
    """The answer to a `question` of click's, on standard error. What was typed before it is shown answers nothing."""
    if sys.platform != "win32" and sys.stdin.isatty():
        import termios

        termios.tcflush(sys.stdin, termios.TCIFLUSH)
    return question(text, err=True, **options)


def ask_in_thread(question: Callable[..., Any], text: str, **options: Any) -> asyncio.Future[Any]:
    """The same while other tasks go on."""
    return aside(partial(ask, question, text, **options))


class TypedLines:
    """Lines of standard input. Nothing is read ahead: a line is read when a caller asks for it."""

    def __init__(self) -> None:
        self._wanted: asyncio.Future[str] | None = None

    async def read(self) -> str:
        """The next line, without its end. A cancelled call loses no line. Raises `EOFError` at the end of the input."""
        if self._wanted is None:
            self._wanted = aside(_read)
        line = await asyncio.shield(self._wanted)
        self._wanted = None
        if not line:
            raise EOFError
        return line.rstrip("\r\n")


def _read() -> str:
    try:
        return sys.stdin.readline()
    except (OSError, ValueError):  # closed, or no text
        return ""
