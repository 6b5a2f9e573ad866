"""How a match is told to somebody: on a terminal that scrolls, or on a person's screen."""

from __future__ import annotations

from typing import Protocol

from forcemove.cli.match.scenes import Scene
from forcemove.cli.terminal import Terminal

__all__ = ["TerminalVoice", "Voice"]


class Voice(Protocol):
    """What a match says."""

    def say(self, text: str) -> None:
        """A line that stays."""
        ...

    def note(self, text: str) -> None:
        """A line about something that has gone wrong."""
        ...

    def show(self, scene: Scene) -> None:
        """How it looks now, in the place of how it looked before."""
        ...


class TerminalVoice:
    """Lines, and the scene's headline beneath them."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal

    def say(self, text: str) -> None:
        """See `Voice`."""
        self._terminal.say(text)

    def note(self, text: str) -> None:
        """See `Voice`."""
        self._terminal.note(text)

    def show(self, scene: Scene) -> None:
        """See `Voice`."""
        self._terminal.status(scene.headline)
