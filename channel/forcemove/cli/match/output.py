"""A table shown as lines of a terminal, with the present headline beneath them."""

from __future__ import annotations

from forcemove.cli.terminal import Terminal
from forcemove.tables.playing.content import TableContent

__all__ = ["TerminalOutput"]


class TerminalOutput:
    """Shows a table on a terminal that scrolls. See `Output`."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self.note = terminal.note

    def say(self, text: str) -> None:
        """See `Output`."""
        self._terminal.say(text)

    def show(self, content: TableContent) -> None:
        """See `Output`."""
        self._terminal.status(content.headline)
