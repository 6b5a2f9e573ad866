"""What a demonstration shows: signed turns with their boards, transactions with their gas, the clock, the balances."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from channel.cli.amounts import format_amount
from channel.errors import CounterpartyError

if TYPE_CHECKING:
    from channel.errors import ForcemoveError
    from channel.protocol.outcome import Outcome
    from channel.protocol.state import VariablePart

__all__ = ["Show"]

_INDENT = " " * 12


class Show:
    """Writes a story line by line. Nothing is written where the answer is to be JSON."""

    def __init__(self, names: tuple[str, str], *, quiet: bool = False) -> None:
        self.names, self.symbol, self._quiet = names, "ether", quiet

    def title(self, text: str) -> None:
        """The beginning of a story."""
        self._line("")
        self._line(click.style(text, bold=True))

    def say(self, text: str) -> None:
        """Something that the story wants to be known."""
        self._line(click.style(text, fg="cyan"))

    def turn(self, game: Any, seat: int, state: VariablePart, *, countersigned: bool = False) -> None:
        """A state that a participant has signed."""
        name = self.names[seat]
        if state.is_final:
            what = f"{name} signs the final state, too." if countersigned else f"{name} signs a final state: pay this."
        else:
            what = game.describe(state, self.names)
        self._line(f"turn {state.turn_num:>4}   {what}")
        self._line(click.style(f"{_INDENT}if it ended now: {self.outcome(state.outcome)}", dim=True))

    def board(self, game: Any, state: VariablePart) -> None:
        """The position."""
        for line in game.board(state, self.names).splitlines():
            self._line(_INDENT + line)

    def setup(self, seat: int, kind: str, turn_num: int) -> None:
        """A state of the opening."""
        self._line(f"turn {turn_num:>4}   {self.names[seat]} signs the {kind} state.")

    def transaction(self, who: str, what: str, gas: int) -> None:
        """A transaction that was mined."""
        self._line(click.style(f"chain       {who} {what} ({gas:,} gas)", fg="green"))

    def refused(self, who: str, what: str, error: ForcemoveError) -> None:
        """Something that was tried and failed."""
        reason = error.reason if isinstance(error, CounterpartyError) else error
        self._line(click.style(f"refused     {who} {what}: {reason}", fg="yellow"))

    def outcome(self, outcome: Outcome) -> str:
        """Who would be paid what."""
        shares = zip(self.names, outcome, strict=True)
        return ", ".join(f"{name} {format_amount(entry.amount, self.symbol)}" for name, entry in shares)

    def balance(self, name: str, found: int, expected: int) -> None:
        """A balance on the chain beside the expected one."""
        mark = click.style("as expected", fg="green") if found == expected else click.style("WRONG", fg="red")
        more = "" if found == expected else f" (expected {format_amount(expected, self.symbol)})"
        self._line(f"balance     {name}: {format_amount(found, self.symbol)} {mark}{more}")

    def countdown(self, end: int, now: Callable[[], int]) -> None:
        """Wait in real time until the chain's clock says `end`, showing the seconds that are left."""
        watched = sys.stderr.isatty() and not self._quiet
        while (left := end - now()) > 0:
            if watched:
                click.echo(f"\r{_INDENT}{left:>5} seconds left ", nl=False, err=True)
            time.sleep(min(1.0, left))
        if watched:
            click.echo("\r" + " " * 40 + "\r", nl=False, err=True)

    def _line(self, text: str) -> None:
        if not self._quiet:
            click.echo(text)
