"""The output of two players side by side, in the order in which it is printed; without a terminal it is lines, each
with its player's name before it."""

from __future__ import annotations

import sys

from forcemove.cli.terminal import Terminal
from forcemove.cli.wrapping import width_of, wrapped
from forcemove.demo.output import shortened

__all__ = ["Columns"]

_GAP = 2
_ENDS = 10
"""Characters at both ends of a word that is wider than a column, such as a link."""


class Columns:
    """A column for each player. `names`: of the players, by seat."""

    def __init__(self, names: tuple[str, str], terminal: Terminal) -> None:
        self._names, self._terminal = names, terminal
        width = width_of(sys.stdout)
        self._half = None if width is None else width // len(names)
        if self._half is not None:
            self._terminal.say("".join(f"{name:<{self._half}}" for name in names).rstrip(), "bold")

    def add(self, name: str, line: str) -> None:
        """Show a line that a player's process has printed, or a comment on it."""
        line = shortened(line)
        if self._half is None:
            self._terminal.say(f"{name:<6}| {line}")
            return
        margin, width = " " * (self._half * self._names.index(name)), self._half - _GAP
        text = " ".join(_cut(word, width - _GAP) for word in line.split())
        for each in wrapped(text, width, _GAP):
            self._terminal.say(margin + each)


def _cut(word: str, width: int) -> str:
    return word if len(word) <= width else f"{word[:_ENDS]}\N{HORIZONTAL ELLIPSIS}{word[-_ENDS:]}"
