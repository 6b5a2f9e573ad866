"""Two players' screens side by side; what is no terminal gets lines, each with its player's name before it."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING

from forcemove.channel.cli.demo.show import shortened
from forcemove.channel.cli.terminal import Terminal

if TYPE_CHECKING:
    from rich.live import Live
    from rich.table import Table

__all__ = ["Columns"]

_FRAME = 8
"""Lines around the players' own."""


class Columns:
    """`with Columns(names, terminal, quiet=False) as columns:` shows them until the block is left."""

    def __init__(self, names: tuple[str, ...], terminal: Terminal, *, quiet: bool) -> None:
        self._lines: dict[str, list[str]] = {name: [] for name in names}
        self._terminal, self._quiet = terminal, quiet
        self._live: Live | None = None

    def __enter__(self) -> Columns:
        if self._terminal.shows_status and not self._quiet:
            from rich.console import Console
            from rich.live import Live

            self._live = Live(console=Console(highlight=False), auto_refresh=False)
            self._live.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._live is not None:
            self._live.stop()

    def add(self, name: str, line: str) -> None:
        """What a player's process has printed, or what is done to it."""
        line = shortened(line)
        self._lines[name].append(line)
        if self._quiet:
            return
        if self._live is None:
            self._terminal.say(f"{name:<6}| {line}")
        else:
            self._live.update(self._table(self._live.console.height - _FRAME), refresh=True)

    def _table(self, height: int) -> Table:
        from rich.table import Table
        from rich.text import Text

        table = Table(expand=True)
        for name in self._lines:
            table.add_column(name, ratio=1, no_wrap=True, overflow="ellipsis")
        table.add_row(*(Text("\n".join(lines[-max(height, 5) :])) for lines in self._lines.values()))
        return table
