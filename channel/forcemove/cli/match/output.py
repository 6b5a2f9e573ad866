"""How a match is shown to somebody: on a terminal that scrolls, or on a person's screen."""

from __future__ import annotations

from typing import Protocol

from forcemove.cli.match.screen_content import ScreenContent
from forcemove.cli.terminal import Terminal

__all__ = ["TerminalOutput", "Output"]


class Output(Protocol):
    """Where a match is shown."""

    def say(self, text: str) -> None:
        """Print a line that stays."""
        ...

    def note(self, text: str) -> None:
        """Print a line about an error."""
        ...

    def show(self, content: ScreenContent) -> None:
        """Show the match as it is now, in place of the last content."""
        ...


class TerminalOutput:
    """Shows a match as lines of a terminal, with the present headline beneath them."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal

    def say(self, text: str) -> None:
        """See `Output`."""
        self._terminal.say(text)

    def note(self, text: str) -> None:
        """See `Output`."""
        self._terminal.note(text)

    def show(self, content: ScreenContent) -> None:
        """See `Output`."""
        self._terminal.status(content.headline)
