"""A status line on standard error while a chain is waited for, where that is a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager

from forcemove.cli.terminal import Terminal

__all__ = ["waiting"]


@contextmanager
def waiting(message: str) -> Iterator[Terminal]:
    """Show `message` as the status line while the block runs; the block prints through the terminal that it is
    given."""
    with closing(Terminal(indent=None)) as terminal:
        terminal.status(message)
        yield terminal
